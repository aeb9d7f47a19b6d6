"""Write an HTML page."""

from pathlib import Path

from benchc.atomic import write_text


def write(result: str, *, prefix: Path) -> None:
    """Write PREFIX.html.

    Args:
        prefix: path to write to, without the suffix
    """
    write_text(f"{prefix}.html", result)
