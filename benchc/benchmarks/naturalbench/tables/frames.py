"""Accuracies of models with intervals as frames, and how readings and measures are printed."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.metrics.bootstrap import PER_CENT, Resamples, estimates
from benchc.benchmarks.naturalbench.metrics.groups import CHANCE, CHANCE_SAMPLE, MEASURES, Floats
from benchc.benchmarks.naturalbench.scored import RunScores
from benchc.pluralize import pluralize
from benchc.rendering.chance import Standings
from benchc.rendering.printing import Column

READINGS = {
    "decoding": "Decoding",
    "deterministic": "Deterministic",
    "post_hoc": "Post-hoc",
    "post_hoc_grey_image": "Post-hoc, grey image",
    "global": "Global τ",
    "global_by_type": "Global τ by type",
    "cross_fitted": "Cross-fitted τ",
    "sample": "Sample τ",
}
DECODING, SAMPLE = "decoding", "sample"
RANDOM, CONSTANT = "Random chance", "Always one answer"
TYPES = {"yes_no": "YN", "multiple_choice": "MCQ"}
HEADERS = dict(zip(MEASURES, ("Acc", "Q-Acc", "I-Acc", "G-Acc"), strict=True))
MEASURE_COLUMNS = tuple(Column(name, header, interval=True, digits=1) for name, header in HEADERS.items())


def resampled(scored: RunScores, draws: int) -> str:
    """Return a sentence on the intervals for a caption."""
    return (
        f"In per cent, with 95 % percentile intervals from {pluralize(draws, 'resample')} of the "
        f"{pluralize(scored.groups.height, 'group')}, the same for all models and readings."
    )


def columns_of(drawn: Floats, names: Sequence[str]) -> dict[str, pl.Series]:
    """Return the columns of each name and its interval, a row for each model or other thing.

    ``drawn``: [1 + draws, rows * names], names fastest.
    """
    found: dict[str, pl.Series] = {}
    for number, name in enumerate(names):
        found |= estimates(drawn[:, number :: len(names)]).columns(name)
    return found


def accuracies(scored: RunScores, resamples: Resamples, keys: Iterable[tuple[str, str]]) -> pl.DataFrame:
    """Return one row for each of ``keys``, a model's id and a reading: its label and the measures."""
    keys = [*keys]
    values = [scored.values(*key) for key in keys]
    drawn = resamples.means(np.concatenate(values, axis=1))
    labels = [scored.models[id_].label for id_, _ in keys]
    return pl.DataFrame({"model": labels, **columns_of(drawn, MEASURES)})


def reading_text(reading: str) -> str:
    """Return how a caption names a reading."""
    text = READINGS.get(reading, reading).lower()
    return f"{text}, where a reply without an answer is wrong" if reading == DECODING else text


def chance_of_groups(reading: str) -> float:
    """Return the G-Acc of random answers, in [0, 1], or for ``SAMPLE`` of random probabilities."""
    return (CHANCE_SAMPLE if reading == SAMPLE else CHANCE)["g_acc"]


def chance_rows(random: Mapping[str, float]) -> pl.DataFrame:
    """Return the rows of random answers and of an answer that is always the same, in per cent.

    ``random``: by column, what random answers have, in [0, 1]. An answer that is always the same is right in
    half of the cases, and makes no question, image or group right.
    """
    constant = {name: 0.5 if name == "acc" else 0.0 for name in random}
    return pl.DataFrame(
        [
            {"model": model, **{name: PER_CENT * value for name, value in values.items()}}
            for model, values in ((RANDOM, random), (CONSTANT, constant))
        ]
    )


def marked_by_reading(frame: pl.DataFrame, chance: Standings) -> tuple[pl.Series, str]:
    """Return the labels of the column ``model`` with their marks in the row's ``reading``, and the note."""
    standings = {reading: chance.of(reading) for reading in frame["reading"].unique()}
    marked = [
        standings[reading].marked(pl.Series([model]))[0]
        for model, reading in frame["model", "reading"].iter_rows()
    ]
    shown = Standings(chance.frame.filter(pl.col("reading").is_in([*standings])))
    note = shown.called("G-Acc by the reading of the row").note
    return pl.Series("model", marked, dtype=pl.String), note


def labels_of(scored: RunScores) -> dict[str, str]:
    """Return the labels of the models by id."""
    return {id_: model.label for id_, model in scored.models.items()}
