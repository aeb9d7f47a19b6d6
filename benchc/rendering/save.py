"""Write a figure as PNG and PDF, atomically and with reproducible bytes."""

from pathlib import Path

from matplotlib.figure import Figure

from benchc.atomic import atomic_write
from benchc.rendering.style import styled

PIXELS_PER_INCH = 300

# None omits an entry: dates and versions change the bytes of an unchanged figure.
METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None},
}


def save(figure: Figure, *, png: str | Path, pdf: str | Path) -> None:
    """Write ``figure`` to ``png`` (300 pixels per inch) and ``pdf`` (fonts embedded as TrueType).

    Neither file is replaced before both have been rendered, and each is replaced in one step.
    """
    with styled(), atomic_write(png) as png_file, atomic_write(pdf) as pdf_file:
        for form, file in (("png", png_file), ("pdf", pdf_file)):
            figure.savefig(file, format=form, dpi=PIXELS_PER_INCH, metadata=METADATA[form])
