"""Whole tables of scores, made by the scoring of drawn logits."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from benchc.benchmarks.bench_c.metrics.scoring import score


def scored(
    items: int, seed: int, corruptions: Sequence[str] = ("fog", "blur"), severities: Sequence[int] = (1, 3, 5)
) -> pl.DataFrame:
    """Return the SCORES table of a model on ``items`` items of three options."""
    generator = np.random.default_rng(seed)
    ids = [f"s/{item}" for item in range(items)]
    cells = [("clean", 0), *((name, severity) for name in corruptions for severity in severities)]
    predictions = [
        (id_, corruption, severity, generator.normal(0, 2, 3).tolist())
        for id_ in ids
        for corruption, severity in cells
    ]
    columns = {"id": pl.String, "corruption": pl.String, "severity": pl.Int64, "logits": pl.List(pl.Float64)}
    answers = np.random.default_rng(0).integers(0, 3, items)
    table = pl.DataFrame({"id": ids, "answer": answers, "options": [3] * items})
    return score(pl.DataFrame(predictions, schema=columns, orient="row"), table)


def kappas(items: int) -> pl.DataFrame:
    ids = [f"s/{item}" for item in range(items)]
    return pl.DataFrame({"id": ids, "kappa": np.random.default_rng(1).uniform(0.1, 0.6, items)})
