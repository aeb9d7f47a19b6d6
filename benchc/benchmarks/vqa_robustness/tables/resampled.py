"""VRE of a run and of resamples of its images, as frames."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from benchc.benchmarks.vqa_robustness.grades import Answers, Grade, answers_of
from benchc.benchmarks.vqa_robustness.metrics.bootstrap import MOST_LEFT_OUT, Draws, rank_shares, vre_draws
from benchc.benchmarks.vqa_robustness.metrics.severity import METRICS, Floats, Levels, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale, vre, weights_of
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors, read_errors
from benchc.benchmarks.vqa_robustness.tables.frames import HEADERS, constant, incomplete, vre_frames
from benchc.benchmarks.vqa_robustness.tables.names import words
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.schemas.parquet import AGAIN

CAPTION = (
    "VRE by {key}: the weighted mean of the five scaled metrics beside it; low is robust, and rank 1 is the "
    "most robust. Weights: {weights}. In brackets, 95 % percentile intervals from {draws} of {images}, whose "
    "questions are drawn together; stability: the share of these in which the rank is the same. "
    "{scale}{notes}"
)


class Resampled(NamedTuple):
    """VRE by model and by corruption, and a sentence for what a caption must say."""

    models: pl.DataFrame
    corruptions: pl.DataFrame
    images: int
    notes: list[str]


def resampled_vre(
    graded: Mapping[str, pl.DataFrame],
    pool: pl.DataFrame,
    labels: Mapping[str, str],
    corruptions: Sequence[str],
    grade: Grade,
    weights: tuple[float, ...],
    levels: Levels,
    scale: Scale | None,
    draws: int,
    seed: int,
) -> Resampled:
    """Return VRE, its rank and scaled metrics, with intervals and the stability of ranks.

    ``pool``: id and image_keys of each item; ``scale``: a frozen scale, None for that of these models, which
    each resample has anew; other arguments as for ``answers_of`` and ``vre_draws``.
    """
    answers = answers_of(graded, labels, corruptions, grade)
    errors = Errors(answers.models, answers.corruptions, answers.errors)
    metrics = severity_metrics(errors.values, levels)
    own = Scale.of(metrics) if scale is None else scale
    wrong, questions = by_image(answers, pool)
    found = vre_draws(wrong, questions, weights_of(weights), draws, seed, levels, scale)
    of_models, of_corruptions = found.intervals()
    models, of_types = vre_frames(errors, vre(own.scaled(metrics), weights_of(weights)))
    return Resampled(
        _with_draws(models, of_models, found.models[1:][found.kept]),
        _with_draws(of_types, of_corruptions, found.corruptions[1:][found.kept]),
        len(questions),
        [*incomplete(errors, metrics), *constant(own), *_left_out(found)],
    )


def by_image(answers: Answers, pool: pl.DataFrame) -> tuple[Floats, Floats]:
    """Return the wrong answers to the questions about each image, and how many questions these are.

    Questions about the same images, in any order, belong together; ``pool``: id and image_keys of each item.
    Returns float[models, corruptions, 6, images] and float[images], sorted by image. Raises InputError where
    an item is not in the pool.
    """
    keys = {id_: "\0".join(sorted(images)) for id_, images in pool.select("id", "image_keys").iter_rows()}
    if unknown := [id_ for id_ in answers.items if id_ not in keys]:
        raise InputError(f"the pool has no item {unknown[0]}, which has grades; {AGAIN}")
    images = np.array([keys[id_] for id_ in answers.items])
    order = np.argsort(images, kind="stable")
    _, starts, questions = np.unique(images[order], return_index=True, return_counts=True)
    wrong: Floats = np.add.reduceat(answers.wrong[..., order], starts, axis=-1)
    return wrong, questions.astype(np.float64)


def frozen_scale(scale_of: Sequence[Path], levels: Levels) -> Scale | None:
    """Return the scale of the errors in a file, or None without one.

    Raises InputError for several files, and where a metric of the file has one value only. Its corruptions
    may have other names, as those of the paper do.
    """
    if not scale_of:
        return None
    if len(scale_of) > 1:
        raise InputError(f"the scale is of {len(scale_of)} files; give one")
    scale = Scale.of(severity_metrics(read_errors(scale_of[0]).values, levels))
    if scale.constant.any():
        name = HEADERS[int(np.flatnonzero(scale.constant)[0])]
        raise InputError(f"{scale_of[0]}: {name} has one value only, which is no scale; add models to it")
    return scale


def printed_vre(
    found: Resampled, key: str, weights: tuple[float, ...], scale_of: Sequence[Path], draws: int
) -> Table:
    """Return VRE by ``key``, model or corruption, as a table."""
    frame = found.models if key == "model" else found.corruptions
    columns = [
        Column(key, key.capitalize()),
        Column("vre", "VRE", interval=True),
        *(Column(name, header) for name, header in zip(METRICS, HEADERS, strict=True)),
        Column("rank", "Rank"),
        Column("rank_stability", "Stability"),
    ]
    scale = f"Scaled by {scale_of[0].name}." if scale_of else "Scaled over all models and corruptions."
    caption = CAPTION.format(
        key=key,
        weights=", ".join(f"{weight:.3g}" for weight in weights_of(weights)),
        draws=pluralize(draws, "resample"),
        images=pluralize(found.images, "image"),
        scale=scale,
        notes="".join(f" {note}." for note in found.notes),
    )
    names = frame[key] if key == "model" else pl.Series(key, [words(name) for name in frame[key]])
    shown = printed(frame.with_columns(names), columns, caption=caption, label=f"vre-{key}")
    best = frame.drop_nulls("vre").sort("vre", key)[key]
    summary = f"lowest VRE: {best[0]}" if len(best) else "no VRE"
    return Table(frame, shown.markdown, shown.latex, summary=summary)


def _left_out(found: Draws) -> list[str]:
    count = int((~found.kept).sum())
    if not count:
        return []
    text = f"{pluralize(count, 'resample')} of {len(found.kept):,} left out, in which other models have VRE"
    return [text if count <= MOST_LEFT_OUT * len(found.kept) else f"{text}, so that there are no intervals"]


def _with_draws(frame: pl.DataFrame, interval: tuple[Floats, Floats], draws: Floats) -> pl.DataFrame:
    shares = rank_shares(draws)
    same = [None if rank is None else float(shares[row, rank - 1]) for row, rank in enumerate(frame["rank"])]
    low, high = (pl.Series(end).fill_nan(None) for end in interval)
    key = frame.columns[0]
    return frame.select(
        key,
        "vre",
        low.alias("vre_low"),
        high.alias("vre_high"),
        "rank",
        pl.Series("rank_stability", same, dtype=pl.Float64),
        *METRICS,
    )
