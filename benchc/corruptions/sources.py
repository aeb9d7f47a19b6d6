"""Record from which file each corrupted image of a folder was made, so that stale ones can be deleted."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from benchc.atomic import write_text

Source = tuple[str, str]  # a file's path in its folder, and the digest of its bytes

RECORD = "sources.json"


def digest_of(data: bytes) -> str:
    """Return a hash of ``data``, 32 hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def discard_stale(folder: Path, sources: Mapping[str, Source]) -> set[str]:
    """Delete every ``folder/{severity}/{target}`` that was not made from ``sources[target]``.

    Returns the names of recorded sources that are in ``sources`` no more, whose corrupted images are kept.
    ``folder/sources.json`` records the sources and is updated here, before any image is written; so no record
    is wrong wherever a run is interrupted.
    """
    path = folder / RECORD
    recorded = _read(path)
    changed = [target for target, source in sources.items() if recorded.get(target) != source]
    gone = {name for target, (name, _) in recorded.items() if target not in sources}
    if not changed:
        return gone
    for place in folder.iterdir():
        # Other folders are not of this program.
        for target in changed if place.is_dir() and place.name.isdecimal() else ():
            (place / target).unlink(missing_ok=True)
    # Deleted source files stay recorded: they may come back, and their corrupted images still exist.
    write_text(path, json.dumps({**recorded, **sources}, indent=0, sort_keys=True) + "\n")
    return gone


def _read(path: Path) -> dict[str, Source]:
    """Return the record; empty where it is lost, so that every image is recreated."""
    try:
        return {target: (name, digest) for target, (name, digest) in json.loads(path.read_bytes()).items()}
    except (FileNotFoundError, ValueError, TypeError, AttributeError):
        return {}
