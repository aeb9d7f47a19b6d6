"""Is a page older than the tables and figures that it shows?"""

from pathlib import Path

SHOWN = ("tables", "figures", "pages")


def newer_file(page: Path) -> Path | None:
    """Return a table, figure or other page beside ``page`` that was written after it; None if none was."""
    written = page.stat().st_mtime
    files = [file for folder in SHOWN for file in sorted((page.parent / folder).glob("[!.]*"))]
    return next((file for file in files if file.is_file() and file.stat().st_mtime > written), None)
