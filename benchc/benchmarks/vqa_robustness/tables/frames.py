"""VRE and the metrics of severity as tables."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from benchc.benchmarks.vqa_robustness.metrics.severity import METRICS, Floats, Levels, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale, Vre, complete
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors, read_errors
from benchc.errors import InputError
from benchc.rendering.chance import Standings
from benchc.rendering.markdown import markdown
from benchc.statistics.ranks import ranks

HEADERS = ("First-Drop", "Range", "Error Rate", "Average Error", "Average Difference")


def metric_frame(errors: Errors, metrics: Floats) -> pl.DataFrame:
    """Return metrics [5, models, corruptions] as one row per model and corruption; NaN is null."""
    keys = [(model, corruption) for model in errors.models for corruption in errors.corruptions]
    columns = {name: values.reshape(-1) for name, values in zip(METRICS, metrics, strict=True)}
    frame = pl.DataFrame(keys, schema={"model": pl.String, "corruption": pl.String}, orient="row")
    return frame.with_columns(**{name: pl.Series(values) for name, values in columns.items()}).fill_nan(None)


def vre_frames(errors: Errors, found: Vre) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return VRE with its rank and scaled metrics by model, and by corruption; rank 1 is the most robust.

    A model without all metrics has nulls.
    """
    return (
        _frame("model", errors.models, found.model, found.model_parts),
        _frame("corruption", errors.corruptions, found.corruption, found.corruption_parts),
    )


def incomplete(errors: Errors, metrics: Floats) -> list[str]:
    """Return a sentence for each model without VRE, with the first corruption that is the cause."""
    return [f"{model} has no VRE: {cause}" for model, cause in _incomplete(errors, metrics)]


def _incomplete(errors: Errors, metrics: Floats) -> Iterator[tuple[str, str]]:
    """Yield each model without VRE, and why."""
    for number in np.flatnonzero(~complete(metrics)):
        metric, corruption = np.argwhere(np.isnan(metrics[:, number]))[0]
        where = f"its {HEADERS[metric]} under {errors.corruptions[corruption]}"
        yield errors.models[number], f"{where} is undefined, since an error there is 0"


def constant(scale: Scale) -> list[str]:
    """Return a sentence for each metric that has one value, so that its scaled value is 0."""
    return [
        f"{HEADERS[metric]} has one value, so that it is 0 for all when scaled"
        for metric in np.flatnonzero(scale.constant)
    ]


def scaled_alone(errors: Errors, metrics: Floats, scale_of: Sequence[Path], levels: Levels) -> list[str]:
    """Return a sentence where the scale is of one model; ``scale_of``: a table that freezes it, or none."""
    several = "a table of the errors of several models (vre.scale_of, --scale-of)"
    for file in scale_of:
        table = read_errors(file)
        known = np.flatnonzero(complete(severity_metrics(table.values, levels)))
        return [f"The scale of {file.name} is of {table.models[known[0]]} alone; scale by {several}"] * (
            len(known) == 1
        )
    known = np.flatnonzero(complete(metrics))
    if len(known) != 1:
        return []
    return [
        f"The metrics are scaled over {errors.models[known[0]]} alone, so that its VRE is comparable with no "
        f"other model's; scale them by {several}"
    ]


def beyond_scale(models: pl.DataFrame) -> list[str]:
    """Return a sentence where the VRE of models, as from :func:`vre_frames`, is outside of 0 to 1."""
    # A mean of metrics that are all 1 may round to more.
    names = models.filter(~pl.col("vre").round(9).is_between(0, 1))["model"]
    are = "is" if len(names) == 1 else "are"
    return (
        [f"{', '.join(names)} {are} beyond the scale, so that VRE is outside of 0 to 1"] if len(names) else []
    )


def not_in_scale(scale_of: Sequence[Path], levels: Levels) -> list[str]:
    """Return a sentence for each model of a table of errors that is no part of its scale."""
    return [
        f"{model} is no part of the scale of {file.name}: {cause}"
        for file in scale_of
        for table in [read_errors(file)]
        for model, cause in _incomplete(table, severity_metrics(table.values, levels))
    ]


def mostly_wrong(errors: Errors) -> list[str]:
    """Return a sentence for each model that is wrong on more than half of the clean questions.

    Errors alone do not tell whether a model is above chance, which has a low VRE.
    """
    clean = errors.values[:, :, 0].max(axis=1)
    return [
        f"{errors.models[model]} is wrong on {clean[model]:.0%} of the clean questions: its VRE says little "
        "about robustness unless it is above chance, which errors alone do not show (benchc run does)"
        for model in np.flatnonzero(clean > 0.5)
    ]


def frozen_scale(scale_of: Sequence[Path], levels: Levels) -> Scale | None:
    """Return the scale of the errors in a file, or None without one.

    Raises InputError for several files, and where a metric of the file has one value only, or none. Its
    corruptions may have other names, as those of the paper do.
    """
    if not scale_of:
        return None
    if len(scale_of) > 1:
        raise InputError(f"the scale is of {len(scale_of)} files; give one")
    metrics = severity_metrics(read_errors(scale_of[0]).values, levels)
    try:
        scale = Scale.of(metrics)
    except InputError as error:
        raise InputError(f"{scale_of[0]}: {error}") from error
    if scale.constant.any():
        name = HEADERS[int(np.flatnonzero(scale.constant)[0])]
        raise InputError(f"{scale_of[0]}: {name} has one value only, which is no scale; add models to it")
    return scale


def marked_errors(errors: Errors, chance: Standings) -> Errors:
    """Return errors whose models are called as in tables, with their marks."""
    return errors._replace(models=tuple(chance.marked(pl.Series(errors.models))))


def vre_text(models: pl.DataFrame, corruptions: pl.DataFrame, notes: Sequence[str]) -> str:
    """Return both tables as Markdown, and a line for each note."""
    parts = [_markdown(frame) for frame in (models, corruptions)]
    return "\n".join([*parts, *(f"{note}\n" for note in notes)])


def _frame(key: str, names: Sequence[str], values: Floats, parts: Floats) -> pl.DataFrame:
    columns = {key: names, "vre": values, "rank": ranks(values)}
    frame = pl.DataFrame(columns | dict(zip(METRICS, parts, strict=True))).fill_nan(None)
    return frame.with_columns(pl.col("rank").replace(0, None))


def _markdown(frame: pl.DataFrame) -> str:
    key = frame.columns[0]
    rows = [
        [
            row[0],
            *("–" if value is None else f"{value:.4f}" for value in (row[1], *row[3:])),
            f"{row[2] or '–'}",
        ]
        for row in frame.iter_rows()
    ]
    return markdown([key.capitalize(), "VRE", *HEADERS, "Rank"], rows)
