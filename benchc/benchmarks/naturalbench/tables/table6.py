"""Table 6: G-Acc on groups from mined pairs and from random pairs."""

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.metrics.bootstrap import Resamples
from benchc.benchmarks.naturalbench.metrics.groups import MEASURES
from benchc.benchmarks.naturalbench.published.tables import of_run, published_table6
from benchc.benchmarks.naturalbench.scored import ScoresWithRandom
from benchc.benchmarks.naturalbench.tables.frames import (
    chance_of_groups,
    chance_rows,
    columns_of,
    labels_of,
    reading_text,
    resampled,
)
from benchc.command_line import PositiveInt
from benchc.rendering.chance import ORDER, ChanceTable
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.rendering.published import compare_with_published

METHODS = {"mined": "flickr_adversarial", "random": "flickr_random"}  # and the paper's columns
CAPTION = (
    "G-Acc on groups from mined pairs ({mined:,} groups) and from pairs drawn at random ({random:,}) among "
    "the other samples, without mismatched ones, by the reading {reading}; Δ: random minus mined. Images of "
    "a mined pair are alike; those of a random pair need not be, so its questions are others. {resampled}"
    + ORDER
)


def table6(
    scored: ScoresWithRandom, chance: ChanceTable, reading: str, draws: PositiveInt, seed: int
) -> Table:
    """Return G-Acc in per cent on mined and on random pairs, and the difference."""
    methods = scored.groups["method"].to_numpy()
    weights = np.stack([(methods == method).astype(np.float64) for method in METHODS], axis=1)
    resamples = Resamples(scored.groups.height, draws, seed)
    g_acc = MEASURES.index("g_acc")
    rows = []
    for id_, label in labels_of(scored).items():
        drawn = resamples.means(scored.values(id_, reading)[:, g_acc, None] * weights, weights)
        drawn = np.column_stack([drawn, drawn[:, 1] - drawn[:, 0]])
        rows.append(pl.DataFrame({"model": [label], **columns_of(drawn, [*METHODS, "difference"])}))
    frame, standings = pl.concat(rows), chance.of(reading)
    first = chance_rows(dict.fromkeys(METHODS, chance_of_groups(reading))).with_columns(difference=0.0)
    published = of_run(published_table6(), labels_of(scored) if reading == "decoding" else {})
    return printed(
        frame,
        [
            Column("model", "Model"),
            Column("mined", "Mined", interval=True, digits=1),
            Column("random", "Random", interval=True, digits=1),
            Column("difference", "Δ", signed=True, interval=True, digits=1),
        ],
        caption=CAPTION.format(
            **dict(zip(METHODS, weights.sum(axis=0).astype(int).tolist(), strict=True)),
            reading=reading_text(reading),
            resampled=resampled(scored, draws),
        )
        + standings.note,
        label="naturalbench-6",
        shown=pl.concat(
            [frame.clear(), first, frame.with_columns(standings.marked(frame["model"]))], how="diagonal"
        ),
        references=first.height,
        published=compare_with_published(frame, published, on=["model"], values=METHODS),
    )
