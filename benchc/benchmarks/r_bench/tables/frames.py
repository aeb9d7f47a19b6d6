"""Means of models over parts as frames, and what captions say of them."""

from collections.abc import Sequence

import polars as pl

from benchc.benchmarks.r_bench.dimensions import GROUP_LABELS, STAND_IN, STEP_LABELS
from benchc.benchmarks.r_bench.metrics.bootstrap import Draws
from benchc.benchmarks.r_bench.metrics.means import Part
from benchc.benchmarks.r_bench.scored import Scored
from benchc.benchmarks.r_bench.tasks import TASK_LABELS
from benchc.pluralize import pluralize
from benchc.rendering.chance import Standings
from benchc.rendering.estimates import estimates

MOST_UNREADABLE = 0.01


def part_label(part: Part) -> str:
    """Return the printed name of a part."""
    match part.axis:
        case "task":
            return TASK_LABELS[part.name]
        case "cell":
            task, strength = part.name.split("_")
            return f"{TASK_LABELS[task]} {strength}"
        case "step":
            return STEP_LABELS[part.name]
        case "group":
            return GROUP_LABELS[part.name]
        case "dimension":
            return dimension_label(part.name)
        case _:
            return part.name.capitalize()


def dimension_label(name: str) -> str:
    """Return the printed name of a dimension, with a star for a stand-in."""
    return name.removesuffix(STAND_IN).replace("_", " ") + "*" * name.endswith(STAND_IN)


def long_means(scored: Scored, parts: Sequence[Part], drawn: Draws) -> pl.DataFrame:
    """Return the mean scores of each model over each part, with 95 % percentile intervals.

    Columns: model, axis, part, pairs (how many), and absolute, ref, relative with their ends.
    """
    keys = [(model, part.axis, part.name, int(part.rows.sum())) for model in scored.models for part in parts]
    shape = (len(drawn.absolute), -1)
    values = {"absolute": drawn.absolute, "ref": drawn.ref, "relative": drawn.relative}
    columns = {k: v for name, each in values.items() for k, v in estimates(name, each.reshape(shape)).items()}
    frame = pl.DataFrame(keys, schema=["model", "axis", "part", "pairs"], orient="row")
    return frame.with_columns(**columns)


def resampled(scored: Scored, draws: int) -> str:
    """Return a sentence on the intervals for a caption."""
    items = pluralize(scored.rows["id"].n_unique(), "item")
    return (
        f"In brackets: 95 % percentile intervals from {pluralize(draws, 'resample')} of the {items}, the "
        "same for all models; replies to distorted and reference images are drawn together."
    )


def notes(scored: Scored, chance: Standings | None = None) -> str:
    """Return sentences, after a space, on judges, unreadable judgements, stand-ins and models at chance."""
    text = ""
    by_judge: dict[str, list[str]] = {}
    for model, judge in scored.judge_names.items():
        by_judge.setdefault(judge, []).append(model)
    if len(by_judge) > 1:
        judges = "; ".join(f"{judge}: {', '.join(models)}" for judge, models in by_judge.items())
        text += f" Models have different judges, so that their scores do not compare: {judges}."
    elif "rule" not in scored.judges.values():
        text += f" Judge: {', '.join(by_judge)}."
    if rule := [model for model, judge in scored.judges.items() if judge == "rule"]:
        whose = "" if len(rule) == len(scored.models) else f" of {', '.join(rule)}"
        text += f" Rule judge, not comparable with the paper: the scores{whose} are no language model's."
    if bad := [model for model, share in scored.unreadable.items() if share > MOST_UNREADABLE]:
        text += f" Warning: of {', '.join(bad)}, more than 1 % of the judgements are unreadable, and are 0."
    if stand_ins := int(scored.rows["dimension"].str.ends_with(STAND_IN).sum()):
        rows = pluralize(stand_ins, "pair")
        text += f" {rows} of stand-ins (*) for captured dimensions are in no mean of a step or group."
    return text + (chance.note if chance else "")
