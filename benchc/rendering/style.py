"""The style of all figures: sizes and fonts of a two-column paper, and colour-blind safe colours."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib.style
from matplotlib.figure import Figure

# Widths in inches of one column and of the whole text, as in CVPR's and IEEE's two-column templates.
COLUMN_WIDTH = 3.3
TEXT_WIDTH = 6.9

SMALL = 5.5  # points: numbers in and next to marks
NORMAL = 7.0  # points: everything else

# Okabe and Ito, "Color Universal Design", 2008.
SKY_BLUE = "#56B4E9"
GREEN = "#009E73"
BLUE = "#0072B2"
VERMILLION = "#D55E00"
PURPLE = "#CC79A7"

INK = "#333333"
FAINT = "#8C8C8C"

# A set of items has the same fill in every figure; outlines and hatches distinguish them in grey print.
# Clean predictions have the fill of the pool.
ORIGINAL_FILL: dict[str, Any] = {"facecolor": "#FFFFFF", "edgecolor": FAINT, "linewidth": 0.6}
POOL_FILL: dict[str, Any] = {"facecolor": "#D0D0D0", "edgecolor": FAINT, "linewidth": 0.6}
BENCHMARK_FILL: dict[str, Any] = {
    "facecolor": SKY_BLUE,
    "edgecolor": BLUE,
    "linewidth": 0.6,
    "hatch": "//////",
}

# Moreland, "Diverging Color Maps for Scientific Visualization", 2009: even steps of lightness on both sides
# of grey, blue for low values (the paper's "cooler hue indicates the lower RAS value").
DIVERGING = "coolwarm"

STYLE: dict[str, Any] = {
    # DejaVu Sans comes with matplotlib, so the layout is the same on every machine.
    "font.family": ["DejaVu Sans"],
    "font.size": NORMAL,
    "axes.titlesize": NORMAL,
    "axes.labelsize": NORMAL,
    "xtick.labelsize": NORMAL - 0.5,
    "ytick.labelsize": NORMAL - 0.5,
    "legend.fontsize": NORMAL - 0.5,
    # Names of tasks and models may contain dollar signs.
    "text.parse_math": False,
    "axes.unicode_minus": True,
    "axes.linewidth": 0.6,
    "axes.edgecolor": INK,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlepad": 4.0,
    "axes.labelpad": 2.5,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.pad": 2.0,
    "ytick.major.pad": 2.0,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "legend.borderaxespad": 0.2,
    "legend.columnspacing": 1.2,
    "hatch.linewidth": 0.5,
    "figure.constrained_layout.h_pad": 0.02,
    "figure.constrained_layout.w_pad": 0.02,
    "figure.constrained_layout.hspace": 0.05,
    "figure.constrained_layout.wspace": 0.04,
    # TrueType outlines, which publishers ask for, instead of Type 3.
    "pdf.fonttype": 42,
}


@contextmanager
def styled() -> Iterator[None]:
    """Plot and save in this style, whatever the user's matplotlibrc; restore the settings afterwards."""
    with matplotlib.style.context(["default", STYLE]):
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of ``width`` x ``height`` inches with constrained layout."""
    return Figure(figsize=(width, height), layout="constrained")
