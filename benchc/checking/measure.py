"""Measure a model that is ready to be asked, wherever it runs, on a few items. Imports no torch."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchc.checking.trial import AnswersTrial, Trial
from benchc.corruptions.recipe import clean_recipe
from benchc.judges.option_reply import option_of
from benchc.models.cache.unit_cache import PredictionCache
from benchc.models.inference import Row, infer, prediction_rows
from benchc.models.items import Item
from benchc.models.loaded import LoadedModel
from benchc.models.predictor import Predictor
from benchc.models.protocol import OptionScores, Reply, UnitInput, Variants
from benchc.models.question import Question
from benchc.models.units import Recipes, Unit, units_of
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL

# After this time no further unit begins; a slow model is measured on fewer.
SECONDS_OF_PREDICTIONS = 30.0
GREY = 128

# Returns a unit's variants as input of a model (:class:`benchc.models.encoding.VariantGroup`).
Encode = Callable[[Any, Question, Variants], Iterator[Any]]


@dataclass
class _ModelTime:
    """Asks a model about units that are encoded, and adds up the time; without ``encode``, it encodes."""

    model: LoadedModel[Any, Any]
    encode: Encode | None
    seconds: float = 0.0

    def compute(self, asked: Any, question: Question, units: Sequence[UnitInput]) -> Sequence[Any]:
        if self.encode is not None:
            units = [
                unit._replace(groups=list(self.encode(asked, question, unit.variants))) for unit in units
            ]
        start = time.monotonic()
        found = self.model.compute(asked, question, units)
        self.seconds += time.monotonic() - start
        return found

    def of_each(self, count: int) -> float | None:
        """Return the seconds of each of ``count``; None where encoding cannot be told apart."""
        return None if self.encode is None else self.seconds / max(1, count)


def measure_predictions(
    model: LoadedModel[Any, OptionScores],
    items: Mapping[str, Item],
    pool: Path,
    images: Recipes,
    *,
    device: str,
    loading: float | None,
    encode: Encode | None = None,
) -> Trial:
    """Let a model score the options of all ``items`` of a small POOL table.

    ``images`` are the recipes to apply to their images, clean first; ``device`` and ``loading`` are those of
    :class:`Trial`. ``encode``: where a worker process can encode for the model. Raises InputError where an
    inference job would.
    """
    keys = {id_: item.image_keys for id_, item in items.items()}
    # Not lazily: the time of images is measured apart.
    made: list[float] = []
    clean, corrupted = (
        list(_timed(units_of(pool, keys, replace(images, recipes=recipes)), made))
        for recipes in (images.recipes[:1], images.recipes[1:])
    )
    of_images = made[len(clean) :] or made
    apart = _ModelTime(model, encode)
    with (
        TemporaryDirectory() as folder,
        PredictionCache(Path(folder) / "first", model.identity, "check") as first_cache,
        PredictionCache(Path(folder) / "measured", model.identity, "check") as cache,
    ):
        # The first predictions are slower than all others.
        first = Predictor(model.model, first_cache, model.compute)
        rows = infer(first, items, clean, prediction_rows, model.at_once)
        correct = _correct(pool, rows)
        start = time.monotonic()
        in_time = takewhile(lambda _: time.monotonic() - start < SECONDS_OF_PREDICTIONS, corrupted or clean)
        measured = Predictor(model.model, cache, apart.compute)
        rows += infer(measured, items, in_time, prediction_rows, model.at_once)
        seconds = time.monotonic() - start
    return Trial(
        device,
        loading,
        seconds / max(1, measured.computed),
        measured.computed,
        float(np.mean([row["label_mass"] for row in rows])),
        any(_uses_images(model, items[unit.item].question, unit) for unit in clean),
        correct,
        len(clean),
        model_seconds=apart.of_each(measured.computed),
        image_seconds=None if encode is None else median(of_images),
    )


def measure_answers(
    model: LoadedModel[Any, list[Reply]],
    items: Mapping[str, Item],
    pool: Path,
    *,
    device: str,
    loading: float | None,
    encode: Encode | None = None,
) -> AnswersTrial:
    """Let a model answer all ``items`` in its own words, clean; arguments as :func:`measure_predictions`."""

    def ask(model: LoadedModel[Any, list[Reply]], question: Question, units: Sequence[Unit]) -> Iterator[Row]:
        inputs = [UnitInput(unit.variants) for unit in units]
        for unit, (replies, _) in zip(units, apart.compute(model.model, question, inputs), strict=True):
            yield {"id": unit.item, "reply": replies[0]}

    keys = {id_: item.image_keys for id_, item in items.items()}
    units = list(units_of(pool, keys, Recipes([clean_recipe()], 0)))
    apart = _ModelTime(model, encode)
    start = time.monotonic()
    rows = infer(model, items, units, ask, model.at_once)
    seconds = (time.monotonic() - start) / max(1, len(rows))
    chosen = [option_of(row["reply"].text, items[row["id"]].question.options).option for row in rows]
    return AnswersTrial(
        device,
        loading,
        seconds,
        len(rows),
        sum(option is not None for option in chosen),
        sum(row["reply"].finish == "length" for row in rows),
        tuple(row["reply"].text for row in rows[:2]),
        model_seconds=apart.of_each(len(rows)),
    )


def _timed(units: Iterator[Unit], seconds: list[float]) -> Iterator[Unit]:
    """Yield units, and add the seconds in which each variant of one was made."""
    while True:
        start = time.monotonic()
        if (unit := next(units, None)) is None:
            return
        seconds.append((time.monotonic() - start) / len(unit.severities))
        yield unit


def _correct(pool: Path, rows: Sequence[Row]) -> int:
    """Return the number of predictions whose largest logit is that of the answer."""
    answers = dict(read_table(pool, POOL, ["id", "answer"]).iter_rows())
    return sum(int(np.argmax(row["logits"])) == answers[row["id"]] for row in rows)


def _uses_images(model: LoadedModel[Any, OptionScores], question: Question, unit: Unit) -> bool:
    """Return whether the logits change if the images of a clean unit become grey."""
    grey = [[np.full_like(image, GREY) for image in images] for images in unit.variants]
    inputs = [UnitInput(unit.variants), UnitInput(grey)]
    (scores, _), (of_grey, _) = model.compute(model.model, question, inputs)
    return not np.array_equal(scores.logits, of_grey.logits)
