"""Predict with a model unit by unit, behind a cache.

A unit is one item under all severities of one corruption. Its rows have the same prompt and image sizes: they
need no padding, and their batch contains no other item. A benchmark that gains items or corruptions therefore
keeps every earlier prediction to the last bit.
"""

import hashlib
import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

import numpy as np

from benchc.images import pixel_hash
from benchc.models.loaded import Compute
from benchc.models.prediction_cache import CachedUnit, PredictionCache
from benchc.models.protocol import ModelError, OptionScores, Scorer
from benchc.models.question import Question
from benchc.models.units import Unit
from benchc.pixels import Pixels


def _in_process(
    scorer: Scorer, question: Question, variants: Sequence[Sequence[Pixels]]
) -> tuple[OptionScores, bool]:
    # Here, since it imports torch, which the models of a server do without.
    from benchc.models.predict import predict

    return predict(scorer, question, variants)


@dataclass
class Predictor:
    """A scorer behind a cache. Threads may share it: only ``compute`` runs in several of them at once."""

    scorer: Scorer
    cache: PredictionCache
    compute: Compute = _in_process
    cached: int = 0  # predictions found in the cache
    computed: int = 0  # all other predictions
    oom_splits: int = 0  # units that were split to fit into the device's memory
    adopted: Counter[str] = field(default_factory=Counter)  # cached predictions of other code, by its digest
    _lock: threading.Lock = field(default_factory=threading.Lock)
    # One for each unit that is being predicted, so that a second thread finds an equal one in the cache.
    _units: WeakValueDictionary[tuple[str, ...], threading.Lock] = field(default_factory=WeakValueDictionary)

    def predict(self, question: Question, unit: Unit) -> tuple[OptionScores, str, list[str]]:
        """Return the scores of a unit, the hash of its prompt and the hash of each variant's pixels.

        Raises ModelError, with the item, where the model cannot score it, or where a score is NaN or
        infinite; it is then not cached.
        """
        prompt_hash, image_hashes = unit_hashes(self.scorer, question, unit.variants)
        with self._lock:
            one_at_a_time = self._units.setdefault((prompt_hash, *image_hashes), threading.Lock())
        with one_at_a_time:
            scores = self._scores(question, unit, prompt_hash, image_hashes)
        return scores, prompt_hash, image_hashes

    def _scores(
        self, question: Question, unit: Unit, prompt_hash: str, image_hashes: Sequence[str]
    ) -> OptionScores:
        with self._lock:
            found = self.cache.get(prompt_hash, image_hashes)
        if found is None:
            try:
                new = CachedUnit(*self.compute(self.scorer, question, unit.variants))
            except ModelError as error:
                raise ModelError(f"item {unit.item} under {unit.corruption}: {error}") from error
            self._check_finite(new.scores, unit)
        with self._lock:
            if found is None:
                found = new
                self.cache.put(prompt_hash, image_hashes, found.scores, found.split)
                self.computed += len(unit.variants)
            else:
                self.cached += len(unit.variants)
                if found.adopted is not None:
                    self.adopted[found.adopted] += len(unit.variants)
            self.oom_splits += found.split
        return found.scores

    def _check_finite(self, scores: OptionScores, unit: Unit) -> None:
        finite = np.isfinite(scores.logits).all(axis=1) & np.isfinite(scores.label_mass)
        if not finite.all():
            row = int(np.flatnonzero(~finite)[0])
            raise ModelError(
                f"{self.scorer.identity()['model']}: item {unit.item} under {unit.corruption} at severity "
                f"{unit.severities[row]} has the logits {scores.logits[row].tolist()} and the label mass "
                f"{scores.label_mass[row]}, which must be finite; set `dtype: float32` (float16 overflows) "
                "in the model catalogue, or check the model's weights"
            )


def unit_hashes(
    scorer: Scorer, question: Question, variants: Sequence[Sequence[Pixels]]
) -> tuple[str, list[str]]:
    """Return the hash of a unit's prompt and the hash of each variant's pixels."""
    prompt = scorer.prompt(question, len(variants[0]))
    # With the options, since a text scorer's prompt does not list them.
    text = "\x1f".join((prompt, *question.options))
    prompt_hash = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return prompt_hash, [pixel_hash(images) for images in variants]
