"""Which targets are above chance: by their accuracy on the benchmark's clean images."""

from pathlib import Path

import numpy as np
import polars as pl

from benchc.benchmarks.bench_c.inputs import PoolOptions
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import printed_standings
from benchc.rendering.output import Table
from benchc.schemas.label_masses import clean_label_mass
from benchc.statistics.chance import option_chance, standings
from benchc.statistics.resampling import drawn_means, item_counts, on_grid


def chance(
    targets: TargetScores,
    predictions: list[Path],
    pool: PoolOptions,
    draws: PositiveInt,
    seed: int,
    rank_below_chance: bool,
    least_label_mass: float,
) -> Table:
    """Return for every target whether it is above chance and has a rank.

    ``predictions``: the files with the targets' clean predictions; ``rank_below_chance`` and
    ``least_label_mass``: the settings tables.ranking.
    """
    cube = targets.cube
    items = len(cube.items)
    scored = pool.filter(pl.col("id").is_in(cube.items))
    level = option_chance(scored["answer"].to_numpy(), scored["options"].list.len().to_numpy())
    right = on_grid(cube.clean["acc_clean"].T, items)
    files = {id_: [path for path in predictions if path.parent.name == id_] for id_ in cube.models}
    frame = standings(
        [targets.labels[id_] for id_ in cube.models],
        "Acc(o)",
        drawn_means(item_counts(items, draws, seed), right, np.ones(items)),
        items,
        [level] * len(cube.models),
        [clean_label_mass(paths) for paths in files.values()],
        least_label_mass=least_label_mass,
        rank_below_chance=rank_below_chance,
    )
    return printed_standings(
        frame,
        f"{pluralize(draws, 'resample')} of the {pluralize(items, 'item')}",
        rank_below_chance=rank_below_chance,
        least_label_mass=least_label_mass,
    )
