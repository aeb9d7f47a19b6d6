"""How often models answer Yes, and B, by reading."""

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.metrics.bootstrap import Resamples
from benchc.benchmarks.naturalbench.metrics.groups import Floats
from benchc.benchmarks.naturalbench.metrics.readings import NO_OPTION
from benchc.benchmarks.naturalbench.scored import Bytes, CleanScores
from benchc.benchmarks.naturalbench.tables.frames import (
    READINGS,
    columns_of,
    labels_of,
    marked_by_reading,
    resampled,
)
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, ChanceTable
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

# The option whose share is shown, by type: Yes is 0, B is 1.
SHARES = {"yes": ("yes_no", 0), "b": ("multiple_choice", 1)}
CAPTION = (
    "Bias to an answer on clean images: share of Yes among the answers to yes-or-no questions, share of B "
    "among the answers A or B, and share of the replies without an answer, which are wrong. Half of the "
    "right answers are Yes, and half are B. {resampled}" + ORDER
)


def bias(scored: CleanScores, chance: ChanceTable, draws: PositiveInt, seed: int) -> Table:
    """Return the shares in per cent by model and reading, except sample, which has no single answers."""
    types = scored.groups["type"].to_numpy()
    resamples = Resamples(scored.groups.height, draws, seed)
    labels = labels_of(scored)
    keys: list[tuple[str, str]] = []
    sums: list[Floats] = []
    weights: list[Floats] = []
    for id_, scores in scored.scores.items():
        for reading, options in scores.predicted.items():
            keys.append((labels[id_], reading))
            for part in _parts(options, types):
                sums.append(part[0])
                weights.append(part[1])
    names = [*SHARES, "no_answer"]
    columns: dict[str, pl.Series] = {}
    if keys:
        drawn = resamples.means(np.stack(sums, axis=1), np.stack(weights, axis=1))
        columns = columns_of(drawn, names)
    schema = {"model": pl.String, "reading": pl.String} | {
        f"{name}{end}": pl.Float64 for name in names for end in ("", "_low", "_high")
    }
    frame = pl.DataFrame(keys, schema=["model", "reading"], orient="row").with_columns(**columns)
    frame = frame if keys else pl.DataFrame(schema=schema)
    marked, note = marked_by_reading(frame, chance)
    return printed(
        frame,
        [
            Column("model", "Model"),
            Column("reading", "Reading"),
            Column("yes", "Yes", interval=True, digits=1),
            Column("b", "B", interval=True, digits=1),
            Column("no_answer", "No answer", interval=True, digits=1),
        ],
        caption=CAPTION.format(resampled=resampled(scored, draws)) + note,
        label="naturalbench-bias",
        shown=frame.with_columns(pl.col("reading").replace(READINGS), marked),
        summary=pluralize(len(keys), "row"),
    )


def _parts(
    options: Bytes, types: np.ndarray[tuple[int, ...], np.dtype[np.object_]]
) -> list[tuple[Floats, Floats]]:
    """Return how many of the answers of each group are counted, and of how many, by share."""
    answered = (options != NO_OPTION).sum(axis=1)
    parts = []
    for type_, option in SHARES.values():
        chosen = types == type_
        parts.append(((options == option).sum(axis=1) * chosen, answered * chosen))
    every = np.full(len(options), options.shape[1])
    return [(a.astype(np.float64), b.astype(np.float64)) for a, b in [*parts, (every - answered, every)]]
