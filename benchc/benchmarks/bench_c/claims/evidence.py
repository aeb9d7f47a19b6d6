"""The evidence for the paper's claims: tables computed from the scores of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from benchc.benchmarks.bench_c.metrics.aggregate import corrective, destructive
from benchc.benchmarks.bench_c.metrics.regimes import cells
from benchc.benchmarks.bench_c.metrics.table1 import table1
from benchc.benchmarks.bench_c.metrics.table2 import sensitivity, table2
from benchc.benchmarks.bench_c.metrics.table3 import SUBTLE, table3
from benchc.benchmarks.bench_c.published.tables import published_table1, published_table2, published_table3
from benchc.errors import InputError, recreate
from benchc.labels import check_labels
from benchc.pluralize import pluralize
from benchc.schemas.models import Model

# The paper's Table 3 lists only the cases with a gain; it tested 13 models under 19 corruptions.
PUBLISHED_CASES = published_table1().height * 19


@dataclass(frozen=True)
class Example:
    """The cell of figure 4: a target under one corruption at one severity."""

    label: str
    corruption: str
    severity: int
    predictions: pl.DataFrame  # its rows of SCORES; none if the run does not have them

    @property
    def unchanged(self) -> pl.DataFrame:
        """Return the predictions that are as on the clean images."""
        return self.predictions.filter(pl.col("prediction") == pl.col("prediction_clean"))

    @property
    def changed(self) -> pl.DataFrame:
        """Return the predictions that are not as on the clean images."""
        return self.predictions.filter(pl.col("prediction") != pl.col("prediction_clean"))

    def __str__(self) -> str:
        return f"{self.label}, {self.corruption.replace('_', ' ')}, severity {self.severity}"


@dataclass(frozen=True)
class Evidence:
    """The tables of one run."""

    table1: pl.DataFrame  # of metrics.table1
    sensitivity: pl.DataFrame  # of metrics.table2.sensitivity, with the column label in front
    table2: pl.DataFrame
    cells: pl.DataFrame  # of metrics.regimes, with the column label in front, and each corruption's group
    table3: pl.DataFrame
    subtle_cases: int  # (model, corruption) at severity 1, gain or not
    # label, corruption, destructive and corrective, mean RAS, null without items; and the corruption's group
    robustness: pl.DataFrame
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
    check_labels({target.id: target.label for target in targets}, "the targets")
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
    group = pl.col("corruption").replace_strict(dict(groups), return_dtype=pl.String).alias("group")
    every = _stacked(tables).with_columns(group)
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
        robustness=_stacked(
            {name: _robustness(frame) for name, frame in zip(labels, scores, strict=True)}
        ).with_columns(group),
        example=Example(
            label, corruption, severity, (predictions[0] if predictions else scores[0].clear()).sort("id")
        ),
        items=items.sort("id"),
    )


def published_evidence() -> Evidence:
    """Return the paper's own Tables 1 to 3, as far as they have what checks need; other tables are empty."""
    gains, none = published_table3(), pl.DataFrame()
    return Evidence(
        table1=published_table1(),
        sensitivity=none,
        table2=published_table2(),
        cells=gains,
        table3=gains,
        subtle_cases=PUBLISHED_CASES,
        robustness=none,
        example=Example("", "", 0, none),
        items=none,
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
