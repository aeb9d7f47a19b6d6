"""Clean and corrupted accuracy by task type, and their difference, with bootstrap intervals."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from benchc.benchmarks.bench_c.metrics.cube import Cube
from benchc.errors import InputError, recreate
from benchc.pluralize import pluralize
from benchc.statistics.resampling import drawn_means, item_counts, on_grid, percentile_interval
from benchc.statistics.rounding import rounded

METRICS = ("acc_clean", "acc_corrupted", "delta_acc")


def task_accuracy(cube: Cube, tasks: Mapping[str, str], draws: int, seed: int) -> pl.DataFrame:
    """Return unweighted means over the items of each task type, one row per model and task, sorted by task.

    ``tasks`` gives every item's. Columns: model, task, items; acc_clean and acc_corrupted in [0, 1], and
    delta_acc, corrupted minus clean in [-1, 1], each with the ends ``_low`` and ``_high`` of its 95 %
    percentile interval over ``draws`` resamples of all items, shared by all models and tasks. Corrupted
    accuracy is the mean over corruptions and severities. An end is null where the task has one item, or no
    resample has one of its items. Raises InputError where an item has no task type.
    """
    unknown = [item for item in cube.items if item not in tasks]
    if unknown:
        raise InputError(
            f"{pluralize(len(unknown), 'item')} with scores but no task type, first {unknown[0]}: pool and "
            f"scores are from different runs; {recreate('scores')}"
        )
    names = sorted({tasks[item] for item in cube.items})
    members = np.array([[tasks[item] == name for name in names] for item in cube.items], dtype=np.float64)
    counts = item_counts(len(cube.items), draws, seed)
    parts = []
    for number, model in enumerate(cube.models):
        clean = cube.clean["acc_clean"][number]
        delta = cube.shifts["delta_acc"][number].mean(axis=(1, 2))
        part: dict[str, object] = {
            "model": [model] * len(names),
            "task": names,
            "items": members.sum(axis=0).astype(np.int64),
        }
        for metric, values in zip(METRICS, (clean, clean + delta, delta), strict=True):
            drawn = drawn_means(counts, on_grid(values[:, None] * members, len(cube.items)), members)
            # The mean of one item is the same in every resample.
            low, high = np.where(members.sum(axis=0) > 1, percentile_interval(drawn[1:]), np.nan)
            part |= {
                metric: rounded(drawn[0]),
                f"{metric}_low": rounded(low),
                f"{metric}_high": rounded(high),
            }
        parts.append(pl.DataFrame(part))
    return pl.concat(parts)
