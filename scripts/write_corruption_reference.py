"""Write docs/corruptions.md; run it after editing benchc/corruptions/suites."""

from pathlib import Path

from benchc.corruptions.reference import corruption_page


def write_corruption_reference(*, page: Path = Path("docs/corruptions.md")) -> None:
    """Write docs/corruptions.md; run it after editing benchc/corruptions/suites.

    Args:
        page: page to write
    """
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(corruption_page(), encoding="utf-8")
