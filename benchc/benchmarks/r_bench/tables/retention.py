"""How much of its score on reference images each model keeps, over all items and in the worst dimension."""

import numpy as np
import polars as pl

from benchc.benchmarks.r_bench.chance import ChanceTable
from benchc.benchmarks.r_bench.scored import ScoreFiles, scored_of
from benchc.benchmarks.r_bench.tables.frames import dimension_label, notes, resampled
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER
from benchc.rendering.estimates import estimates
from benchc.rendering.numbers import MISSING
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.statistics.resampling import Floats
from benchc.statistics.rounding import rounded

CAPTION = (
    "Retention and worst case (not in the paper). Kept: the mean score on distorted images divided by that "
    "on reference images, of the same items; above 1, distorted images are answered better. Worst: the "
    "lowest value over {dimensions} with at least {least} pairs, and where it is; as the lowest of noisy "
    "values, it is too low. {resampled}{notes}"
)
# Shares of fewer items say little.
LEAST = 15


def retention(
    scores: ScoreFiles, labels: dict[str, str], chance: ChanceTable, draws: PositiveInt, seed: int
) -> Table:
    """Return the kept share over all items, and in the dimension with the lowest, and the lowest R_a."""
    scored = scored_of(scores, labels)
    overall, *parts = scored.parts(["overall", "dimension"])
    parts = [part for part in parts if part.rows.sum() >= LEAST]
    drawn = scored.draws([overall, *parts], draws, seed)
    columns = {"model": pl.Series(scored.models)}
    for name, values in (("ref", drawn.ref), ("absolute", drawn.absolute), ("kept", drawn.kept)):
        columns |= estimates(name, values[:, :, 0])
    names = np.array([part.name for part in parts], str)
    for name, values in (("worst_kept", drawn.kept), ("worst_absolute", drawn.absolute)):
        lowest, places = _lowest(values[0, :, 1:])
        columns[name] = rounded(lowest)
        found = [str(names[place]) if known else None for place, known in places]
        columns[f"{name}_dimension"] = pl.Series(found, dtype=pl.String)
    frame = pl.DataFrame(columns)
    printed_names = {
        f"{name}_dimension": pl.Series([dimension_label(d or MISSING) for d in frame[f"{name}_dimension"]])
        for name in ("worst_kept", "worst_absolute")
    }
    return printed(
        frame,
        [
            Column("model", "Model"),
            Column("worst_kept_dimension", "Least kept"),
            Column("worst_absolute_dimension", "Lowest R_a in", "Lowest $R_a$ in"),
            Column("ref", "Reference"),
            Column("absolute", "Distorted"),
            Column("kept", "Kept", interval=True),
            Column("worst_kept", "Worst kept"),
            Column("worst_absolute", "Worst R_a", "Worst $R_a$"),
        ],
        caption=CAPTION.format(
            dimensions=pluralize(len(parts), "dimension"),
            least=LEAST,
            resampled=resampled(scored, draws),
            notes=ORDER + notes(scored, chance.models),
        ),
        label="r-bench-retention",
        shown=frame.with_columns(chance.models.marked(frame["model"]), **printed_names),
        small=True,
        summary=f"retention of {pluralize(len(scored.models), 'model')}",
    )


def _lowest(values: Floats) -> tuple[Floats, list[tuple[int, bool]]]:
    """Return the lowest of float64[models, parts] over parts, NaN for none, and where it is, if known."""
    filled = np.where(np.isnan(values), np.inf, values)
    lowest = filled.min(axis=1, initial=np.inf)
    places = filled.argmin(axis=1).tolist() if filled.shape[1] else [0] * len(filled)
    known = np.isfinite(lowest)
    return np.where(known, lowest, np.nan), [*zip(places, known.tolist(), strict=True)]
