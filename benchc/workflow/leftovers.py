"""What killed processes leave beside the files and folders that they write (benchc.atomic)."""

import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

RANDOM = 8  # characters at the end of a temporary name


def remove_leftovers(outputs: Iterable[Path], began: float) -> None:
    """Remove temporary files and folders of outputs that are older than ``began``.

    Another checkout may share results, and write newer ones now.
    """
    names: dict[Path, set[str]] = {}
    for output in outputs:
        names.setdefault(output.parent, set()).add(output.name)
    for folder, known in names.items():
        for left in folder.glob(f".*.{'?' * RANDOM}"):
            # A suffix of letters alone may be a word of the user.
            if left.name[1 : -RANDOM - 1] not in known or left.name[-RANDOM:].isalpha():
                continue
            with suppress(OSError):
                if left.stat().st_mtime >= began:
                    continue
                if left.is_dir():
                    shutil.rmtree(left)
                else:
                    left.unlink()
