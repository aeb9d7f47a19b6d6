"""Is a page older than what it shows, or is made from?"""

from pathlib import Path

SHOWN = ("tables", "figures", "pages", "scores", "grades", "outcomes")


def newer_file(page: Path) -> Path | None:
    """Return a table, figure, file of scores or other page that was written after it; None if none was."""
    written = page.stat().st_mtime
    files = [file for folder in SHOWN for file in sorted((page.parent / folder).rglob("[!.]*"))]
    return next((file for file in files if file.is_file() and file.stat().st_mtime > written), None)
