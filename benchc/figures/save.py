"""Write a figure as PNG and PDF: whole or not at all, and the same bytes each time."""

import os
import tempfile
from pathlib import Path

from matplotlib.figure import Figure

from benchc.figures.style import styled

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
    targets = {"png": Path(png), "pdf": Path(pdf)}
    drawn: dict[str, Path] = {}
    try:
        with styled():
            for form, target in targets.items():
                target.parent.mkdir(parents=True, exist_ok=True)
                with tempfile.NamedTemporaryFile(
                    dir=target.parent, prefix=f".{target.name}.", delete=False
                ) as file:
                    drawn[form] = Path(file.name)
                    figure.savefig(file, format=form, dpi=PIXELS_PER_INCH, metadata=METADATA[form])
                    file.flush()
                    os.fsync(file.fileno())
    except BaseException:
        for temporary in drawn.values():
            temporary.unlink(missing_ok=True)
        raise
    for form, target in targets.items():
        # Temporary files are made for their owner alone; a cluster's group shares results.
        drawn[form].chmod(0o666 & ~_umask())
        drawn[form].replace(target)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
