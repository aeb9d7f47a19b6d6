"""From prompt and pixels to logits: loading a model, and scoring a unit with it.

The prediction cache keeps a prediction as long as the code of this module, of all that it imports, and of
the modules of the model's family and scoring is the same. Whatever decides a number is therefore reached from
here, and bookkeeping (cache, progress, files, arguments) is not: its edits would drop all cached predictions.
"""

from collections.abc import Sequence

import numpy as np
import torch

from benchc.errors import InputError
from benchc.models.protocol import CheckpointSource, ModelError, OptionScores, Scorer
from benchc.models.question import Question
from benchc.models.registry import load_scorer
from benchc.pixels import Pixels


def load_model(source: CheckpointSource, family: str | None, scoring: str, threads: int = 1) -> Scorer:
    """Return a loaded model with its scoring.

    Sets torch's number of threads and deterministic algorithms for the process.

    Args:
        source: the checkpoint.
        family: a family of models (docs/models.md); None for the class that config.json names.
        scoring: a key of ``SCORINGS``.
        threads: threads of a forward pass.

    Raises InputError where torch finds no GPU for the model, or where the model cannot be loaded.
    """
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True, warn_only=True)
    if source.device == "cuda" and not torch.cuda.is_available():
        raise InputError(
            f"{source.location}: the job needs a GPU, but torch finds none; request a node with one, or set "
            "`gpus: 0` in the model catalogue to run on the CPU"
        )
    return load_scorer(family, scoring, source)


def predict(
    scorer: Scorer, question: Question, variants: Sequence[Sequence[Pixels]]
) -> tuple[OptionScores, bool]:
    """Return the scores of a unit, and whether it was split to fit into the device's memory.

    ``variants``: the question's images, uint8[H, W, 3] each, in V variants of any sizes. There is one forward
    pass per size, so that nothing is padded; few corruptions change an image's size. Raises ModelError
    where a single variant does not fit, and where the scorer does.
    """
    sizes: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for position, images in enumerate(variants):
        sizes.setdefault(tuple(image.shape for image in images), []).append(position)
    if len(sizes) == 1:
        return _score(scorer, question, variants)
    groups = [
        _score(scorer, question, [variants[position] for position in group]) for group in sizes.values()
    ]
    order = np.argsort(np.concatenate(list(sizes.values())))
    logits = np.concatenate([scores.logits for scores, _ in groups])[order]
    mass = np.concatenate([scores.label_mass for scores, _ in groups])[order]
    return OptionScores(logits, mass), any(split for _, split in groups)


def _score(
    scorer: Scorer, question: Question, variants: Sequence[Sequence[Pixels]]
) -> tuple[OptionScores, bool]:
    """Return the scores of variants of one size, and whether they had to be split."""
    try:
        return scorer.score(question, variants), False
    except torch.OutOfMemoryError as error:
        if len(variants) == 1:
            raise ModelError(
                f"{scorer.identity()['model']}: a single variant of its images does not fit into the memory "
                "of the GPU; in the model catalogue, lower what bounds the size of images in `processor` "
                "(max_pixels, max_patches, ...), or set `dtype: bfloat16`, or use a larger GPU"
            ) from error
    torch.cuda.empty_cache()
    middle = len(variants) // 2
    halves = [_score(scorer, question, part)[0] for part in (variants[:middle], variants[middle:])]
    logits, mass = (np.concatenate(parts) for parts in zip(*halves, strict=True))
    return OptionScores(logits, mass), True
