"""Write the files of a figure."""

from pathlib import Path

from matplotlib.figure import Figure

from benchc.rendering.save import save


def write(result: Figure, *, prefix: Path) -> None:
    """Write PREFIX.png (300 dpi) and PREFIX.pdf.

    Args:
        prefix: path to write to, without the suffix
    """
    save(result, png=f"{prefix}.png", pdf=f"{prefix}.pdf")
