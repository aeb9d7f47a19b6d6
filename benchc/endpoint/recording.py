"""Answers in a folder, by the hash of their requests, so that a job can be repeated without the server."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchc.atomic import write_text
from benchc.endpoint.answer import Answer
from benchc.errors import InputError
from benchc.json_content import json_content

LONG = 200  # characters of a text that is recorded whole; images are longer


def request_hash(method: str, path: str, body: object) -> str:
    """Return the hash of a request, 32 hex digits: of its canonical JSON, without address and headers."""
    text = json.dumps([method, path, body], sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


@dataclass(frozen=True)
class Recording:
    """A folder of answers, one file each, in folders by the first two digits of the hash of its request.

    An answer directly in the folder, where earlier versions wrote it, is read as well.
    """

    folder: Path

    def write(self, method: str, path: str, body: object, answer: Answer) -> None:
        """Keep the answer to a request, in place of an earlier one."""
        request = {"method": method, "path": path, "body": _short(body)}
        content = {"request": request, "status": answer.status, "text": answer.text}
        file = self._file(method, path, body)
        write_text(file, json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def has(self, method: str, path: str, body: object) -> bool:
        """Return whether there is an answer to a request."""
        return self._found(method, path, body).is_file()

    def read(self, method: str, path: str, body: object) -> Answer:
        """Return the answer to a request; raises InputError where there is none."""
        file = self._found(method, path, body)
        try:
            content = json_content(file.read_text(encoding="utf-8"))
            answer = Answer(content["status"], content["text"])
            if type(answer.status) is not int or not isinstance(answer.text, str):
                raise TypeError
            if answer.ok:
                answer.content()  # is JSON, as that of a server
            return answer
        except FileNotFoundError as error:
            raise InputError(
                f"{file}: no answer to this request to {path} was recorded; record it with the server, or "
                "use the server itself"
            ) from error
        except (ValueError, LookupError, TypeError) as error:
            raise InputError(f"{file}: is not a recorded answer; delete it and record it again") from error

    def _file(self, method: str, path: str, body: object) -> Path:
        # One folder of hundreds of thousands of files is slow to list.
        name = request_hash(method, path, body)
        return self.folder / name[:2] / f"{name}.json"

    def _found(self, method: str, path: str, body: object) -> Path:
        file = self._file(method, path, body)
        earlier = self.folder / file.name
        return earlier if not file.is_file() and earlier.is_file() else file


def _short(value: Any) -> Any:
    """Return a request for people: its images by their digest, since the hash stands for the whole."""
    if isinstance(value, Mapping):
        return {key: _short(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_short(each) for each in value]
    if isinstance(value, str) and len(value) > LONG and value.startswith("data:"):
        digest = hashlib.blake2b(value.encode(), digest_size=16).hexdigest()
        return f"{value.partition(',')[0]},<{len(value)} characters, {digest}>"
    return value
