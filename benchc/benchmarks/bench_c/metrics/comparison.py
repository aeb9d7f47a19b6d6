"""Compare two runs: paired differences per model and corruption, on the items and models that both have."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from benchc.benchmarks.bench_c.metrics.bootstrap import DRAWS, aggregates, interval_rows
from benchc.benchmarks.bench_c.metrics.cube import Cube, cube_of
from benchc.errors import InputError
from benchc.schemas.predictions import KEY
from benchc.statistics.resampling import drawn_means, item_counts
from benchc.statistics.rounding import rounded

DIFFERENCES = {
    "model": pl.String,
    "corruption": pl.String,  # null: mean over all corruptions that both runs have
    "metric": pl.String,
    "weighting": pl.String,  # unweighted, or kappa: each run's own, as in eq. 11
    "items": pl.Int64,  # with a weight > 0, in the run that has fewer of them
    "a": pl.Float64,  # null where undefined
    "b": pl.Float64,
    "difference": pl.Float64,  # b minus a
    "low": pl.Float64,  # its 95 % percentile interval; null where undefined
    "high": pl.Float64,
    "note": pl.String,  # why a number is undefined, or in how many draws; null otherwise
}


def compare(
    a: Mapping[str, pl.DataFrame],
    b: Mapping[str, pl.DataFrame],
    kappas: tuple[pl.DataFrame, pl.DataFrame],
    draws: int = DRAWS,
    seed: int = 0,
) -> pl.DataFrame:
    """Return the differences of two runs, b minus a, columns as ``DIFFERENCES``.

    ``a`` and ``b`` are the SCORES tables of each run by model, ``kappas`` the kappas of its items (id,
    kappa). The models that both have are compared, in the order of ``a``, on the items, corruptions and
    severities that all of them have. The same resamples of items serve both runs and all models. The rows are
    those of :func:`benchc.benchmarks.bench_c.metrics.bootstrap.bootstrap` without ranks and single
    severities: Table 1's columns, unweighted and weighted by each run's own kappas; shifts by corruption, and
    RAS over the items answered right (destructive) or wrong (corrective) when clean, unweighted. Raises
    InputError where the runs have no model, item or (corruption, severity) in common, where a table of scores
    is incomplete, or where an item has no kappa.
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1, not {draws}")
    cubes = _common_cubes(a, b)
    models = cubes[0].models
    items = len(cubes[0].items)
    counts = item_counts(items, draws, seed)
    weights = [cube.kappa(kappa) for cube, kappa in zip(cubes, kappas, strict=True)]
    parts = []
    for number, model in enumerate(models):
        runs = zip(cubes, weights, strict=True)
        for block_a, block_b in zip(*(aggregates(cube, number, kappa) for cube, kappa in runs), strict=True):
            if block_a.columns[0].severity is not None:
                continue
            drawn_a, drawn_b = (drawn_means(counts, *block[1:]) for block in (block_a, block_b))
            weighted = [(block.weights > 0).sum(axis=0) for block in (block_a, block_b)]
            rows = interval_rows(model, block_a.columns, drawn_b - drawn_a, np.minimum(*weighted))
            parts.append(rows.with_columns(rounded(drawn_a[0]).alias("a"), rounded(drawn_b[0]).alias("b")))
    order = pl.DataFrame({"model": models}).with_row_index("model_index")
    return (
        pl.concat(parts)
        .rename({"estimate": "difference"})
        .join(order, on="model", maintain_order="left")
        .sort("model_index", "corruption", nulls_last=False, maintain_order=True)
        .select(*DIFFERENCES)
    )


def largest_difference(a: Mapping[str, pl.DataFrame], b: Mapping[str, pl.DataFrame]) -> float:
    """Return the largest absolute difference of two scores of one prediction, of those that both runs have.

    0 if all are equal to the last bit. Scores are entropy and calibration error, accuracy (0 or 1) and RAS,
    clean or as shifts. Arguments and errors as for :func:`compare`.
    """
    cubes = _common_cubes(a, b)
    scores = [{**cube.clean, **cube.shifts} for cube in cubes]
    return max(float(np.abs(scores[1][name] - values).max()) for name, values in scores[0].items())


def _common_cubes(a: Mapping[str, pl.DataFrame], b: Mapping[str, pl.DataFrame]) -> tuple[Cube, Cube]:
    """Return each run's scores of the models, items, corruptions and severities that both runs have."""
    models = [model for model in a if model in b]
    if not models:
        raise InputError(
            f"the runs have no model in common: {', '.join(a) or 'none'}, and {', '.join(b) or 'none'}; "
            "compare runs that share a target"
        )
    tables = [run[model] for run in (a, b) for model in models]
    common: dict[str, tuple[Any, ...]] = {}
    for name in KEY:
        values = set.intersection(*(set(table[name].unique()) for table in tables))
        if not values:
            raise InputError(
                f"the runs' scores have no {name} in common; compare runs of the same items and corruptions"
            )
        common[name] = tuple(sorted(values))
    are_common = [pl.col(name).is_in(values) for name, values in common.items()]
    axes = common["id"], common["corruption"], common["severity"]
    first, second = (
        cube_of({model: run[model].filter(are_common) for model in models}, axes) for run in (a, b)
    )
    return first, second
