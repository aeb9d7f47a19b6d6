"""Paths that a user writes in a configuration or on the command line."""

import os
from pathlib import Path


def relative_path(path: str | Path, root: Path) -> Path:
    """Return a user's path, relative to ``root`` where it is below it, however it is written."""
    full = Path(os.path.abspath(root / path))  # noqa: PTH100 (resolve() would follow links)
    return full.relative_to(root) if full.is_relative_to(root) else full
