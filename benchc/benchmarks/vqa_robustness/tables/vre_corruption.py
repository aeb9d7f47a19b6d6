"""VRE of each corruption, with intervals and the stability of its rank."""

from pathlib import Path

from pydantic import PositiveInt

from benchc.benchmarks.vqa_robustness.grades import Grade, Graded
from benchc.benchmarks.vqa_robustness.inputs import PoolImages
from benchc.benchmarks.vqa_robustness.metrics.severity import Levels
from benchc.benchmarks.vqa_robustness.metrics.vre import EQUAL
from benchc.benchmarks.vqa_robustness.tables.resampled import frozen_scale, printed_vre, resampled_vre
from benchc.rendering.output import Table


def vre_corruption(
    graded: Graded,
    pool: PoolImages,
    scale_of: list[Path],
    labels: dict[str, str],
    corruptions: list[str],
    grade: Grade,
    draws: PositiveInt,
    seed: int,
    weights: tuple[float, ...] = EQUAL,
    levels: Levels = "0..5",
) -> Table:
    """Return VRE by corruption; ``scale_of``: a table of errors whose scale is frozen, or no file."""
    scale = frozen_scale(scale_of, levels)
    found = resampled_vre(graded, pool, labels, corruptions, grade, weights, levels, scale, draws, seed)
    return printed_vre(found, "corruption", weights, scale_of, draws)
