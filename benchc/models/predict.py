"""From prompt and pixels to logits or answers: loading a model, and asking it about a unit.

The prediction cache keeps a prediction as long as the code of this module, of all that it imports, and of
the modules of the model's family and scoring is the same. Whatever decides a number is therefore reached from
here, and bookkeeping (cache, progress, files, arguments) is not: its edits would drop all cached predictions.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import torch

from benchc.errors import InputError
from benchc.models.generation import Generation
from benchc.models.protocol import (
    Asked,
    CheckpointSource,
    Generative,
    ModelError,
    OptionScores,
    Reply,
    Scorer,
)
from benchc.models.question import Question
from benchc.models.registry import load_generator, load_scorer
from benchc.pixels import Pixels

Variants = Sequence[Sequence[Pixels]]
Row = TypeVar("Row")


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
    _prepare(source, threads)
    return load_scorer(family, scoring, source)


def load_generative(
    source: CheckpointSource, family: str | None, generation: Generation, threads: int = 1
) -> Generative:
    """Return a loaded model that answers in its own words; arguments and errors as for :func:`load_model`."""
    _prepare(source, threads)
    return load_generator(family, source, generation)


def predict(scorer: Scorer, question: Question, variants: Variants) -> tuple[OptionScores, bool]:
    """Return the scores of a unit, and whether it was split to fit into the device's memory.

    ``variants``: the question's images, uint8[H, W, 3] each, in V variants of any sizes. There is one forward
    pass per size, so that nothing is padded; few corruptions change an image's size. Raises ModelError
    where a single variant does not fit, and where the scorer does.
    """
    rows, split = _by_size(
        scorer, lambda part: list(zip(*scorer.score(question, part), strict=True)), variants
    )
    logits, mass = zip(*rows, strict=True)
    return OptionScores(np.stack(logits), np.stack(mass)), split


def answer(model: Generative, question: Question, variants: Variants) -> tuple[list[Reply], bool]:
    """Return the answer under each variant, and whether the unit was split; as :func:`predict`."""
    return _by_size(model, lambda part: model.replies(question, part), variants)


def _prepare(source: CheckpointSource, threads: int) -> None:
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True, warn_only=True)
    if source.device == "cuda" and not torch.cuda.is_available():
        raise InputError(
            f"{source.location}: the job needs a GPU, but torch finds none; request a node with one, or set "
            "`gpus: 0` in the model catalogue to run on the CPU"
        )


def _by_size(
    model: Asked, ask: Callable[[Variants], list[Row]], variants: Variants
) -> tuple[list[Row], bool]:
    """Return what ``ask`` returns for each variant, asked by size, and whether one had to be split."""
    sizes: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for position, images in enumerate(variants):
        sizes.setdefault(tuple(image.shape for image in images), []).append(position)
    found: dict[int, Row] = {}
    any_split = False
    for group in sizes.values():
        rows, split = _in_parts(model, ask, [variants[position] for position in group])
        found.update(zip(group, rows, strict=True))
        any_split |= split
    return [found[position] for position in range(len(variants))], any_split


def _in_parts(
    model: Asked, ask: Callable[[Variants], list[Row]], variants: Variants
) -> tuple[list[Row], bool]:
    """Return what ``ask`` returns for variants of one size, and whether they had to be split."""
    try:
        return ask(variants), False
    except torch.OutOfMemoryError as error:
        if len(variants) == 1:
            raise ModelError(
                f"{model.identity()['model']}: a single variant of its images does not fit into the memory "
                "of the GPU; in the model catalogue, lower what bounds the size of images in `processor` "
                "(max_pixels, max_patches, ...), or set `dtype: bfloat16`, or use a larger GPU"
            ) from error
    torch.cuda.empty_cache()
    middle = len(variants) // 2
    halves = (_in_parts(model, ask, part)[0] for part in (variants[:middle], variants[middle:]))
    return [row for half in halves for row in half], True
