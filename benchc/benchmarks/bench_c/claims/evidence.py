"""The evidence for the paper's claims: tables computed from the scores of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from benchc.benchmarks.bench_c.metrics.aggregate import corrective, destructive
from benchc.benchmarks.bench_c.metrics.regimes import cells
from benchc.benchmarks.bench_c.metrics.table1 import table1
from benchc.benchmarks.bench_c.metrics.table2 import sensitivity, table2
from benchc.benchmarks.bench_c.metrics.table3 import SUBTLE, table3
from benchc.errors import InputError, recreate
from benchc.pluralize import pluralize
from benchc.schemas.models import Model


@dataclass(frozen=True)
class Example:
    """The cell of figure 4: a target under one corruption at one severity."""

    label: str
    corruption: str
    severity: int
    predictions: pl.DataFrame  # its rows of SCORES; none if the run does not have them


@dataclass(frozen=True)
class Evidence:
    """The tables of one run."""

    table1: pl.DataFrame  # of metrics.table1
    sensitivity: pl.DataFrame  # of metrics.table2.sensitivity, with the column label in front
    table2: pl.DataFrame
    cells: pl.DataFrame  # of metrics.regimes, with the column label in front
    table3: pl.DataFrame
    subtle_cases: int  # (model, corruption) at severity 1, gain or not
    robustness: pl.DataFrame  # label, corruption, destructive, corrective: mean RAS, null without items
    groups: Mapping[str, str]  # of each corruption
    example: Example
    items: pl.DataFrame  # id, source, task, kappa, selected: the candidates


def evidence(
    targets: Sequence[Model],
    scores: Sequence[pl.DataFrame],
    selected: pl.DataFrame,
    pool: pl.DataFrame,
    *,
    groups: Mapping[str, str],
    example: tuple[str, str, int],
    excluded: int = 0,
) -> Evidence:
    """Compute the tables on which the claims are checked.

    ``scores[i]`` is the SCORES table of ``targets[i]``; ``selected`` a SELECTED table; ``pool`` has id,
    source and task; ``groups`` gives every corruption's group; ``example`` is the label, corruption and
    severity of figure 4; ``excluded`` of the selected items have no scores, since predictions are missing.
    Raises InputError where targets were not scored on the same predictions, labels occur twice, a group is
    missing, or pool and selection have different items.
    """
    labels = [target.label for target in targets]
    if len(set(labels)) != len(labels):
        raise InputError(f"a label occurs twice: {', '.join(labels)}; give every target a different one")
    first = table1(targets, scores, selected.filter("selected").select("id", "kappa"), excluded=excluded)
    unknown = sorted(set(scores[0]["corruption"]) - set(groups))
    if unknown:
        raise InputError(f"the scores have {', '.join(unknown)}, whose group is not given; add it to groups")
    items = pool.select("id", "source", "task").join(
        selected.select("id", "kappa", "selected"), on="id", how="full", coalesce=True
    )
    odd = items.filter(pl.col("source").is_null() | pl.col("kappa").is_null()).sort("id")
    if odd.height:
        raise InputError(
            f"{pluralize(odd.height, 'item')} in the pool or in the selection only, first {odd['id'][0]}: "
            f"they are from different runs; {recreate('selection')}"
        )
    tables = {label: cells(frame) for label, frame in zip(labels, scores, strict=True)}
    every = _stacked(tables)
    sensitivities = {label: sensitivity(frame) for label, frame in zip(labels, scores, strict=True)}
    label, corruption, severity = example
    predictions = [
        frame.filter((pl.col("corruption") == corruption) & (pl.col("severity") == severity))
        for name, frame in zip(labels, scores, strict=True)
        if name == label
    ]
    return Evidence(
        table1=first,
        sensitivity=_stacked(sensitivities),
        table2=table2(sensitivities),
        cells=every,
        table3=table3(tables),
        subtle_cases=every.filter(pl.col("severity") == SUBTLE).height,
        robustness=_stacked({name: _robustness(frame) for name, frame in zip(labels, scores, strict=True)}),
        groups=groups,
        example=Example(
            label, corruption, severity, (predictions[0] if predictions else scores[0].clear()).sort("id")
        ),
        items=items.sort("id"),
    )


def _robustness(scores: pl.DataFrame) -> pl.DataFrame:
    return (
        destructive(scores)
        .select("corruption", destructive="ras")
        .join(
            corrective(scores).select("corruption", corrective="ras"), on="corruption", maintain_order="left"
        )
    )


def _stacked(tables: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(table.select(pl.lit(label).alias("label"), pl.all()) for label, table in tables.items())
