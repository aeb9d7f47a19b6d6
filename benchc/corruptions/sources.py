"""Which file each image of a folder was made from, so that the image of a changed file is made again."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from benchc.atomic import write_text

Source = tuple[str, str]  # a file's path in its folder, and the digest of its bytes

RECORD = "sources.json"


def digest_of(data: bytes) -> str:
    """Return 32 hexadecimal digits that stand for the bytes of a file."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def discard_stale(folder: Path, sources: Mapping[str, Source]) -> None:
    """Delete every ``folder/{severity}/{target}`` that was made from another file than ``sources[target]``.

    What they were made from is in ``folder/sources.json``, which has ``sources`` afterwards. It is written
    before any image is, so a stop at any point leaves no image whose file is recorded wrongly.
    """
    path = folder / RECORD
    recorded = _read(path)
    changed = [target for target, source in sources.items() if recorded.get(target) != source]
    if not changed:
        return
    for place in folder.iterdir():
        for target in changed if place.is_dir() else ():
            (place / target).unlink(missing_ok=True)
    # Files that are gone stay recorded: they may come back, and their images are still there.
    write_text(path, json.dumps({**recorded, **sources}, indent=0, sort_keys=True) + "\n")


def _read(path: Path) -> dict[str, Source]:
    """Return what is recorded; nothing where the record is lost, and then every image is made again."""
    try:
        return {target: (name, digest) for target, (name, digest) in json.loads(path.read_bytes()).items()}
    except (FileNotFoundError, ValueError, TypeError, AttributeError):
        return {}
