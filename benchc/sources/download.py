"""Get one published file: from a folder, or from the first of its addresses that has it, checked by MD5."""

import os
from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from benchc.atomic import atomic_write
from benchc.sources.error import SourceError
from benchc.sources.transfer import MIB, Limits, Part, UnavailableError, new_md5, transfer

# The environment variable that names the folder of files which are not downloaded.
FOLDER = "BENCHC_DATA"


def download(
    url: str,
    path: str | Path,
    md5: str | None = None,
    *,
    mirrors: Sequence[str] = (),
    size: int | None = None,
    folder: Path | None = None,
    limits: Limits = Limits(),  # noqa: B008 (immutable)
) -> str:
    """Get the file at ``url``, write it to ``path`` and return its MD5.

    Bytes go to ``<path>.part``, which a later call resumes where it is of the same file; it becomes ``path``
    only when it is complete and has the given ``md5`` and ``size``. Broken connections and busy servers are
    retried. Uses the proxy of the environment (HTTPS_PROXY, NO_PROXY), and its HF_TOKEN for the Hub alone.

    Args:
        url: the published address
        path: file to write
        md5: of the file; None for no check
        mirrors: other addresses of the same file, asked in order where ``url`` fails; they need ``md5``
        size: bytes of the file, where they are known
        folder: where a file with the name of ``url`` is taken instead; it is copied
        limits: when a server is given up

    Raises:
        SourceError: no address gives the file, or the one in ``folder`` is another.
    """
    if mirrors and md5 is None:
        raise SourceError(f"{url}: has mirrors without an MD5, which tells whether they have the same file")
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = Part(path)
    given = file_in(folder, url)
    if given is not None:
        found = _copied(given, path, md5, size)
        part.discard()
        return found
    problems = []
    for position, address in enumerate((url, *mirrors)):
        last = position == len(mirrors)
        attempts = limits.attempts if last else limits.attempts_before_mirror
        try:
            found = _fetched(address, part, md5, size, attempts, limits)
        except UnavailableError as problem:
            problems.append(f"{address}: {problem}")
        else:
            part.path.replace(path)
            part.discard()
            return found
    again = f"run it again to resume {part.path}" if part.size else "run it again"
    raise SourceError("; ".join([*problems, unreached(url, folder, again)]))


def data_folder() -> Path | None:
    """Return the folder of files that are not downloaded, which the environment names; None for none."""
    named = os.environ.get(FOLDER)
    return Path(named) if named else None


def unreached(url: str, folder: Path | None = None, again: str = "run it again") -> str:
    """Return what to do where no address gives the file at ``url``."""
    name = published_name(url)
    into = f"into a folder and set {FOLDER} to that folder" if folder is None else f"into {folder} ({FOLDER})"
    by_hand = f"put {name} from {url} {into}" if name else "download it elsewhere and give it as a local file"
    return f"check the network (HTTPS_PROXY) and the address, and {again}; or {by_hand}"


def published_name(url: str) -> str:
    """Return the name of the file at an address: its last part, without a query; may be empty."""
    return PurePosixPath(unquote(urlsplit(url).path)).name


def file_in(folder: Path | None, url: str) -> Path | None:
    """Return the file of ``url`` in ``folder``; None where it is not there.

    Raises SourceError where there is no such folder.
    """
    if folder is None:
        return None
    if not folder.is_dir():
        raise SourceError(f"{folder}: {FOLDER} names this folder, which does not exist; correct or unset it")
    given = folder / published_name(url)
    return given if given.is_file() else None


def check_given(given: Path, size: int | None) -> None:
    """Raise SourceError where a file that is taken from a folder has another size."""
    found = given.stat().st_size
    if size is not None and found != size:
        raise SourceError(
            f"{given}: has {found:,} bytes, expected {size:,}; replace it, or remove it from {FOLDER}"
        )


def _fetched(url: str, part: Part, md5: str | None, size: int | None, attempts: int, limits: Limits) -> str:
    """Complete ``part`` from one address and return its MD5; raises UnavailableError for another file."""
    resumed = part.size > 0
    checked = md5 is not None
    transfer(url, part, checked=checked, size=size, attempts=attempts, limits=limits)
    found = part.md5()
    if checked and found != md5 and resumed:
        # What was there before may have been of another file.
        part.discard()
        transfer(url, part, checked=checked, size=size, attempts=attempts, limits=limits)
        found = part.md5()
    if checked and found != md5:
        received = part.size
        part.discard()
        raise UnavailableError(
            f"the MD5 of the {received:,} bytes received is {found}, expected {md5}: the "
            "publisher changed the file, or they are the page of a proxy or a login"
        )
    return found


def _copied(given: Path, path: Path, md5: str | None, size: int | None) -> str:
    """Copy a file to ``path`` and return its MD5."""
    check_given(given, size)
    digest = new_md5()
    with given.open("rb") as file, atomic_write(path) as output:
        while piece := file.read(MIB):
            output.write(piece)
            digest.update(piece)
        if md5 is not None and digest.hexdigest() != md5:
            raise SourceError(
                f"{given}: its MD5 is {digest.hexdigest()}, expected {md5}; replace it, or remove it from "
                f"{FOLDER}"
            )
    return digest.hexdigest()
