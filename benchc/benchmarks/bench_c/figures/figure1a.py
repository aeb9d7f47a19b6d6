"""Figure 1(a): the distribution of kappa in the candidate pool and in the benchmark."""

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from benchc.benchmarks.bench_c.inputs import Selected
from benchc.rendering.style import BENCHMARK_FILL, COLUMN_WIDTH, POOL_FILL, SMALL, new_figure, styled

ZERO_POSITION = -0.9


def figure1a(selected: Selected) -> Figure:
    """Plot the share of items (in %) per bin of kappa, in the candidate pool and in the benchmark.

    ``selected``: a SELECTED table. The first bin is kappa = 0: items on which no selector changes its answer
    with the severity of any corruption (eq. 4, 5). The others are (0, 0.1], (0.1, 0.2], ... up to the largest
    kappa. Paper: figure 1(a), sections 1 and 4.4.
    """
    kappa = selected["kappa"].to_numpy()
    kept = selected["selected"].to_numpy()
    edges = _edges(float(kappa.max()) if len(kappa) else 0.0)
    # Bin k is between the ticks of its two ends; the bin of 0 is separate, before the first tick.
    positions = np.concatenate([[ZERO_POSITION], np.arange(1, len(edges)) - 0.5])
    with styled():
        figure = new_figure(COLUMN_WIDTH, 1.85)
        axes = figure.add_subplot()
        groups = (("candidate pool", kappa, -0.2, POOL_FILL), ("benchmark", kappa[kept], 0.2, BENCHMARK_FILL))
        highest = 1.0
        for name, values, offset, fill in groups:
            shares = _shares(values, edges)
            highest = max(highest, float(shares.max()))
            label = f"{name} (n = {len(values):,})"
            bars = axes.bar(positions + offset, shares, width=0.4, label=label, **fill)
            axes.bar_label(bars, [_percent(share) for share in shares], padding=1, fontsize=SMALL)
        axes.set_xticks(
            [ZERO_POSITION, *range(len(edges))], ["κ = 0\n(consistent)", *(f"{edge:g}" for edge in edges)]
        )
        axes.get_xticklines()[0].set_visible(False)
        axes.set_xlim(ZERO_POSITION - 0.6, len(edges) - 0.9)
        axes.set_ylim(0, 1.12 * highest)
        axes.set_xlabel("prediction inconsistency κ")
        axes.set_ylabel("share of items (%)")
        figure.legend(loc="outside upper center", ncols=2)
    return figure


def _edges(largest: float) -> npt.NDArray[np.float64]:
    """Return the upper ends of the bins: 0, 0.1, ... and the first tenth that is not below ``largest``."""
    last = next(tenth for tenth in range(1, 11) if tenth / 10 >= min(largest, 1.0))
    return np.arange(last + 1) / 10


def _shares(kappa: npt.NDArray[np.float64], edges: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    counts = np.bincount(np.searchsorted(edges, np.minimum(kappa, edges[-1])), minlength=len(edges))
    return 100 * counts / max(1, len(kappa))


def _percent(share: float) -> str:
    if share == 0:
        return ""
    if share < 0.95:
        return "<.1" if share < 0.05 else f"{share:.1f}".removeprefix("0")
    return f"{share:.0f}"
