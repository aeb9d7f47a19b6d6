"""Write a figure as PNG and PDF: whole or not at all, and the same bytes each time."""

from pathlib import Path

from matplotlib.figure import Figure

from benchc.atomic import atomic_write
from benchc.rendering.style import styled

PIXELS_PER_INCH = 300

# None keeps matplotlib from writing an entry: dates and versions change bytes without changing a picture.
METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None},
}


def save(figure: Figure, *, png: str | Path, pdf: str | Path) -> None:
    """Write ``figure`` to ``png`` (300 pixels per inch) and ``pdf`` (fonts embedded as TrueType).

    Neither file is replaced before both have been drawn, and each is replaced in one step.
    """
    with styled(), atomic_write(png) as png_file, atomic_write(pdf) as pdf_file:
        for form, file in (("png", png_file), ("pdf", pdf_file)):
            figure.savefig(file, format=form, dpi=PIXELS_PER_INCH, metadata=METADATA[form])
