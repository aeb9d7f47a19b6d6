"""What killed processes leave beside the files and folders that they write (benchc.atomic)."""

import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from benchc.atomic import MARK

SUFFIX = len(MARK) + 8  # characters at the end of a temporary name


def remove_leftovers(outputs: Iterable[Path], began: float) -> None:
    """Remove temporary files and folders of outputs that are older than ``began``.

    Another checkout may share results, and write newer ones now.
    """
    names: dict[Path, set[str]] = {}
    for output in outputs:
        names.setdefault(output.parent, set()).add(output.name)
    for folder, known in names.items():
        for left in folder.glob(f".*.{MARK}*"):
            if left.name[1 : -SUFFIX - 1] not in known or not left.name[-SUFFIX:].startswith(MARK):
                continue
            with suppress(OSError):
                if left.stat().st_mtime >= began:
                    continue
                if left.is_dir():
                    shutil.rmtree(left)
                else:
                    left.unlink()
