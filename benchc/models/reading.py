"""Read a model's answers to many items under one corruption, unit by unit.

The unit is one item under all severities of one corruption: its rows share prompt and image sizes, so they
need no padding, and what a row's batch holds depends on no other item. A benchmark that gains items or
corruptions therefore keeps every read that it had, to the last bit.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from benchc.images import pixel_hash
from benchc.models.protocol import Image, OptionScores, Scorer
from benchc.models.question import Question
from benchc.models.read_store import ReadStore


@dataclass
class Reader:
    """A scorer with a store in front of it, and counts of what each of them served."""

    scorer: Scorer
    store: ReadStore
    stored: int = 0  # reads found in the store
    new: int = 0  # reads computed
    halved: int = 0  # units that did not fit into the device's memory at once

    def read(
        self, question: Question, variants: Sequence[Sequence[Image]]
    ) -> tuple[OptionScores, str, list[str]]:
        """Return the scores of a unit, the hash of its prompt and the hash of each variant's pixels."""
        prompt = self.scorer.prompt(question, len(variants[0]))
        # The options are part of it: a text scorer's prompt does not list them.
        prompt_hash = _hash("\x1f".join((prompt, *question.options)))
        image_hashes = [pixel_hash(images) for images in variants]
        found = self.store.get(prompt_hash, image_hashes)
        if found is not None:
            self.stored += len(variants)
        else:
            found = self._score_by_size(question, variants)
            self.store.put(prompt_hash, image_hashes, *found)
            self.new += len(variants)
        scores, halved = found
        self.halved += halved
        return scores, prompt_hash, image_hashes

    def _score_by_size(
        self, question: Question, variants: Sequence[Sequence[Image]]
    ) -> tuple[OptionScores, bool]:
        """Return the scores of variants of any sizes: those of one size go through the model together.

        Hardly any corruption changes an image's size; then there is one group.
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
        return OptionScores(logits, mass), any(halved for _, halved in groups)

    def _score(self, question: Question, variants: Sequence[Sequence[Image]]) -> tuple[OptionScores, bool]:
        """Return the scores, and whether the variants had to be halved to fit into the device's memory."""
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
