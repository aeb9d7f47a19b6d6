"""What killed processes leave beside the files and folders that they write (benchc.atomic)."""

import shutil
from collections.abc import Iterable
from pathlib import Path

RANDOM = 8  # characters at the end of a temporary name


def remove_leftovers(outputs: Iterable[Path]) -> None:
    """Remove the temporary files and folders of outputs, which no process may write now."""
    names: dict[Path, set[str]] = {}
    for output in outputs:
        names.setdefault(output.parent, set()).add(output.name)
    for folder, known in names.items():
        for left in folder.glob(f".*.{'?' * RANDOM}"):
            if left.name[1 : -RANDOM - 1] not in known:
                continue
            if left.is_dir():
                shutil.rmtree(left)
            else:
                left.unlink(missing_ok=True)
