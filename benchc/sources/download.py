"""Download one large file: interrupted downloads are resumed and retried, and the MD5 is checked."""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import httpx2 as httpx
import tenacity

from benchc.progress import track
from benchc.sources.error import SourceError

MIB = 2**20
ATTEMPTS = 8
TIMEOUT = httpx.Timeout(60.0, connect=20.0)
OFFLINE = (
    "this machine may be offline or behind a proxy: set HTTPS_PROXY, or download the file elsewhere and set "
    "its path in the source catalogue"
)
# Temporary errors.
RETRIED_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504})


def download(
    url: str,
    path: str | Path,
    md5: str | None = None,
    *,
    attempts: int = ATTEMPTS,
    longest_wait: float = 60.0,
) -> str:
    """Download ``url`` to ``path`` and return the MD5 of the file.

    Bytes go to ``<path>.part``, which a later call resumes; it becomes ``path`` only when it is complete and
    has the given ``md5``. Broken connections and busy servers are retried up to ``attempts`` times, with
    growing pauses of at most ``longest_wait`` seconds. Uses the proxy of the environment (HTTPS_PROXY,
    NO_PROXY). Raises SourceError.
    """
    path = Path(path)
    part = path.with_name(f"{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    resumed = part.exists()
    found = _fetched(url, part, attempts, longest_wait)
    if md5 is not None and found != md5 and resumed:
        # The resumed part may have been of another file.
        part.unlink()
        found = _fetched(url, part, attempts, longest_wait)
    if md5 is not None and found != md5:
        size = part.stat().st_size
        part.unlink()
        raise SourceError(
            f"{url}: the MD5 of the {size:,} bytes received is {found}, expected {md5}; if the publisher "
            "changed the file, update the MD5 in the catalogue; otherwise check for a proxy or a login page"
        )
    part.replace(path)
    return found


def _fetched(url: str, part: Path, attempts: int, longest_wait: float) -> str:
    """Complete ``part`` and return its MD5."""
    retrying = tenacity.Retrying(
        retry=tenacity.retry_if_exception(_is_temporary),
        stop=tenacity.stop_after_attempt(attempts),
        wait=tenacity.wait_random_exponential(multiplier=1.0, max=longest_wait),
        reraise=True,
    )
    fix = f"it was tried {attempts} times; rerun to resume it from {part}"
    with explained(url, fix), httpx.Client(follow_redirects=True, timeout=TIMEOUT) as client:
        retrying(_fetch, client, url, part)
    return _md5(part)


@contextmanager
def explained(url: str, fix: str = OFFLINE) -> Iterator[None]:
    """Raise SourceError where the body cannot get ``url``; ``fix``: what to do where it can be reached."""
    try:
        yield
    except httpx.HTTPStatusError as error:
        answer = f"{error.response.status_code} {error.response.reason_phrase}"
        raise SourceError(
            f"{url}: the server answers {answer}; check the address in the catalogue"
        ) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        fix = OFFLINE if isinstance(error, httpx.ConnectError) else fix
        raise SourceError(f"{url}: the request failed ({type(error).__name__}: {error}); {fix}") from error


def _fetch(client: httpx.Client, url: str, part: Path) -> None:
    """Request the missing bytes of ``part``, once."""
    start = part.stat().st_size if part.exists() else 0
    # Byte ranges are meaningless in a compressed transfer.
    headers = {"Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    with client.stream("GET", url, headers=headers) as response:
        if response.status_code == 416 and _whole_size(response) == start:
            return
        if response.status_code == 416:
            part.unlink()
            raise httpx.RemoteProtocolError("the server's file is shorter than what was downloaded before")
        response.raise_for_status()
        appending = response.status_code == 206 and _first_byte(response) == start
        size = int(response.headers.get("Content-Length", 0))
        with part.open("ab" if appending else "wb") as file:
            progress = _written(response, file)
            for _ in track(progress, label=f"download {part.stem}", unit="MiB", total=size // MIB or None):
                pass
            file.flush()
            os.fsync(file.fileno())


def _written(response: httpx.Response, file: BinaryIO) -> Iterator[int]:
    """Write the response to ``file`` as it arrives, and yield once per MiB."""
    count = 0
    for piece in response.iter_raw():
        file.write(piece)
        for _ in range((count + len(piece)) // MIB - count // MIB):
            yield count
        count += len(piece)


def _is_temporary(error: BaseException) -> bool:
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code in RETRIED_STATUS
    return isinstance(error, httpx.TransportError)


def _first_byte(response: httpx.Response) -> int | None:
    match = re.match(r"bytes (\d+)-", response.headers.get("Content-Range", ""))
    return int(match[1]) if match else None


def _whole_size(response: httpx.Response) -> int | None:
    match = re.match(r"bytes \*/(\d+)", response.headers.get("Content-Range", ""))
    return int(match[1]) if match else None


def _md5(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "md5").hexdigest()
