"""Predict with a model unit by unit, behind a cache.

A unit is one item under all severities of one corruption. Its rows have the same prompt and image sizes: they
need no padding, and their batch contains no other item. A benchmark that gains items or corruptions therefore
keeps every earlier prediction to the last bit.
"""

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from benchc.images import pixel_hash
from benchc.models.predict import predict
from benchc.models.prediction_cache import CachedUnit, PredictionCache
from benchc.models.protocol import ModelError, OptionScores, Scorer
from benchc.models.question import Question
from benchc.models.units import Unit
from benchc.pixels import Pixels


@dataclass
class Predictor:
    """A scorer behind a cache."""

    scorer: Scorer
    cache: PredictionCache
    cached: int = 0  # predictions found in the cache
    computed: int = 0  # all other predictions
    oom_splits: int = 0  # units that were split to fit into the device's memory
    adopted: Counter[str] = field(default_factory=Counter)  # cached predictions of other code, by its digest

    def predict(self, question: Question, unit: Unit) -> tuple[OptionScores, str, list[str]]:
        """Return the scores of a unit, the hash of its prompt and the hash of each variant's pixels.

        Raises ModelError, which names the item, where it cannot be scored, and where a score is NaN or
        infinite; it is then not cached.
        """
        prompt_hash, image_hashes = unit_hashes(self.scorer, question, unit.variants)
        found = self.cache.get(prompt_hash, image_hashes)
        if found is not None:
            self.cached += len(unit.variants)
            if found.adopted is not None:
                self.adopted[found.adopted] += len(unit.variants)
        else:
            try:
                found = CachedUnit(*predict(self.scorer, question, unit.variants))
            except ModelError as error:
                raise ModelError(f"item {unit.item} under {unit.corruption}: {error}") from error
            self._check_finite(found.scores, unit)
            self.cache.put(prompt_hash, image_hashes, found.scores, found.split)
            self.computed += len(unit.variants)
        self.oom_splits += found.split
        return found.scores, prompt_hash, image_hashes

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
