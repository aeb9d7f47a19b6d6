"""The claims of the paper's results (section 4.3), each with a criterion, as the paper gives none."""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from benchc.benchmarks.r_bench.dimensions import STEP_LABELS, STRENGTHS
from benchc.benchmarks.r_bench.metrics.means import OVERALL
from benchc.benchmarks.r_bench.published.tables import (
    CELLS,
    CLOSED,
    HALVES,
    ITEMS,
    published_table3,
    published_table4,
)
from benchc.benchmarks.r_bench.tasks import TASK_LABELS, TASKS
from benchc.pluralize import pluralize
from benchc.rendering.verdicts import FAILS, HOLDS, NOT_APPLICABLE
from benchc.statistics.rounding import DIGITS

MEASURES = {"absolute": "R_a", "relative": "R_r"}
LOWEST_STEPS = ("environment_interference", "camera_interference")
CLAIMS = {
    "claim": pl.String,
    "criterion": pl.String,  # of the check; ours
    "paper": pl.String,  # what the check finds in the paper's own tables
    "here": pl.String,  # and in this run, or why there is nothing to find
    "verdict": pl.String,  # one of the three above, of this run
}


class Finding(NamedTuple):
    """What a check finds, and its verdict."""

    text: str
    verdict: str


@dataclass(frozen=True)
class Evidence:
    """Mean scores by model, axis and part, and which models are closed.

    Attributes:
        means: columns model, axis, part, absolute and relative, null where a part has no rows
        closed: the models whose weights are not public
    """

    means: pl.DataFrame
    closed: Collection[str]

    def of(self, axis: str, measure: str) -> pl.DataFrame:
        """Return a row for each model, a column for each part of an axis, without models that lack one."""
        rows = self.means.filter(axis=axis).with_columns(pl.col(measure).round(DIGITS))
        if rows.is_empty():
            return pl.DataFrame(schema={"model": pl.String})
        return rows.pivot("part", index="model", values=measure, maintain_order=True).drop_nulls()


def published_evidence() -> Evidence:
    """Return the paper's Table 3, of models with both halves, and the steps of Table 4, of one model."""
    halves = [
        published_table3(half).unpivot(
            [*CELLS, OVERALL], index="model", variable_name="part", value_name=half
        )
        for half in HALVES
    ]
    cells = halves[0].join(halves[1], on=["model", "part"], maintain_order="left").drop_nulls()
    axis = pl.when(pl.col("part") == OVERALL).then(pl.lit("overall")).otherwise(pl.lit("cell"))
    cells = cells.with_columns(axis.alias("axis"))
    weight = pl.col("part").replace_strict(ITEMS, return_dtype=pl.Int64)
    parts = pl.col("part").str.split("_").list
    frames = [cells]
    for place, name in enumerate(("task", "strength")):
        means = (pl.col(half).dot(weight) / weight.sum() for half in HALVES)
        of_axis = cells.filter(axis="cell").group_by(
            "model", parts.get(place).alias("name"), maintain_order=True
        )
        frames.append(of_axis.agg(*means).rename({"name": "part"}).with_columns(axis=pl.lit(name)))
    steps = published_table4().filter(axis="step").select("axis", "part", absolute="gpt4o")
    frames.append(steps.with_columns(model=pl.lit(CLOSED[0])))
    return Evidence(pl.concat(frames, how="diagonal"), CLOSED)


def claims(evidence: Evidence) -> pl.DataFrame:
    """Return one row for each claim, columns ``CLAIMS``."""
    paper = published_evidence()
    rows = [(text, criterion, check(paper).text, *check(evidence)) for text, criterion, check in ALL]
    return pl.DataFrame(rows, schema=CLAIMS, orient="row")


def _verdict(holds: bool, text: str) -> Finding:
    return Finding(text, HOLDS if holds else FAILS)


def _mean(values: pl.Series) -> float:
    return math.fsum(values) / len(values)


def _closed_lead(evidence: Evidence) -> Finding:
    table = evidence.of("overall", "absolute")
    models = table["model"].to_list()
    closed = [model for model in models if model in evidence.closed]
    if not closed or len(closed) == len(models):
        return _no_two_kinds(closed)
    first = table.sort(OVERALL, descending=True).head(min(3, len(closed)))
    found = ", ".join(f"{model} {value:.4f}" for model, value in first.iter_rows())
    return _verdict(set(first["model"]) <= set(closed), f"highest R_a: {found}")


def _open_better_relatively(evidence: Evidence) -> Finding:
    ranks = {}
    for measure in MEASURES:
        table = evidence.of("overall", measure)
        is_closed = table["model"].is_in([*evidence.closed])
        if is_closed.all() or not is_closed.any():
            return _no_two_kinds(table.filter(is_closed)["model"].to_list())
        ranks[measure] = _mean(table[OVERALL].rank(descending=True).filter(~is_closed))
    text = ", ".join(f"{label} {ranks[measure]:.2f}" for measure, label in MEASURES.items())
    return _verdict(ranks["relative"] < ranks["absolute"], f"mean rank of open models by {text}")


def _no_two_kinds(closed: Collection[str]) -> Finding:
    return Finding(f"no {'open' if closed else 'closed'} model is compared", NOT_APPLICABLE)


def _order_of_tasks(evidence: Evidence) -> Finding:
    table = evidence.of("task", "absolute")
    if table.is_empty() or not {*TASKS} <= {*table.columns}:
        return Finding("the run has not all three tasks", NOT_APPLICABLE)
    ordered = (pl.col("mcq") > pl.col("vqa")) & (pl.col("vqa") > pl.col("cap"))
    count = table.filter(ordered).height
    means = ", ".join(f"{TASK_LABELS[task]} {_mean(table[task]):.4f}" for task in TASKS)
    return _verdict(count == table.height, f"{count} of {pluralize(table.height, 'model')}; mean R_a {means}")


def _stronger_is_worse(evidence: Evidence) -> Finding:
    holds, texts = True, []
    for measure, label in MEASURES.items():
        table = evidence.of("strength", measure)
        if table.is_empty() or not {*STRENGTHS.values()} <= {*table.columns}:
            return Finding("the run has not all three strengths", NOT_APPLICABLE)
        means = [_mean(table[name]) for name in STRENGTHS.values()]
        holds &= means[0] > means[1] > means[2]
        cells = evidence.of("cell", measure)
        if cells.is_empty():
            return Finding("the run has not all three strengths of each task", NOT_APPLICABLE)
        rises = sum(
            cells.filter(pl.col(f"{task}_{high}") > pl.col(f"{task}_{low}")).height
            for task in TASKS
            for low, high in (("low", "mid"), ("mid", "high"))
        )
        texts.append(
            f"mean {label} {' '.join(f'{mean:.4f}' for mean in means)}, rising in {rises} of "
            f"{6 * cells.height} steps of a model and task"
        )
    return _verdict(holds, "; ".join(texts))


def _first_steps_lowest(evidence: Evidence) -> Finding:
    holds, texts = True, []
    for measure, label in MEASURES.items():
        table = evidence.of("step", measure)
        if table.is_empty() or not {*STEP_LABELS} <= {*table.columns}:
            continue
        means = {step: _mean(table[step]) for step in STEP_LABELS}
        lowest = sorted(means, key=means.__getitem__)
        holds &= {*lowest[:2]} == {*LOWEST_STEPS}
        found = ", ".join(f"{STEP_LABELS[step]} {means[step]:.3f}" for step in lowest[:3])
        texts.append(f"lowest mean {label} of {pluralize(table.height, 'model')}: {found}")
    if not texts:
        return Finding("the run has not all seven steps", NOT_APPLICABLE)
    return _verdict(holds, "; ".join(texts))


ALL: tuple[tuple[str, str, Callable[[Evidence], Finding]], ...] = (
    (
        "Closed models have the top three places of R_a",
        "the highest overall R_a, three or as many as there are closed models, are of closed ones",
        _closed_lead,
    ),
    (
        "Open models are better in R_r",
        "their mean rank by overall R_r is higher up than by R_a",
        _open_better_relatively,
    ),
    (
        "All models are best in MCQ, then VQA, then CAP",
        "R_a of MCQ is above that of VQA, and this above that of CAP, for every model",
        _order_of_tasks,
    ),
    (
        "The stronger the corruption, the worse, with exceptions",
        "the means over models fall from low to mid to high in R_a and in R_r; rises are counted",
        _stronger_is_worse,
    ),
    (
        "Models are worst in the first two steps, EI and CI",
        "the two lowest means over models are those of EI and CI, in R_a and in R_r",
        _first_steps_lowest,
    ),
)
