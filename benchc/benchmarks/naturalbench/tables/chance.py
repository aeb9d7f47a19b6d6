"""Which models are above chance, by the share of groups that are right, for each reading."""

from pathlib import Path

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.metrics.bootstrap import PER_CENT, Resamples
from benchc.benchmarks.naturalbench.metrics.groups import MEASURES
from benchc.benchmarks.naturalbench.scored import CleanScores
from benchc.benchmarks.naturalbench.tables.frames import (
    DECODING,
    HEADERS,
    READINGS,
    chance_of_groups,
    labels_of,
)
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import printed_standings
from benchc.rendering.output import Table
from benchc.rendering.printing import Column
from benchc.schemas.label_masses import clean_label_mass
from benchc.statistics.chance import Chance, standings


def chance(
    scored: CleanScores,
    predictions: list[Path],
    draws: PositiveInt,
    seed: int,
    rank_below_chance: bool,
    least_label_mass: float,
) -> Table:
    """Return for every model and reading whether G-Acc is above chance and the model has a rank.

    By G-Acc, since a reply without an answer is wrong, so that Acc may be below chance without a guess.
    ``predictions``: the files with the models' clean predictions; ``rank_below_chance`` and
    ``least_label_mass``: the settings tables.ranking. A generated answer has no label mass.
    """
    labels, groups = labels_of(scored), scored.groups.height
    resamples, g_acc = Resamples(groups, draws, seed), MEASURES.index("g_acc")
    files = {id_: [path for path in predictions if path.parent.name == id_] for id_ in labels}
    masses = [clean_label_mass(paths) for paths in files.values()]
    parts = []
    for reading in scored.readings:
        right = np.stack([scored.values(id_, reading)[:, g_acc] for id_ in labels], axis=1)
        part = standings(
            [*labels.values()],
            f"{HEADERS['g_acc']} by {READINGS[reading].lower()}",
            resamples.means(right) / PER_CENT,
            groups,
            # A group has as many answers of one kind as of the other, for each question and each image.
            [Chance(chance_of_groups(reading), 0.0, "one answer")] * len(labels),
            [None] * len(labels) if reading == DECODING else masses,
            least_label_mass=least_label_mass,
            rank_below_chance=rank_below_chance,
            unit=PER_CENT,
        )
        parts.append(part.insert_column(1, pl.lit(reading).alias("reading")))
    frame = pl.concat(parts)
    return printed_standings(
        frame,
        f"{pluralize(draws, 'resample')} of the {pluralize(groups, 'group')}",
        header=HEADERS["g_acc"],
        rank_below_chance=rank_below_chance,
        least_label_mass=least_label_mass,
        digits=1,
        further=(Column("reading", "Reading"),),
        shown=frame.with_columns(pl.col("reading").replace(READINGS)),
    )
