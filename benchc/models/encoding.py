"""From a rendered prompt and images to the tensors that a model of transformers reads."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import torch
from PIL import Image

from benchc.pixels import Pixels

Inputs = Mapping[str, Any]


@dataclass(frozen=True)
class Encoded:
    """The input of V variants of one prompt, with images of the same sizes.

    Attributes:
        prompt: the rendered prompt.
        sizes: height and width of each image of a variant.
        rows: V.
        inputs: tensors in the memory of the host.
        independent: whether the first axis of each tensor has the variants one after another.
    """

    prompt: str
    sizes: tuple[tuple[int, ...], ...]
    rows: int
    inputs: Inputs
    independent: bool

    @property
    def nbytes(self) -> int:
        """The bytes of the tensors."""
        return sum(value.nbytes for value in self.inputs.values() if isinstance(value, torch.Tensor))

    @property
    def tokens(self) -> int:
        """The tokens of a variant's prompt, placeholders of images included."""
        return int(self.inputs["input_ids"].shape[1]) if "input_ids" in self.inputs else 0

    def pinned(self) -> "Encoded":
        """Return the input in pages that stay in memory, from which a GPU copies while the host goes on."""
        return replace(self, inputs={name: value.pin_memory() for name, value in self.inputs.items()})


class VariantGroup(NamedTuple):
    """Some of a unit's variants, whose images have the same sizes. ``positions``: among the variants."""

    positions: Sequence[int]
    encoded: Encoded


def joined(groups: Sequence[Encoded]) -> Encoded:
    """Return the variants of several independent inputs with one prompt and one list of sizes."""
    first = groups[0]
    if len(groups) == 1:
        return first
    inputs = {name: torch.cat([group.inputs[name] for group in groups]) for name in first.inputs}
    return replace(first, rows=sum(group.rows for group in groups), inputs=inputs)


def sizes_of(images: Sequence[Pixels]) -> tuple[tuple[int, ...], ...]:
    """Return height and width of each image of a variant."""
    return tuple(image.shape[:2] for image in images)


@dataclass
class PromptEncoder:
    """A processor of transformers that does once for all variants of an item what is the same for all.

    Placeholders and tokens depend on the prompt and the sizes of the images. The processor is called with
    one variant; for the others, and for further variants with this prompt and these sizes, only the image
    processor is called, as the processor called it. For the first variants of each number of images, the
    result is compared with that of the processor for all of them, which is used from then on if they differ:
    some processors pack the images of a batch.
    """

    processor: Any
    _last: "_Split | None" = None
    # By number of images, whether the variants of a batch are independent of each other.
    _independent: dict[int, bool] = field(default_factory=dict)

    def encode(self, prompt: str, variants: Sequence[Sequence[Pixels]]) -> dict[str, Any]:
        """Return the tensors of all variants, whose images have the same sizes."""
        key = prompt, sizes_of(variants[0])
        images = [[Image.fromarray(pixels) for pixels in variant] for variant in variants]
        independent = self._independent.get(len(images[0]))
        if independent is False or (independent is None and len(images) == 1):
            return self._called(prompt, images)
        found = self._separately(key, images)
        if independent is None:
            whole = self._called(prompt, images)
            self._independent[len(images[0])] = found is not None and _equal(found, whole)
            return whole
        return self._called(prompt, images) if found is None else found

    def independent(self, images: int) -> bool:
        """Return whether the tensors of several variants are those of each, one after another."""
        return self._independent.get(images, False)

    def _separately(self, key: "_Key", images: list[list[Image.Image]]) -> dict[str, Any] | None:
        """Return the tensors of variants, encoded with one call of the processor; None where it cannot."""
        if self._last is not None and self._last.key == key:
            return self._last.inputs(images)
        recorder = _Recorder(self.processor.image_processor)
        self.processor.image_processor = recorder
        try:
            first = self._called(key[0], images[:1])
        finally:
            self.processor.image_processor = recorder.image_processor
        self._last = recorder.split(key, first)
        if self._last is None or len(images) == 1:
            return None if self._last is None else first
        rest = self._last.inputs(images[1:])
        if any(value.shape[1:] != rest[name].shape[1:] for name, value in first.items()):
            return None
        return {name: torch.cat([value, rest[name]]) for name, value in first.items()}

    def _called(self, prompt: str, images: list[list[Image.Image]]) -> dict[str, Any]:
        # Processors take an empty list for a mistake.
        given = images if images[0] else None
        # As `apply_chat_template(tokenize=True)` of transformers: a tokenizer that adds a BOS token would add
        # a second one to that of the chat template, but it must add one that the template lacks.
        bos = getattr(self.processor.tokenizer, "bos_token", None)
        options = {"add_special_tokens": False} if bos is not None and prompt.startswith(bos) else {}
        return dict(self.processor(text=[prompt] * len(images), images=given, return_tensors="pt", **options))


_Key = tuple[str, tuple[tuple[int, ...], ...]]  # a prompt, and the sizes of a variant's images


def _equal(inputs: Inputs, others: Inputs) -> bool:
    return inputs.keys() == others.keys() and all(
        value.dtype == others[name].dtype and torch.equal(value, others[name])
        for name, value in inputs.items()
    )


@dataclass(frozen=True)
class _Split:
    """How a processor calls its image processor, and the tensors of one variant that are not of images."""

    key: _Key
    image_processor: Any
    nested: bool
    options: Mapping[str, Any]
    text: Mapping[str, torch.Tensor]
    names: Sequence[str]

    def inputs(self, images: list[list[Image.Image]]) -> dict[str, Any]:
        given = images if self.nested else [image for variant in images for image in variant]
        found = self.image_processor(given, **self.options)
        repeated = {name: torch.cat([value] * len(images)) for name, value in self.text.items()}
        return repeated | {name: found[name] for name in self.names}


class _Recorder:
    """An image processor that remembers how it was called and what it returned."""

    def __init__(self, image_processor: Any) -> None:
        self.image_processor = image_processor
        self._calls: list[tuple[Any, Mapping[str, Any], Any]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.image_processor, name)

    def __call__(self, images: Any, **options: Any) -> Any:
        found = self.image_processor(images, **options)
        # A copy: some processors change what they get. An IDEFICS gets a tensor.
        self._calls.append((images, options, dict(found) if isinstance(found, Mapping) else {}))
        return found

    def split(self, key: Any, inputs: Inputs) -> _Split | None:
        """Return how further variants are encoded; None unless the call explains the tensors of images."""
        if len(self._calls) != 1:
            return None
        images, options, found = self._calls[0]
        names = [name for name in inputs if name in found]
        text = {name: value for name, value in inputs.items() if name not in found}
        explained = all(
            isinstance(found[name], torch.Tensor) and torch.equal(found[name], inputs[name]) for name in names
        )
        tensors = all(isinstance(value, torch.Tensor) for value in text.values())
        if not names or not explained or not tensors or not isinstance(images, list):
            return None
        nested = isinstance(images[0], list)
        return _Split(key, self.image_processor, nested, options, text, names)
