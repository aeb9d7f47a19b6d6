"""VRE by model or by corruption, with intervals and the stability of ranks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl

from benchc.benchmarks.vqa_robustness.metrics.bootstrap import MOST_LEFT_OUT
from benchc.benchmarks.vqa_robustness.metrics.severity import LEVELS, METRICS, Levels, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale, vre, weights_of
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors
from benchc.benchmarks.vqa_robustness.tables.frames import (
    HEADERS,
    beyond_scale,
    constant,
    frozen_scale,
    incomplete,
    not_in_scale,
    scaled_alone,
    vre_frames,
)
from benchc.benchmarks.vqa_robustness.tables.names import words
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, Standings
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.statistics.ranks import ranks

CAPTION = (
    "VRE by {key}: the weighted mean of the five scaled metrics beside it; low is robust, and rank 1 is the "
    "most robust. {first}Weights: {weights}. In brackets, 95 % percentile intervals from {draws} of "
    "{images}, whose questions are drawn together; stability: the share of these in which the rank is the "
    "same. {scale}{notes}{chance}"
)
UNCHANGED = (
    "The first row is the best answer that is always the same, which no corruption changes: VRE does not "
    "tell it from a robust model. "
)


def printed_vre(
    errors: Errors,
    intervals: pl.DataFrame,
    chance: Standings,
    key: Literal["model", "corruption"],
    scale_of: Sequence[Path],
    weights: tuple[float, ...],
    levels: Levels,
) -> Table:
    """Return VRE by ``key``, its rank and scaled metrics, with the intervals of ``schemas.intervals``.

    Models have ranks among those that ``chance`` ranks; corruptions have ranks if a model has. VRE is of all.
    ``scale_of``: a table of errors whose scale is frozen, or no file.
    """
    metrics = severity_metrics(errors.values, levels)
    scale = frozen_scale(scale_of, levels) or Scale.of(metrics)
    models, corruptions = vre_frames(errors, vre(scale.scaled(metrics), weights_of(weights)))
    frame = (models if key == "model" else corruptions).join(
        intervals.filter(kind=key).rename({"name": key, "low": "vre_low", "high": "vre_high"}),
        on=key,
        how="left",
        maintain_order="left",
    )
    is_ranked = pl.col(key).is_in(chance.ranked) if key == "model" else pl.lit(bool(chance.ranked))
    competing = frame.select(pl.when(is_ranked).then("vre").alias("vre"))["vre"]
    frame = frame.rename({"rank": "rank_of_all"}).with_columns(
        rank=pl.Series(ranks(competing.fill_null(np.nan).to_numpy())).replace(0, None)
    )
    frame = frame.select(key, "vre", "vre_low", "vre_high", "rank", "rank_stability", *METRICS, "rank_of_all")
    names = pl.Series(key, [words(name) for name in frame[key]])
    first, note = frame.clear(), _note_of_corruptions(chance)
    if key == "model":
        first = _unchanged(chance, errors.corruptions, scale, weights, levels)
        names, note = chance.marked(frame[key]), chance.note
        frame = frame.join(chance.frame.drop("measure"), on=key, how="left", maintain_order="left")
    images, draws, left_out = intervals.select("images", "draws", "left_out").row(0)
    notes = [
        *incomplete(errors, metrics),
        *scaled_alone(errors, metrics, scale_of, levels),
        *not_in_scale(scale_of, levels),
        *beyond_scale(models),
        *constant(scale),
        *_left_out(left_out, draws),
    ]
    best = frame.drop_nulls("rank").sort("rank", key)[key]
    return printed(
        frame,
        [
            Column(key, key.capitalize()),
            Column("vre", "VRE", interval=True),
            *(Column(name, header) for name, header in zip(METRICS, HEADERS, strict=True)),
            Column("rank", "Rank"),
            Column("rank_stability", "Stability"),
        ],
        caption=CAPTION.format(
            key=key,
            first=f"{UNCHANGED}{ORDER.strip()} " if key == "model" else "",
            weights=", ".join(f"{weight:.3g}" for weight in weights_of(weights)),
            draws=pluralize(draws, "resample"),
            images=pluralize(images, "image"),
            scale=f"Scaled by {scale_of[0].name}."
            if scale_of
            else "Scaled over all models that have VRE, and all corruptions.",
            notes="".join(f" {note}." for note in notes),
            chance=note,
        ),
        label=f"vre-{key}",
        shown=pl.concat([frame.clear(), first, frame.with_columns(names)], how="diagonal"),
        references=first.height,
        summary=f"lowest VRE: {best[0]}" if len(best) else "no ranks",
    )


def _unchanged(
    chance: Standings,
    corruptions: Sequence[str],
    scale: Scale,
    weights: tuple[float, ...],
    levels: Levels,
) -> pl.DataFrame:
    """Return the row of the best answer to all questions, whose error is the same at all levels."""
    row = chance.references("model", "accuracy")
    error = np.full((1, len(corruptions), LEVELS), 1 - row["accuracy"][-1])
    found = vre(scale.scaled(severity_metrics(error, levels)), weights_of(weights))
    values = dict(zip(("vre", *METRICS), [found.model[0], *found.model_parts[:, 0]], strict=True))
    return row.select(pl.col("model"), **{name: pl.lit(float(v)) for name, v in values.items()}).fill_nan(
        None
    )


def _note_of_corruptions(chance: Standings) -> str:
    if not chance.ranked:
        return " No model is above chance (table chance), so that corruptions have no ranks."
    names = chance.not_ranked
    return f" Means include models that have no rank (table chance): {', '.join(names)}." if names else ""


def _left_out(count: int, draws: int) -> list[str]:
    if not count:
        return []
    text = f"{pluralize(count, 'resample')} of {draws:,} left out, in which other models have VRE"
    return [
        text if count <= MOST_LEFT_OUT * draws else f"{text}, so that there are no intervals and no stability"
    ]
