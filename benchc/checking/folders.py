"""Check that a run can write its files."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchc.checking.finding import Finding


def check_permissions(name: str) -> Iterator[Finding]:
    """Yield whether files can be written to the folders of the run ``name``."""
    failed = False
    for folder in (Path("results") / name, Path("results/.cache"), Path("logs") / name, Path(".snakemake")):
        try:
            with tempfile.TemporaryFile(dir=existing(folder)):
                pass
        except OSError as error:
            failed = True
            text = (
                f"cannot be written ({error.strerror}); correct its permissions, or move a file in its place"
            )
            yield Finding("disk", "error", str(folder), text)
    if not failed:
        yield Finding("disk", "ok", "folders", f"results/{name} and logs/{name} can be written")


def existing(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that exists."""
    return next(path for path in (folder, *folder.absolute().parents) if path.exists())
