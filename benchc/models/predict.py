"""From prompt and pixels to logits or answers: loading a model, and asking it about a unit.

The prediction cache keeps a prediction as long as the code of this module, of all that it imports, and of
the modules of the model's family and scoring is the same. Whatever decides a number is therefore reached from
here, and bookkeeping (cache, progress, files, arguments) is not: its edits would drop all cached predictions.
"""

import gc
import traceback
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import torch

from benchc.errors import InputError
from benchc.models.encoding import Encoded, VariantGroup, joined, sizes_of
from benchc.models.generation import Generation
from benchc.models.gpu_memory import enough_memory, is_out_of_memory
from benchc.models.load import load_classifier, load_generator, load_scorer
from benchc.models.local import Generative, ModelInterface, Numbers, Scorer
from benchc.models.pass_limit import PassLimit
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
from benchc.models.tf32 import forbid_tf32
from benchc.models.torch_build import only_for_cpu
from benchc.models.units_together import UnitsTogether
from benchc.pluralize import pluralize

Row = TypeVar("Row", bound=tuple[Any, ...])

# Of models with other bits, at least 15 % of passes had them (docs/benchmarks.md).
CHECKED_PASSES = 64
# Steps of a precision, at the largest number, by which a variant alone may differ. The tested classes of
# transformers differ by far fewer, and hunyuan_vl, which counts images across variants, by far more.
ROUNDINGS = 256


def load_model(source: CheckpointSource, family: str | None, scoring: str, threads: int = 1) -> Scorer:
    """Return a loaded model with its scoring.

    Sets torch's number of threads and deterministic algorithms for the process, and switches off TF32.

    Args:
        source: the checkpoint.
        family: a family of models (docs/models.md); None for the class that config.json names.
        scoring: a key of ``SCORINGS``.
        threads: threads of a forward pass.

    Raises InputError where torch finds no GPU for the model, or where the model cannot be loaded.
    """
    with _prepared(source, threads):
        return load_scorer(family, scoring, source)


def load_generative(
    source: CheckpointSource, family: str | None, generation: Generation, threads: int = 1
) -> Generative:
    """Return a loaded model that answers in its own words; arguments and errors as for :func:`load_model`."""
    with _prepared(source, threads):
        return load_generator(family, source, generation)


def load_classifying(source: CheckpointSource, family: str | None, threads: int = 1) -> Generative:
    """Return a loaded model that answers from a closed list; as :func:`load_model`."""
    with _prepared(source, threads):
        return load_classifier(family, source)


class Passes:
    """Which units of a question pass through the model together, so that a small model fills its device.

    ``together``: "never"; "always"; or "if_equal", where this changes no bit of what is stored: the first
    ``CHECKED_PASSES`` passes are repeated unit by unit, and after one difference all units pass alone. On a
    CPU, some models have equal bits in all passes, and others in most. ``checked``: the passes that were
    repeated; ``differ``: whether one had other bits. ``limit``: how large a pass may be; default: a CPU's.
    """

    def __init__(self, together: UnitsTogether = "never", limit: PassLimit | None = None) -> None:
        self.together = together
        self.limit = limit or PassLimit()
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
            if place > start and (alone or (rows + group.rows) * group.tokens > self.limit.most):
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


def batch_difference(model: ModelInterface, question: Question, variants: Variants) -> float:
    """Return how far a model's numbers of a variant depend on those that pass with it; 0 if by rounding.

    ``variants`` of a question's images pass together, in the other order, and one by one; a single one with
    its mirror image. The other order has the same shapes, so that no precision rounds otherwise: its numbers
    are compared as those of float32. Alone, they are compared as those of the model's precision. Returns 0
    where the model cannot be asked about the variants, which the run then says.
    """
    if not variants[0]:
        return 0.0
    if len(variants) == 1:
        variants = [variants[0], [np.ascontiguousarray(image[:, ::-1]) for image in variants[0]]]
    try:
        together, backwards = (_numbers(model, question, each) for each in (variants, variants[::-1]))
        alone = [row for images in variants for row in _numbers(model, question, [images])]
    except ModelError:
        return 0.0
    precision = getattr(torch, model.identity()["dtype"])
    others = [(backwards[::-1], torch.float32), (alone, precision)]
    return max(_beyond_rounding(together, rows, dtype) for rows, dtype in others)


def _numbers(model: ModelInterface, question: Question, variants: Variants) -> list[Numbers]:
    def ask(encoded: Encoded) -> list[tuple[Numbers]]:
        return [(row,) for row in model.numbers(question, encoded)]

    [(rows, _)] = UnitRunner(model, ask, question, [UnitInput(variants)], Passes()).run()
    return [row for (row,) in rows]


def _beyond_rounding(rows: Sequence[Numbers], others: Sequence[Numbers], dtype: torch.dtype) -> float:
    """Return the largest difference of two rows; 0 where rounding in ``dtype`` explains it."""
    pairs = [(np.abs(row - other).max(), np.abs(row).max()) for row, other in zip(rows, others, strict=True)]
    step = ROUNDINGS * torch.finfo(dtype).eps
    return (
        max(float(difference) for difference, _ in pairs)
        if any(difference > step * max(1.0, largest) for difference, largest in pairs)
        else 0.0
    )


def encoded_groups(model: ModelInterface, question: Question, variants: Variants) -> Iterator[VariantGroup]:
    """Yield a unit's variants as input of the model, those that pass together in one group."""
    for positions in _passing_together(model, variants):
        yield VariantGroup(positions, model.encode(question, [variants[position] for position in positions]))


def _passing_together(model: ModelInterface, variants: Variants) -> Collection[list[int]]:
    """Return the positions of the variants, those of equal sizes together; each alone if ``one_by_one``."""
    found: dict[object, list[int]] = {}
    for position, images in enumerate(variants):
        found.setdefault(position if model.one_by_one else sizes_of(images), []).append(position)
    return found.values()


@contextmanager
def _prepared(source: CheckpointSource, threads: int) -> Iterator[None]:
    """Set up torch for a model that the block loads."""
    torch.set_num_threads(threads)
    # Not use_deterministic_algorithms, which imports torch's compiler: two seconds of each job.
    torch.set_deterministic_debug_mode("warn")
    # It fills new memory with NaN, for programs that read memory which they did not write.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    if source.device == "cuda" and not torch.cuda.is_available():
        if torch.backends.mps.is_available():
            raise InputError(
                f"{source.location}: the job needs a GPU of CUDA or ROCm, and torch finds one of Apple "
                "(MPS), which benchc does not use; set `gpus: 0` in the model catalogue to run on the CPU"
            )
        raise InputError(
            f"{source.location}: the job needs a GPU, but torch finds none{only_for_cpu()}; request a node "
            "with one, or set `gpus: 0` in the model catalogue to run on the CPU"
        )
    if source.device == "cuda" and (found := torch.cuda.device_count()) < source.gpus:
        raise InputError(
            f"{source.location}: the job needs {source.gpus} GPUs, but torch finds {found}; "
            "request a node with them, or lower `gpus` in the model catalogue"
        )
    with enough_memory(source):
        yield
    # After the code of a checkpoint was imported, which may allow it.
    forbid_tf32()


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

        def keep(number: int, positions: Sequence[int], found: Found[Row]) -> None:
            rows[number].update(zip(positions, found[0], strict=True))
            splits[number] |= found[1]

        waiting: dict[object, list[tuple[int, VariantGroup]]] = {}
        for number, unit in enumerate(self.units):
            if not self.model.encodes_on_host:
                for positions in _passing_together(self.model, unit.variants):
                    keep(number, positions, self._alone(number, positions))
                continue
            for group in unit.groups or encoded_groups(self.model, self.question, unit.variants):
                if group.encoded.independent:
                    waiting.setdefault(group.encoded.sizes, []).append((number, group))
                else:
                    keep(number, group.positions, self._alone(number, *group))
        for members in waiting.values():
            for span in self.passes.of([group.encoded for _, group in members]):
                for (number, group), found in zip(members[span], self._together(members[span]), strict=True):
                    keep(number, group.positions, found)
        ordered = ([each[place] for place in sorted(each)] for each in rows)
        return list(zip(ordered, splits, strict=True))

    def _together(self, members: Sequence[tuple[int, VariantGroup]]) -> list[Found[Row]]:
        """Return what the model says of each group of one pass."""
        if len(members) == 1:
            [(number, group)] = members
            return [self._alone(number, *group)]
        whole = joined([group.encoded for _, group in members])
        every = self._fitting(lambda: whole)
        if every is None:
            self.passes.limit.lower()
            return [self._alone(number, *group) for number, group in members]
        rows = iter(every)
        found = [(list(islice(rows, group.encoded.rows)), False) for _, group in members]
        if self.passes.must_check():
            alone = [self._alone(number, *group) for number, group in members]
            self.passes.differ |= _bits(found) != _bits(alone)
            return alone
        return found

    def _alone(self, number: int, positions: Sequence[int], encoded: Encoded | None = None) -> Found[Row]:
        """Return what the model says of variants of a unit, in halves where the memory does not suffice.

        ``encoded``: the variants, if they are in the memory of the host. What a model's own code encodes is
        on the device, where a reference to it would leave less for the halves.
        """
        variants = self.units[number].variants

        def encode() -> Encoded:
            return encoded or self.model.encode(self.question, [variants[each] for each in positions])

        rows = self._fitting(encode)
        if rows is not None:
            return rows, False
        if len(positions) == 1:
            identity = self.model.identity()
            lower = ", or set `dtype: bfloat16`" if identity["dtype"] == "float32" else ""
            raise ModelError(
                f"{identity['model']}: a single variant of its images does not fit into the memory of the "
                "GPU; in the model catalogue, lower what bounds the size of images in `processor` "
                f"(max_pixels, max_patches, ...){lower}, or use a larger GPU"
            )
        middle = len(positions) // 2
        halves = (positions[:middle], positions[middle:])
        return [row for half in halves for row in self._alone(number, half)[0]], True

    def _fitting(self, encode: Callable[[], Encoded]) -> list[Row] | None:
        """Return what the model says; None, with nothing left in the memory, where that is too small."""
        try:
            return self._asked(encode())
        except Exception as error:
            if not is_out_of_memory(error):
                raise
        # Only after the block: the error's traceback holds the frames of the pass, and so its activations.
        gc.collect()
        torch.cuda.empty_cache()
        return None

    def _asked(self, encoded: Encoded) -> list[Row]:
        """Return what the model says; raises ModelError where its forward pass fails."""
        try:
            with self.passes.limit.measured(encoded.rows * encoded.tokens):
                return self.ask(encoded)
        except ModelError:
            raise
        except Exception as error:  # code of many models, and of their authors
            if is_out_of_memory(error):
                raise
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
                "download the checkpoint again if its settings, tokenizer or processor were changed, or "
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
