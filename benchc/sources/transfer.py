"""The transfer of one file from one address: resumed, retried, and given up where it does not get on.

Bytes go to a part, ``<path>.part``. Beside it, ``<path>.part.json`` records what the part is of. Each step
leaves a part that its record describes, or no record, so that a process may be killed at any time.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from http import HTTPStatus
from pathlib import Path
from typing import BinaryIO, Self

import httpx2 as httpx
import tenacity

from benchc.atomic import write_text
from benchc.endpoint.api_key import KEY, ApiKey
from benchc.endpoint.time_limit import TRACE, Window, limited
from benchc.json_content import json_content
from benchc.progress import track
from benchc.redaction import remember_url
from benchc.sources.error import SourceError

MIB = 2**20
HUB = "https://huggingface.co"
TOKEN = "HF_TOKEN"
# In which a file would be kept as it was sent.
CODINGS = frozenset({"gzip", "x-gzip", "deflate", "compress", "br", "zstd"})
# Temporary errors.
RETRIED_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})
DENIED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """When a server is given up.

    Attributes:
        attempts: requests to the last address
        attempts_before_mirror: requests to an address that another one follows
        longest_wait: most seconds between two requests
        connect_s: seconds to connect
        read_s: seconds without any byte
        slow_s: seconds over which ``least_rate`` is measured, from the request on
        least_rate: bytes a second, below which a request is given up
        most_bytes: of a file whose size is not known
    """

    attempts: int = 8
    attempts_before_mirror: int = 2
    longest_wait: float = 60.0
    connect_s: float = 15.0
    read_s: float = 30.0
    slow_s: float = 120.0
    least_rate: float = 1000.0
    most_bytes: int = 10**11

    @property
    def timeout(self) -> httpx.Timeout:
        """Return the limits of a single read or write."""
        return httpx.Timeout(self.read_s, connect=self.connect_s)


class UnavailableError(Exception):
    """An address does not give the file; the message says why, without the address."""


class WrongSizeError(UnavailableError):
    """The file at an address has another size than the one that is sought."""


@dataclass(frozen=True)
class Origin:
    """What a part is of: an address, and what its server said to tell the file from others."""

    url: str
    etag: str | None = None
    last_modified: str | None = None
    size: int | None = None

    @classmethod
    def of(cls, url: str, response: httpx.Response) -> Self:
        """Return the origin of a response, whole or partial."""
        headers = response.headers
        if response.status_code == HTTPStatus.PARTIAL_CONTENT:
            size = re.search(r"/(\d{1,18})$", headers.get("Content-Range", ""))
            total = int(size[1]) if size else None
        else:
            total = content_length(response)
        return cls(url, headers.get("ETag"), headers.get("Last-Modified"), total)

    @property
    def validator(self) -> str | None:
        """The value of If-Range: an ETag that is strong, else the date; None where the server gave none."""
        strong = self.etag is not None and not self.etag.startswith("W/")
        return self.etag if strong else self.last_modified

    def differs(self, other: "Origin") -> bool:
        """Return whether the two are of different files: no value that both have may differ."""
        keys = ("etag", "last_modified", "size") if self.url == other.url else ("size",)
        pairs = ((getattr(self, key), getattr(other, key)) for key in keys)
        return any(None not in pair and pair[0] != pair[1] for pair in pairs)


class Part:
    """The bytes of ``path`` that are here, in ``<path>.part``, with their record."""

    def __init__(self, path: Path) -> None:
        self.path = path.with_name(f"{path.name}.part")
        self.record = path.with_name(f"{path.name}.part.json")

    @property
    def size(self) -> int:
        """The bytes that are here."""
        return self.path.stat().st_size if self.path.exists() else 0

    def origin(self) -> Origin | None:
        """Return what the part is of; None where nothing says it."""
        try:
            return Origin(**json_content(self.record.read_bytes()))
        except (OSError, ValueError, TypeError):
            return None

    def begin(self, origin: Origin) -> None:
        """Start anew. The old part goes first, so that no record describes bytes of another file."""
        self.discard()
        write_text(self.record, json.dumps(asdict(origin)))

    def mix(self, known: Origin, url: str) -> None:
        """Record that what follows is from another address: without a validator, only an MD5 can tell."""
        write_text(self.record, json.dumps(asdict(Origin(url, size=known.size))))

    def discard(self) -> None:
        """Delete the part and its record."""
        self.path.unlink(missing_ok=True)
        self.record.unlink(missing_ok=True)

    def md5(self) -> str:
        """Return the MD5 of the part."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, new_md5).hexdigest()


def new_md5() -> "hashlib._Hash":
    """Return an empty MD5, also on machines that allow it for no secrets."""
    return hashlib.md5(usedforsecurity=False)


def transfer(url: str, part: Part, *, checked: bool, size: int | None, attempts: int, limits: Limits) -> None:
    """Complete ``part`` from ``url``.

    Args:
        url: address
        part: what is here of the file; the rest is asked for where it is of the same file
        checked: whether the caller knows the MD5 of the file, and so finds out where two files were mixed
        size: bytes of the file, where they are known
        attempts: requests, with growing pauses
        limits: of each request

    Raises:
        UnavailableError: the address does not give the file. What has arrived stays.
    """
    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception(_is_temporary),
        stop=tenacity.stop_after_attempt(attempts),
        wait=tenacity.wait_random_exponential(multiplier=1.0, max=limits.longest_wait),
        reraise=True,
    )
    with explained(url, attempts):
        retrying(_fetch, url, part, checked, size, limits)


@contextmanager
def explained(url: str, attempts: int = 1) -> Iterator[None]:
    """Raise UnavailableError where the body, which asks ``attempts`` times, does not get ``url``."""
    try:
        yield
    except httpx.HTTPStatusError as error:
        times = _times(attempts) if _is_temporary(error) else ""
        status = error.response.status_code
        denied = f"; {_access(url)}" if status in DENIED and _at_hub(str(error.request.url)) else ""
        raise UnavailableError(f"the server answers {_status_text(status)}{times}{denied}") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        times = _times(attempts) if _is_temporary(error) else ""
        text = f"the request failed{times} ({type(error).__name__}: {error})"
        # The chain of exceptions would show what a server repeats of the request.
        raise UnavailableError(" ".join(text.split())) from None


@contextmanager
def opened(url: str, limits: Limits, headers: Mapping[str, str] | None = None) -> Iterator[httpx.Response]:
    """Yield the response to a request; in the block, it must not arrive more slowly than ``least_rate``.

    Raises SourceError where HF_TOKEN is no token, and errors of httpx.
    """
    remember_url(url)
    all_headers = _headers(url) | dict(headers or {})
    with (
        limited(Window(limits.slow_s, limits.least_rate)),
        httpx.Client(follow_redirects=True, timeout=limits.timeout) as client,
    ):
        request = client.build_request("GET", url, headers=all_headers, extensions=TRACE)
        with closing(client.send(request, stream=True)) as response:
            yield response


def check_size(response: httpx.Response, expected: int | None) -> None:
    """Raise WrongSizeError where the server says that the whole file has another size than expected."""
    found = Origin.of("", response).size
    if expected is not None and found is not None and found != expected:
        raise WrongSizeError(f"its file has {found:,} bytes, expected {expected:,}")


def content_length(response: httpx.Response) -> int | None:
    """Return the bytes that a response says it has."""
    length = response.headers.get("Content-Length", "")
    return int(length) if re.fullmatch("[0-9]{1,18}", length) else None


def _fetch(url: str, part: Part, checked: bool, size: int | None, limits: Limits) -> None:
    """Request the missing bytes of ``part``, once."""
    known, start = part.origin(), part.size
    if known is None or not _continues(known, url, checked=checked):
        known, start = None, 0
    headers = {}
    if known is not None and start:
        if start == (size or known.size):
            return
        headers["Range"] = f"bytes={start}-"
        if known.url == url and known.validator is not None:
            headers["If-Range"] = known.validator
    with opened(url, limits, headers) as response:
        if response.status_code == httpx.codes.RANGE_NOT_SATISFIABLE and start:
            if _size_of_416(response) == start and size in (None, start):
                return
            part.discard()
            raise httpx.RemoteProtocolError("the server's file is shorter than what was downloaded before")
        response.raise_for_status()
        if response.status_code not in (HTTPStatus.OK, HTTPStatus.PARTIAL_CONTENT):
            raise UnavailableError(f"the server answers {_status_text(response.status_code)}, without a file")
        coding = response.headers.get("Content-Encoding", "")
        # Some servers say so of a file that is compressed itself. An MD5 tells.
        is_packed = httpx.URL(url).path.endswith((".gz", ".tgz"))
        is_coded = not CODINGS.isdisjoint(each.strip() for each in coding.lower().split(","))
        if is_coded and not is_packed and not checked:
            raise UnavailableError(f"the server sends its file compressed ({coding[:20]}), unasked")
        check_size(response, size)
        found = Origin.of(url, response)
        partial = response.status_code == HTTPStatus.PARTIAL_CONTENT
        if partial and (known is None or _first_byte(response) != start or known.differs(found)):
            part.discard()
            raise httpx.RemoteProtocolError("the server's file is another than what was downloaded before")
        if known is None or not partial:
            part.begin(found)
        elif known.url != url:
            part.mix(known, url)
        most = size or found.size or limits.most_bytes
        with _named(part.path), part.path.open("ab" if partial else "wb") as file:
            steps = _written(response, file, most)
            total = (content_length(response) or 0) // MIB or None
            try:
                for _ in track(steps, label=f"download {part.path.stem}", unit="MiB", total=total):
                    pass
            except WrongSizeError:
                part.discard()
                raise
            file.flush()
            os.fsync(file.fileno())
    whole = size or found.size
    if whole is not None and part.size < whole:
        raise httpx.RemoteProtocolError(f"the answer ended after {part.size:,} of {whole:,} bytes")


def _continues(known: Origin, url: str, *, checked: bool) -> bool:
    """Return whether a part of ``known`` may be continued from ``url``.

    Without an MD5, only where the server can be asked whether its file is still the same. With one, also
    that of a mirror, whose file should be the same, of the same size: the MD5 finds out where it is not.
    """
    if known.url == url:
        return checked or known.validator is not None
    return checked and known.size is not None


def _written(response: httpx.Response, file: BinaryIO, most: int) -> Iterator[int]:
    """Write the response to ``file`` as it arrives, and yield once per MiB."""
    count = 0
    for piece in response.iter_raw():
        if file.tell() + len(piece) > most:
            raise WrongSizeError(f"it sends more than {most:,} bytes")
        file.write(piece)
        for _ in range((count + len(piece)) // MIB - count // MIB):
            yield count
        count += len(piece)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Name ``path`` in an error of the file system, such as a full disk, which names no file."""
    try:
        yield
    except OSError as error:
        error.filename = error.filename or str(path)
        raise


def _is_temporary(error: BaseException) -> bool:
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code in RETRIED_STATUS
    return isinstance(error, httpx.TransportError) and not isinstance(error, httpx.UnsupportedProtocol)


def _times(attempts: int) -> str:
    return f" {attempts} times" if attempts > 1 else ""


def _status_text(status: int) -> str:
    """Return a status in the standard's words: those of the server may repeat what was sent."""
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _headers(url: str) -> dict[str, str]:
    """Return the headers of a request; raises SourceError where HF_TOKEN is no token."""
    # Byte ranges are meaningless in a compressed transfer.
    headers = {"Accept-Encoding": "identity"}
    if not _at_hub(url):
        return headers
    if os.environ.get(TOKEN, "").strip() and _hub_key().value is None:
        raise SourceError(
            f"the environment variable {TOKEN} is no token: it has fewer than 8 characters, or others than "
            "letters, digits and ._~+/:=-; set it to the token alone, or unset it"
        )
    # The client sends it to no other origin, also where the Hub redirects to one.
    return headers | _hub_key().header()


def _hub_key() -> ApiKey:
    """Return the token of the Hub; none where it could not be sent."""
    value = os.environ.get(TOKEN, "").strip()
    return ApiKey(value if KEY.fullmatch(value) else None)


def _at_hub(url: str) -> bool:
    hub, asked = httpx.URL(HUB), httpx.URL(url)
    return (asked.scheme, asked.host, asked.port) == (hub.scheme, hub.host, hub.port)


def _access(url: str) -> str:
    """Return what to do where the Hub denies access to a file."""
    page = url.partition("/resolve/")[0]
    if _hub_key().value is None:
        return f"accept the terms at {page}, if there are any, and set {TOKEN} to a token of your account"
    return f"check {TOKEN}, and accept the terms at {page} with the account of that token"


def _first_byte(response: httpx.Response) -> int | None:
    match = re.match(r"bytes (\d{1,18})-", response.headers.get("Content-Range", ""))
    return int(match[1]) if match else None


def _size_of_416(response: httpx.Response) -> int | None:
    match = re.match(r"bytes \*/(\d{1,18})$", response.headers.get("Content-Range", ""))
    return int(match[1]) if match else None
