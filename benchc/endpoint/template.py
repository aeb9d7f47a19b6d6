"""Prompt templates: text files with placeholders such as {caption_0}, {caption_1} and {language}."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchc.errors import InputError

# Of a name only: the form of the reply, which a template shows, has braces too.
PLACEHOLDER = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Template:
    """The text of a template; all of its placeholders are known."""

    text: str

    @property
    def hash(self) -> str:
        """16 hex digits."""
        return hashlib.blake2b(self.text.encode(), digest_size=8).hexdigest()

    def filled(self, **values: str) -> str:
        """Return the prompt with the value of each placeholder; one inside a value stays as it is."""
        return PLACEHOLDER.sub(lambda found: values[found[1]], self.text)


def read_template(path: str | Path, required: Sequence[str], optional: Sequence[str] = ()) -> Template:
    """Return the template in a file.

    Raises InputError where one of the placeholders ``required`` is missing, or one is not in either list.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not UTF-8 ({error}); save it as UTF-8") from error
    if "\0" in text:
        raise InputError(f"{path}: contains a NUL character; save it as text in UTF-8")
    names = PLACEHOLDER.findall(text)
    known = (*required, *optional)
    if unknown := [name for name in names if name not in known]:
        raise InputError(
            f"{path}: has the placeholder {{{unknown[0]}}}; correct it: a prompt has {_listed(known)}"
        )
    if missing := [name for name in required if name not in names]:
        raise InputError(f"{path}: lacks the placeholder {{{missing[0]}}}; add it where that text belongs")
    return Template(text)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f"{{{name}}}" for name in names)
