"""VRE of each model, with intervals and the stability of its rank."""

from pathlib import Path

from benchc.benchmarks.vqa_robustness.inputs import ErrorTable, Intervals
from benchc.benchmarks.vqa_robustness.metrics.severity import Levels
from benchc.benchmarks.vqa_robustness.metrics.vre import EQUAL
from benchc.benchmarks.vqa_robustness.tables.vre_table import printed_vre
from benchc.rendering.chance import ChanceTable
from benchc.rendering.output import Table


def vre_model(
    errors: ErrorTable,
    intervals: Intervals,
    chance: ChanceTable,
    scale_of: list[Path],
    weights: tuple[float, ...] = EQUAL,
    levels: Levels = "0..5",
) -> Table:
    """Return VRE by model; ``scale_of``: a table of errors whose scale is frozen, or no file."""
    return printed_vre(errors, intervals, chance, "model", scale_of, weights, levels)
