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
from benchc.corruptions.recipe import Recipe
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
Timed = tuple[Mapping[str, Item], Path]


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
    timed: Timed | None = None,
) -> Trial:
    """Let a model score the options of all ``items`` of a small POOL table.

    ``images`` are the recipes to apply to their images, clean first; ``device`` and ``loading`` are those of
    :class:`Trial`. ``encode``: where a worker process can encode for the model. ``timed``: the items on which
    time is measured, and their POOL table; None: ``items``. Raises InputError where an inference job would.
    """
    began = time.monotonic()
    own_items, own_pool = timed or (items, pool)
    # Not lazily: the time of images is measured apart.
    made: list[float] = []
    clean = list(_timed(_units(items, pool, images, images.recipes[:1]), made))
    corrupted = list(_timed(_units(own_items, own_pool, images, images.recipes[1:] or images.recipes), made))
    of_images = made[len(clean) :]
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
        in_time = takewhile(lambda _: time.monotonic() - start < SECONDS_OF_PREDICTIONS, corrupted)
        measured = Predictor(model.model, cache, apart.compute)
        rows += infer(measured, own_items, in_time, prediction_rows, model.at_once)
        seconds = time.monotonic() - start
    uses_images = any(_uses_images(model, items[unit.item].question, unit) for unit in clean)
    return Trial(
        device,
        loading,
        seconds / max(1, measured.computed),
        measured.computed,
        float(np.mean([row["label_mass"] for row in rows])),
        uses_images,
        correct,
        len(clean),
        model_seconds=apart.of_each(measured.computed),
        image_seconds=None if encode is None else median(of_images),
        asking=time.monotonic() - began,
    )


def measure_answers(
    model: LoadedModel[Any, list[Reply]],
    items: Mapping[str, Item],
    pool: Path,
    images: Recipes,
    *,
    device: str,
    loading: float | None,
    encode: Encode | None = None,
    timed: Timed | None = None,
) -> AnswersTrial:
    """Let a model answer all ``items`` in its own words; arguments as :func:`measure_predictions`."""

    def ask(apart: _ModelTime, question: Question, units: Sequence[Unit]) -> Iterator[Row]:
        inputs = [UnitInput(unit.variants) for unit in units]
        for unit, (replies, _) in zip(units, apart.compute(model.model, question, inputs), strict=True):
            yield from ({"id": unit.item, "reply": reply} for reply in replies)

    began = time.monotonic()
    own_items, own_pool = timed or (items, pool)
    clean = list(_units(items, pool, images, images.recipes[:1]))
    corrupted = list(_units(own_items, own_pool, images, images.recipes[1:] or images.recipes))
    # The first answers are slower than all others.
    rows = infer(_ModelTime(model, encode), items, clean, ask, model.at_once)
    apart = _ModelTime(model, encode)
    start = time.monotonic()
    in_time = takewhile(lambda _: time.monotonic() - start < SECONDS_OF_PREDICTIONS, corrupted)
    count = len(infer(apart, own_items, in_time, ask, model.at_once))
    seconds = (time.monotonic() - start) / max(1, count)
    chosen = [option_of(row["reply"].text, items[row["id"]].question.options).option for row in rows]
    return AnswersTrial(
        device,
        loading,
        seconds,
        len(rows),
        sum(option is not None for option in chosen),
        sum(row["reply"].finish == "length" for row in rows),
        tuple(row["reply"].text for row in rows[:2]),
        model_seconds=apart.of_each(count),
        timed=count,
        asking=time.monotonic() - began,
    )


def _units(
    items: Mapping[str, Item], pool: Path, images: Recipes, recipes: Sequence[Recipe]
) -> Iterator[Unit]:
    keys = {id_: item.image_keys for id_, item in items.items()}
    return units_of(pool, keys, replace(images, recipes=recipes))


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
