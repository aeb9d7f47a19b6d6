"""VRE by model or by corruption, with intervals and the stability of ranks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import polars as pl

from benchc.benchmarks.vqa_robustness.metrics.bootstrap import MOST_LEFT_OUT
from benchc.benchmarks.vqa_robustness.metrics.severity import METRICS, Levels, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale, vre, weights_of
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors
from benchc.benchmarks.vqa_robustness.tables.frames import (
    HEADERS,
    constant,
    frozen_scale,
    incomplete,
    vre_frames,
)
from benchc.benchmarks.vqa_robustness.tables.names import words
from benchc.pluralize import pluralize
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

CAPTION = (
    "VRE by {key}: the weighted mean of the five scaled metrics beside it; low is robust, and rank 1 is the "
    "most robust. Weights: {weights}. In brackets, 95 % percentile intervals from {draws} of {images}, whose "
    "questions are drawn together; stability: the share of these in which the rank is the same. "
    "{scale}{notes}"
)


def printed_vre(
    errors: Errors,
    intervals: pl.DataFrame,
    key: Literal["model", "corruption"],
    scale_of: Sequence[Path],
    weights: tuple[float, ...],
    levels: Levels,
) -> Table:
    """Return VRE by ``key``, its rank and scaled metrics, with the intervals of ``schemas.intervals``.

    ``scale_of``: a table of errors whose scale is frozen, or no file.
    """
    metrics = severity_metrics(errors.values, levels)
    scale = frozen_scale(scale_of, levels) or Scale.of(metrics)
    models, corruptions = vre_frames(errors, vre(scale.scaled(metrics), weights_of(weights)))
    frame = (models if key == "model" else corruptions).join(
        intervals.filter(kind=key).rename({"name": key}), on=key, how="left", maintain_order="left"
    )
    frame = frame.select(key, "vre", "vre_low", "vre_high", "rank", "rank_stability", *METRICS)
    images, draws, left_out = intervals.select("images", "draws", "left_out").row(0)
    notes = [*incomplete(errors, metrics), *constant(scale), *_left_out(left_out, draws)]
    names = frame[key] if key == "model" else pl.Series(key, [words(name) for name in frame[key]])
    best = frame.drop_nulls("vre").sort("vre", key)[key]
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
            weights=", ".join(f"{weight:.3g}" for weight in weights_of(weights)),
            draws=pluralize(draws, "resample"),
            images=pluralize(images, "image"),
            scale=f"Scaled by {scale_of[0].name}." if scale_of else "Scaled over all models and corruptions.",
            notes="".join(f" {note}." for note in notes),
        ),
        label=f"vre-{key}",
        shown=frame.with_columns(names),
        summary=f"lowest VRE: {best[0]}" if len(best) else "no VRE",
    )


def _left_out(count: int, draws: int) -> list[str]:
    if not count:
        return []
    text = f"{pluralize(count, 'resample')} of {draws:,} left out, in which other models have VRE"
    return [text if count <= MOST_LEFT_OUT * draws else f"{text}, so that there are no intervals"]
