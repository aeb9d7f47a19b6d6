"""Ask a model unit by unit, behind a cache.

A unit is one item under all severities of one corruption. Its rows have the same prompt and image sizes: they
need no padding, and their batch contains no other item. A benchmark that gains items or corruptions therefore
keeps every earlier prediction to the last bit.
"""

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from benchc.images import pixel_hash
from benchc.models.job_counts import Rows
from benchc.models.prediction_cache import AnswerCache, CachedUnit, PredictionCache, UnitCache
from benchc.models.protocol import Asked, Generative, ModelError, OptionScores, Reply, Scorer
from benchc.models.question import Question
from benchc.models.units import Unit, Variants

Model = TypeVar("Model", bound=Asked)
Value = TypeVar("Value")


@dataclass
class CachedModel(Generic[Model, Value]):
    """A model behind a cache. Threads may share it: only ``compute`` runs in several of them at once.

    ``compute`` returns the value of a unit, and whether it was split to fit into the device's memory.
    """

    model: Model
    cache: UnitCache[Value]
    compute: Callable[[Model, Question, Variants], tuple[Value, bool]]
    cached: int = 0  # variants found in the cache
    computed: int = 0  # all others
    oom_splits: int = 0  # units that were split
    adopted: Counter[str] = field(default_factory=Counter)  # cached variants of other code, by its digest
    _lock: threading.Lock = field(default_factory=threading.Lock)
    # One for each unit that is being predicted, so that a second thread finds an equal one in the cache.
    _units: WeakValueDictionary[tuple[str, ...], threading.Lock] = field(default_factory=WeakValueDictionary)

    def ask(self, question: Question, unit: Unit) -> tuple[Value, str, list[str]]:
        """Return the value of a unit, the hash of its prompt and the hash of each variant's pixels.

        Raises ModelError, with the item, where the model cannot be asked about it.
        """
        prompt_hash, image_hashes = unit_hashes(self.model, question, unit.variants)
        with self._lock:
            one_at_a_time = self._units.setdefault((prompt_hash, *image_hashes), threading.Lock())
        with one_at_a_time:
            value = self._value(question, unit, prompt_hash, image_hashes)
        return value, prompt_hash, image_hashes

    def _value(self, question: Question, unit: Unit, prompt_hash: str, image_hashes: Sequence[str]) -> Value:
        with self._lock:
            found = self.cache.get(prompt_hash, image_hashes)
        if found is None:
            try:
                new = CachedUnit(*self.compute(self.model, question, unit.variants))
            except ModelError as error:
                raise ModelError(f"item {unit.item} under {unit.corruption}: {error}") from error
            self.check(new.value, unit)
        with self._lock:
            if found is None:
                found = new
                self.cache.put(prompt_hash, image_hashes, found.value, found.split)
                self.computed += len(unit.variants)
            else:
                self.cached += len(unit.variants)
                if found.adopted is not None:
                    self.adopted[found.adopted] += len(unit.variants)
            self.oom_splits += found.split
        return found.value

    def check(self, value: Value, unit: Unit) -> None:
        """Raise ModelError for a computed value that must not be cached."""


class Answerer(CachedModel[Generative, list[Reply]]):
    """A model that answers in its own words, behind a cache."""

    CACHE = AnswerCache
    ROWS: ClassVar[Rows] = "answers"


class Predictor(CachedModel[Scorer, OptionScores]):
    """A scorer behind a cache. A score that is NaN or infinite is refused."""

    CACHE = PredictionCache
    ROWS: ClassVar[Rows] = "predictions"

    def check(self, scores: OptionScores, unit: Unit) -> None:
        finite = np.isfinite(scores.logits).all(axis=1) & np.isfinite(scores.label_mass)
        if not finite.all():
            row = int(np.flatnonzero(~finite)[0])
            raise ModelError(
                f"{self.model.identity()['model']}: item {unit.item} under {unit.corruption} at severity "
                f"{unit.severities[row]} has the logits {scores.logits[row].tolist()} and the label mass "
                f"{scores.label_mass[row]}, which must be finite; set `dtype: float32` (float16 overflows) "
                "in the model catalogue, or check the model's weights"
            )


def unit_hashes(model: Asked, question: Question, variants: Variants) -> tuple[str, list[str]]:
    """Return the hash of a unit's prompt and the hash of each variant's pixels."""
    prompt = model.prompt(question, len(variants[0]))
    # With the options, since a text scorer's prompt does not list them.
    text = "\x1f".join((prompt, *question.options))
    prompt_hash = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return prompt_hash, [pixel_hash(images) for images in variants]
