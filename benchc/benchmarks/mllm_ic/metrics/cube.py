"""The cube of accuracies: model by scenario by capability, each with its interval over pictures."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from benchc.benchmarks.mllm_ic.metrics.draws import capability_draws
from benchc.benchmarks.mllm_ic.run_outcomes import RunOutcomes, check_models
from benchc.benchmarks.mllm_ic.schemas.cube import CUBE
from benchc.statistics.resampling import percentile_interval


def cube(
    run: RunOutcomes,
    labels: Mapping[str, str],
    categories: Mapping[str, str],
    levels: Mapping[str, str],
    draws: int,
    seed: int,
) -> pl.DataFrame:
    """Return the rows of CUBE: by model, then by scenario (first clean), then by capability.

    All models and scenarios have the same resamples, so that the cells of two can be compared.

    Args:
        run: the outcomes.
        labels: names of the models by id, in the order of tables.
        categories: of each corruption.
        levels: of each category.
        draws: number of resamples of the pictures; with 0, intervals are null.
        seed: of the resamples.

    Raises InputError where a model of ``labels`` has no outcomes.
    """
    check_models(run, labels)
    right = np.concatenate([run.right(id_) for id_ in labels], axis=1)
    names = [each.name for each in run.capabilities]
    ends = np.full((3, right.shape[1], len(names)), np.nan)  # of accuracy, low, high_end
    resampled = capability_draws(right, run.capability, run.picture, names, draws, seed)
    for number, means in enumerate(resampled):
        ends[0, :, number] = means[0]
        if draws:
            ends[1:, :, number] = percentile_interval(means[1:])
    accuracy, low, high_end = ends.reshape(3, -1)
    of = [(name, categories.get(name), severity) for name, severity in run.scenarios]
    scenarios = pl.DataFrame(
        [(name, own, levels.get(own or ""), severity) for name, own, severity in of],
        schema=["corruption", "category", "level", "severity"],
        orient="row",
    )
    cells = pl.DataFrame({"model": [*labels.values()]}).join(
        scenarios, how="cross", maintain_order="left_right"
    )
    of_capability = pl.DataFrame(run.capabilities, schema=["capability", "mid", "high"], orient="row")
    rows = cells.join(
        of_capability.with_columns(n=pl.Series(run.questions)), how="cross", maintain_order="left_right"
    )
    numbers = {"accuracy": accuracy, "low": low, "high_end": high_end}
    return rows.with_columns(pl.Series(name, own, nan_to_null=True) for name, own in numbers.items()).select(
        pl.col(name).cast(kind) for name, kind in CUBE.columns.items()
    )
