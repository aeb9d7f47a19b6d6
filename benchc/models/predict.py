"""From prompt and pixels to logits or answers: loading a model, and asking it about a unit.

The prediction cache keeps a prediction as long as the code of this module, of all that it imports, and of
the modules of the model's family and scoring is the same. Whatever decides a number is therefore reached from
here, and bookkeeping (cache, progress, files, arguments) is not: its edits would drop all cached predictions.
"""

import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import torch

from benchc.errors import InputError
from benchc.models.encoding import Encoded, VariantGroup, joined, sizes_of
from benchc.models.generation import Generation
from benchc.models.gpus import taken_gpus
from benchc.models.load import load_classifier, load_generator, load_scorer
from benchc.models.local import Generative, ModelInterface, Scorer
from benchc.models.protocol import (
    CheckpointSource,
    ModelError,
    NoTextOnlyError,
    OptionScores,
    Reply,
    UnitInput,
    Variants,
)
from benchc.models.question import Question
from benchc.models.units_together import UnitsTogether
from benchc.pluralize import pluralize

Row = TypeVar("Row", bound=tuple[Any, ...])

# Rows times tokens of a prompt. A larger pass is not faster on one core (docs/benchmarks.md).
TOKENS_PER_PASS = 1024
# Of models with other bits, at least 15 % of passes had them (docs/benchmarks.md).
CHECKED_PASSES = 64


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


def load_classifying(source: CheckpointSource, family: str | None, threads: int = 1) -> Generative:
    """Return a loaded model that answers from a closed list; as :func:`load_model`."""
    _prepare(source, threads)
    return load_classifier(family, source)


class Passes:
    """Which units of a question pass through the model together, so that a small model fills its device.

    ``together``: "never"; "always"; or "if_equal", where this changes no bit of what is stored: the first
    ``CHECKED_PASSES`` passes are repeated unit by unit, and after one difference all units pass alone. On a
    CPU, some models have equal bits in all passes, and others in most. ``checked``: the passes that were
    repeated; ``differ``: whether one had other bits.
    """

    def __init__(self, together: UnitsTogether = "never") -> None:
        self.together = together
        self.differ = False
        self.checked = 0

    def of(self, groups: Sequence[Encoded]) -> Iterator[slice]:
        """Yield consecutive independent groups with one prompt and one list of sizes that pass together."""
        start = rows = 0
        for place, group in enumerate(groups):
            # Products with one row take another routine of most libraries, with other last bits.
            alone = self.together != "always" and (
                self.together == "never" or self.differ or 1 in (group.rows, groups[start].rows)
            )
            if place > start and (alone or (rows + group.rows) * group.tokens > TOKENS_PER_PASS):
                yield slice(start, place)
                start, rows = place, 0
            rows += group.rows
        yield slice(start, len(groups))

    def must_check(self) -> bool:
        """Return whether the next pass is to be compared with its units alone."""
        if self.together == "always" or self.checked == CHECKED_PASSES:
            return False
        self.checked += 1
        return True


def predict(scorer: Scorer, question: Question, variants: Variants) -> tuple[OptionScores, bool]:
    """Return the scores of a unit, and whether it was split to fit into the device's memory.

    ``variants``: the question's images, uint8[H, W, 3] each, in V variants of any sizes. There is one forward
    pass per size, so that nothing is padded; few corruptions change an image's size. Raises ModelError
    where a single variant does not fit, and where the scorer does.
    """
    return predict_units(scorer, question, [UnitInput(variants)], Passes())[0]


def predict_units(
    scorer: Scorer, question: Question, units: Sequence[UnitInput], passes: Passes
) -> list[tuple[OptionScores, bool]]:
    """Return :func:`predict` of each of several units of a question, which may pass together."""

    def ask(encoded: Encoded) -> list[tuple[Any, Any]]:
        return list(zip(*scorer.ask(question, encoded), strict=True))

    found = UnitRunner(scorer, ask, question, units, passes).run()
    return [(OptionScores(*map(np.stack, zip(*rows, strict=True))), split) for rows, split in found]


def answer_units(
    model: Generative, question: Question, units: Sequence[UnitInput], passes: Passes
) -> list[tuple[list[Reply], bool]]:
    """Return the answers of each unit, and whether it was split; as :func:`predict_units`."""
    return UnitRunner(model, lambda encoded: model.ask(question, encoded), question, units, passes).run()


def encoded_groups(model: ModelInterface, question: Question, variants: Variants) -> Iterator[VariantGroup]:
    """Yield a unit's variants as input of the model, those of equal sizes in one group."""
    sizes: dict[object, list[int]] = {}
    for position, images in enumerate(variants):
        sizes.setdefault(sizes_of(images), []).append(position)
    for positions in sizes.values():
        yield VariantGroup(positions, model.encode(question, [variants[position] for position in positions]))


def _prepare(source: CheckpointSource, threads: int) -> None:
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True, warn_only=True)
    # It fills new memory with NaN, for programs that read memory which they did not write.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    if source.device == "cuda" and not torch.cuda.is_available():
        raise InputError(
            f"{source.location}: the job needs a GPU, but torch finds none; request a node with one, or set "
            "`gpus: 0` in the model catalogue to run on the CPU"
        )
    if source.device == "cuda" and (found := torch.cuda.device_count()) < source.gpus:
        raise InputError(
            f"{source.location}: the job needs {source.gpus} GPUs, but torch finds {found}; "
            "request a node with them, or lower `gpus` in the model catalogue"
        )
    if source.device == "cuda":
        torch.cuda.set_device(taken_gpus(source.gpus)[0])


Found = tuple[list[Row], bool]  # of each variant, and whether a unit had to be split


@dataclass(frozen=True)
class UnitRunner(Generic[Row]):
    """A model that is asked about units of one question. ``ask``: returns what it says of each variant."""

    model: ModelInterface
    ask: Callable[[Encoded], list[Row]]
    question: Question
    units: Sequence[UnitInput]
    passes: Passes

    def run(self) -> list[Found[Row]]:
        """Return what the model says of each variant of each unit."""
        rows: list[dict[int, Row]] = [{} for _ in self.units]
        splits = [False] * len(self.units)

        def keep(number: int, group: VariantGroup, found: Found[Row]) -> None:
            rows[number].update(zip(group.positions, found[0], strict=True))
            splits[number] |= found[1]

        waiting: dict[object, list[tuple[int, VariantGroup]]] = {}
        for number, unit in enumerate(self.units):
            for group in unit.groups or encoded_groups(self.model, self.question, unit.variants):
                if group.encoded.independent:
                    waiting.setdefault(group.encoded.sizes, []).append((number, group))
                else:  # at once, since a model's own code may keep the input of one group only
                    keep(number, group, self._alone(number, group))
        for members in waiting.values():
            for span in self.passes.of([group.encoded for _, group in members]):
                for member, found in zip(members[span], self._together(members[span]), strict=True):
                    keep(*member, found)
        ordered = ([each[place] for place in sorted(each)] for each in rows)
        return list(zip(ordered, splits, strict=True))

    def _together(self, members: Sequence[tuple[int, VariantGroup]]) -> list[Found[Row]]:
        """Return what the model says of each group of one pass."""
        if len(members) == 1:
            return [self._alone(*members[0])]
        whole = joined([group.encoded for _, group in members])
        try:
            rows = iter(self._asked(whole))
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            return [self._alone(*member) for member in members]
        found = [(list(islice(rows, group.encoded.rows)), False) for _, group in members]
        if self.passes.must_check():
            alone = [self._alone(*member) for member in members]
            self.passes.differ |= _bits(found) != _bits(alone)
            return alone
        return found

    def _alone(self, number: int, group: VariantGroup) -> Found[Row]:
        """Return what the model says of a group of a unit, in halves where the memory does not suffice."""
        try:
            return self._asked(group.encoded), False
        except torch.OutOfMemoryError as error:
            if len(group.positions) == 1:
                raise ModelError(
                    f"{self.model.identity()['model']}: a single variant of its images does not fit into the "
                    "memory of the GPU; in the model catalogue, lower what bounds the size of images in "
                    "`processor` (max_pixels, max_patches, ...), or set `dtype: bfloat16`, or use a larger "
                    "GPU"
                ) from error
        torch.cuda.empty_cache()
        middle = len(group.positions) // 2
        rows: list[Row] = []
        for half in (group.positions[:middle], group.positions[middle:]):
            variants = [self.units[number].variants[position] for position in half]
            rows += self._alone(number, VariantGroup(half, self.model.encode(self.question, variants)))[0]
        return rows, True

    def _asked(self, encoded: Encoded) -> list[Row]:
        """Return what the model says; raises ModelError where its forward pass fails."""
        try:
            return self.ask(encoded)
        except (torch.OutOfMemoryError, ModelError):
            raise
        except Exception as error:  # code of many models, and of their authors
            last = traceback.extract_tb(error.__traceback__)[-1]
            reason = (
                f"({type(error).__name__}: {' '.join(str(error).split())}, {Path(last.filename).name} line "
                f"{last.lineno})"
            )
            if not encoded.sizes:
                raise NoTextOnlyError(f"the model takes no prompt without an image {reason}") from error
            raise ModelError(
                f"{self.model.identity()['model']}: fails on a prompt of {encoded.tokens} tokens with "
                f"{pluralize(len(encoded.sizes), 'image')} {reason}; remove the item if others pass, else "
                "choose another revision or version of transformers, or a server"
            ) from error


def _bits(found: Sequence[Found[Row]]) -> list[object]:
    """Return what is compared: the bits of numbers, which tell 0.0 from -0.0, and all else as it is."""
    return [
        value.tobytes() if isinstance(value, np.ndarray | np.generic) else value
        for rows, _ in found
        for row in rows
        for value in row
    ]
