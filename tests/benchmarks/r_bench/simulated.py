"""Scores of models without models: each has an ability, and each dimension costs some of it."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from benchc.benchmarks.r_bench.dimensions import TASKS
from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.benchmarks.r_bench.scored import ROW, ScoreFile
from benchc.corruptions.suites.r_bench import R_BENCH

DIMENSIONS = [name for names in R_BENCH.steps.values() for name in names]
STEPS = (0, 0.25, 0.5, 0.75, 1)


def simulated(
    models: int, *, seed: int = 0, dimensions: Sequence[str] = DIMENSIONS, per_task: int = 6
) -> dict[str, ScoreFile]:
    """Return scores by the ids m0, m1, ... on ``per_task`` items of each dimension and task."""
    rng = np.random.default_rng(seed)
    cells = [
        (f"s/{task}-{number}-{item}", task, name, item % 3 + 1)
        for number, name in enumerate(dimensions)
        for task in TASKS
        for item in range(per_task)
    ]
    rows = pl.DataFrame(cells, schema={name: SCORES.columns[name] for name in ROW}, orient="row")
    cost = rng.uniform(0, 0.35, len(dimensions)).repeat(len(TASKS) * per_task)
    hard = rows["task"].replace_strict({"mcq": 0.1, "vqa": 0.2, "cap": 0.4}, return_dtype=pl.Float64)
    found = {}
    for model in range(models):
        own = cost * rng.uniform(0.4, 1.6, len(dimensions)).repeat(len(TASKS) * per_task)
        ability = 0.95 - 0.3 * model / models - hard.to_numpy()
        scores = {
            name: _drawn(rng, ability - part)
            for name, part in (("s_dis", own), ("s_ref", 0), ("s_com", own - 0.2))
        }
        table = rows.with_columns(**{name: pl.Series(values) for name, values in scores.items()})
        table = table.with_columns(absolute="s_dis", relative=pl.col("s_ref") * pl.col("s_com"))
        footer = {"label": f"m{model}", "judge": "rule"}
        found[f"m{model}"] = ScoreFile(table.select(*SCORES.columns).sort(ROW), footer)
    return found


def labels_of(found: dict[str, ScoreFile]) -> dict[str, str]:
    """Return names of the models of scores."""
    return {id_: f"Model {id_.removeprefix('m')}" for id_ in found}


def _drawn(rng: np.random.Generator, means: np.ndarray) -> np.ndarray:
    """Return scores in quarters with about these means."""
    return np.clip(np.rint(4 * rng.normal(means, 0.3)) / 4, 0, 1)
