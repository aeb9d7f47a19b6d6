"""Ask a model about units, behind a cache.

A unit is one item under all severities of one corruption. Its rows have the same prompt and image sizes: they
need no padding. It is cached by itself, and by default its bits do not depend on the units that pass through
the model with it. A benchmark that gains items or corruptions therefore keeps every earlier prediction.
"""

import hashlib
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from benchc.images import pixel_hash
from benchc.models.cache.unit_cache import AnswerCache, CachedUnit, PredictionCache, UnitCache
from benchc.models.job_counts import Rows
from benchc.models.protocol import (
    Generative,
    ModelError,
    ModelInterface,
    NoTextOnlyError,
    OptionScores,
    Reply,
    Scorer,
    UnitInput,
)
from benchc.models.question import Question
from benchc.models.units import Unit

Model = TypeVar("Model", bound=ModelInterface)
Value = TypeVar("Value")
Compute = Callable[[Model, Question, Sequence[UnitInput]], Sequence[tuple[Value, bool]]]
UnitHashes = tuple[str, ...]  # of the prompt, and of each variant's pixels


@dataclass
class CachedModel(Generic[Model, Value]):
    """A model behind a cache. Threads may share it: only ``compute`` runs in several of them at once.

    ``compute`` returns the value of each unit of a question, and whether it was split to fit into the
    device's memory.
    """

    model: Model
    cache: UnitCache[Value]
    compute: Compute[Model, Value]
    cached: int = 0  # variants found in the cache
    computed: int = 0  # all others
    oom_splits: int = 0  # units that were split
    adopted: Counter[str] = field(default_factory=Counter)  # cached variants of other code, by its digest
    _lock: threading.Lock = field(default_factory=threading.Lock)
    # One for each unit that is being predicted, so that a second thread finds an equal one in the cache.
    _units: WeakValueDictionary[UnitHashes, threading.Lock] = field(default_factory=WeakValueDictionary)

    def ask(self, question: Question, units: Sequence[Unit]) -> list[tuple[Value, str, list[str]]]:
        """Return the value of each unit, the hash of its prompt and the hash of each variant's pixels.

        Raises ModelError, with the item, where the model cannot be asked about it.
        """
        hashes = [unit_hashes(self.model, question, unit) for unit in units]
        keys: list[UnitHashes] = [(prompt, *images) for prompt, images in hashes]
        with ExitStack() as stack:
            # In one order, so that no two threads wait for each other.
            for key in sorted(set(keys)):
                with self._lock:
                    one_at_a_time = self._units.setdefault(key, threading.Lock())
                stack.enter_context(one_at_a_time)
            found = self._found(question, dict(zip(keys, units, strict=True)))
        # A unit that occurs twice is computed for the first.
        new = {key for key, (_, is_new) in found.items() if is_new}
        with self._lock:
            for key, unit in zip(keys, units, strict=True):
                self._count(found[key][0], len(unit.severities), is_new=key in new)
                new.discard(key)
        return [(found[key][0].value, *facts) for key, facts in zip(keys, hashes, strict=True)]

    def _found(
        self, question: Question, units: Mapping[UnitHashes, Unit]
    ) -> dict[UnitHashes, tuple[CachedUnit[Value], bool]]:
        """Return what the cache has of each unit, or else what is computed and stored, which is new."""
        with self._lock:
            cached = {key: self.cache.get(key[0], key[1:]) for key in units}
        found = {key: (value, False) for key, value in cached.items() if value is not None}
        missing = {key: unit for key, unit in units.items() if key not in found}
        if not missing:
            return found
        computed: Sequence[tuple[Value, bool]] | None
        try:
            inputs = [
                # Encoded for this prompt, and not for another of the same images.
                UnitInput(unit.variants, unit.groups if unit.prompt_hash == key[0] else None)
                for key, unit in missing.items()
            ]
            computed = self.compute(self.model, question, inputs)
        except NoTextOnlyError:
            raise
        except ModelError as error:
            if len(missing) == 1:
                (unit,) = missing.values()
                raise ModelError(f"item {unit.item} under {unit.corruption}: {error}") from error
            computed = None
        if computed is None:
            # One by one, which names the one and keeps the others; not while the error is handled, whose
            # traceback holds what the failed pass has in the device's memory.
            return found | {
                key: value
                for each in missing.items()
                for key, value in self._found(question, dict([each])).items()
            }
        for (key, unit), (value, split) in zip(missing.items(), computed, strict=True):
            self.check(value, unit)
            with self._lock:
                self.cache.put(key[0], key[1:], value, split)
            found[key] = CachedUnit(value, split), True
        return found

    def _count(self, found: CachedUnit[Value], variants: int, *, is_new: bool) -> None:
        if is_new:
            self.computed += variants
        else:
            self.cached += variants
            if found.adopted is not None:
                self.adopted[found.adopted] += variants
        self.oom_splits += found.split

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


def unit_hashes(model: ModelInterface, question: Question, unit: Unit) -> tuple[str, list[str]]:
    """Return the hash of a unit's prompt and the hash of each variant's pixels."""
    prompt = model.prompt(question, unit.images)
    # With the options, since a text scorer's prompt does not list them.
    text = "\x1f".join((prompt, *question.options, *question.labels))
    prompt_hash = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return prompt_hash, unit.image_hashes or [pixel_hash(images) for images in unit.variants]
