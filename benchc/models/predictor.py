"""Predict with a model unit by unit, behind a cache.

A unit is one item under all severities of one corruption. Its rows have the same prompt and image sizes: they
need no padding, and their batch contains no other item. A benchmark that gains items or corruptions therefore
keeps every earlier prediction to the last bit.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from benchc.images import Pixels, pixel_hash
from benchc.models.prediction_cache import PredictionCache
from benchc.models.protocol import OptionScores, Scorer
from benchc.models.question import Question


@dataclass
class Predictor:
    """A scorer behind a cache."""

    scorer: Scorer
    cache: PredictionCache
    cached: int = 0  # predictions found in the cache
    computed: int = 0  # all other predictions
    oom_splits: int = 0  # units that were split to fit into the device's memory

    def predict(
        self, question: Question, variants: Sequence[Sequence[Pixels]]
    ) -> tuple[OptionScores, str, list[str]]:
        """Return the scores of a unit, the hash of its prompt and the hash of each variant's pixels."""
        prompt = self.scorer.prompt(question, len(variants[0]))
        # With the options, since a text scorer's prompt does not list them.
        prompt_hash = _hash("\x1f".join((prompt, *question.options)))
        image_hashes = [pixel_hash(images) for images in variants]
        found = self.cache.get(prompt_hash, image_hashes)
        if found is not None:
            self.cached += len(variants)
        else:
            found = self._score_by_size(question, variants)
            self.cache.put(prompt_hash, image_hashes, *found)
            self.computed += len(variants)
        scores, split = found
        self.oom_splits += split
        return scores, prompt_hash, image_hashes

    def _score_by_size(
        self, question: Question, variants: Sequence[Sequence[Pixels]]
    ) -> tuple[OptionScores, bool]:
        """Return the scores of variants of any sizes, one forward pass per size.

        Few corruptions change an image's size; with all others there is one group.
        """
        sizes: dict[tuple[tuple[int, ...], ...], list[int]] = {}
        for position, images in enumerate(variants):
            sizes.setdefault(tuple(image.shape for image in images), []).append(position)
        if len(sizes) == 1:
            return self._score(question, variants)
        groups = [
            self._score(question, [variants[position] for position in group]) for group in sizes.values()
        ]
        order = np.argsort(np.concatenate(list(sizes.values())))
        logits = np.concatenate([scores.logits for scores, _ in groups])[order]
        mass = np.concatenate([scores.label_mass for scores, _ in groups])[order]
        return OptionScores(logits, mass), any(split for _, split in groups)

    def _score(self, question: Question, variants: Sequence[Sequence[Pixels]]) -> tuple[OptionScores, bool]:
        """Return the scores, and whether the variants had to be split to fit into the device's memory."""
        try:
            return self.scorer.score(question, variants), False
        except torch.OutOfMemoryError:
            if len(variants) == 1:
                raise
        torch.cuda.empty_cache()
        middle = len(variants) // 2
        halves = [self._score(question, part)[0] for part in (variants[:middle], variants[middle:])]
        logits, mass = (np.concatenate(parts) for parts in zip(*halves, strict=True))
        return OptionScores(logits, mass), True


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
