"""Variants are encoded as by one call of their processor; test_encoding_by_processors.py has real ones."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from benchc.models.encoding import Encoded, PromptEncoder, VariantGroup, joined, sizes_of


class ImageProcessor:
    """Takes images, or lists of them, of one size; returns their first pixels."""

    size = "known"

    def __init__(self) -> None:
        self.calls: list[int] = []

    def __call__(self, images: list[Any], *, scale: int) -> dict[str, Any]:
        flat = [image for each in images for image in (each if isinstance(each, list) else [each])]
        self.calls.append(len(flat))
        return {"pixels": torch.tensor([[scale * image.getpixel((0, 0))[0]] for image in flat])}


class Processor:
    """Writes a token for each letter of the prompt, and one for each pixel of a column of its images.

    ``nested``: whether its image processor gets the images of each prompt as a list; ``more``: what is added
    to its tensors, by the number of prompts.
    """

    def __init__(self, *, nested: bool, more: Any = None, bos: str | None = "<") -> None:
        self.image_processor: Any = ImageProcessor()
        self.tokenizer = SimpleNamespace(bos_token=bos)
        self.nested, self.more = nested, more
        self.calls: list[tuple[int, dict[str, Any]]] = []

    def __call__(self, text: list[str], images: Any, return_tensors: str, **options: Any) -> dict[str, Any]:
        assert return_tensors == "pt" and self.image_processor.size == "known"
        self.calls.append((len(text), options))
        rows = [[*map(ord, prompt)] for prompt in text]
        found: dict[str, Any] = {}
        if images is not None:
            rows = [
                [*row, *[7] * sum(image.height for image in each)]
                for row, each in zip(rows, images, strict=True)
            ]
            given = images if self.nested else [image for each in images for image in each]
            found = dict(self.image_processor(given, scale=2))
        found["input_ids"] = torch.tensor(rows)
        return found | (self.more(len(text)) if self.more else {})


def variants(count: int, images: int = 1, height: int = 3, first: int = 0) -> list[list[Any]]:
    values = iter(range(first, first + count * images))
    return [[np.full((height, 2, 3), next(values), np.uint8) for _ in range(images)] for _ in range(count)]


def ids(prompt: str, images: int = 1, height: int = 3) -> list[int]:
    return [*map(ord, prompt), *[7] * (images * height)]


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("images", [1, 2])
def test_a_prompt_is_encoded_once_for_all_variants_of_its_sizes(nested, images):
    processor = Processor(nested=nested)
    encoder, image_processor = PromptEncoder(processor), processor.image_processor

    def encoded(prompt: str, count: int, height: int = 3, first: int = 0) -> list[int]:
        """Encode; return how many prompts the processor was called with."""
        before = len(processor.calls)
        found = encoder.encode(prompt, variants(count, images, height, first))
        assert found.keys() == {"input_ids", "pixels"}
        assert found["input_ids"].tolist() == [ids(prompt, images, height)] * count
        values = range(2 * first, 2 * (first + count * images), 2)
        assert found["pixels"].flatten().tolist() == [*values]
        assert processor.image_processor is image_processor
        return [prompts for prompts, _ in processor.calls[before:]]

    # One variant alone tells nothing of a batch.
    assert encoded("a", 1) == [1] and not encoder.independent(images)
    # Compared once with a call for all.
    assert encoded("a", 3, first=5) == [1, 3] and encoder.independent(images)
    image_processor.calls.clear()
    assert encoded("a", 4, first=9) == [] and image_processor.calls == [4 * images]
    assert encoded("a", 1, first=20) == []
    assert encoded("b", 2) == [1]
    assert encoded("b", 2, height=4) == [1]
    assert encoded("b", 1, height=5) == [1]
    assert encoded("b", 2, height=4) == [1]
    assert encoded("a", 2, height=4) == [1]
    # Of another number of images, nothing is known.
    assert not encoder.independent(images + 1)


OF_A_BATCH = {
    "counts rows": lambda rows: {"places": torch.arange(rows)},
    "of another type": lambda rows: {
        "mask": torch.ones(rows, 2, dtype=torch.int if rows == 1 else torch.long)
    },
    "of another width": lambda rows: {"mask": torch.ones(rows, 1 + (rows > 1))},
    "none alone": lambda rows: {"mask": torch.ones(rows)} if rows > 1 else {},
    "alone only": lambda rows: {"mask": torch.ones(rows)} if rows == 1 else {},
    "no tensor": lambda rows: {"names": ["a"] * rows},
    "other pixels": lambda rows: {"pixels": torch.full((rows, 1), 99)},
}


@pytest.mark.parametrize("more", OF_A_BATCH)
def test_a_processor_of_which_a_batch_is_not_its_rows_is_called_for_all(more):
    processor = Processor(nested=True, more=OF_A_BATCH[more])
    encoder = PromptEncoder(processor)
    for count in (3, 2, 1):
        plain = Processor(nested=True, more=OF_A_BATCH[more])
        pictures = variants(count)
        found = encoder.encode("a", pictures)
        expected = PromptEncoder(plain)._called(
            "a", [[_image(each) for each in images] for images in pictures]
        )
        assert found.keys() == expected.keys()
        for name, value in found.items():
            same = torch.equal if isinstance(value, torch.Tensor) else list.__eq__
            assert same(value, expected[name]) and getattr(value, "dtype", 0) == getattr(
                expected[name], "dtype", 0
            )
    assert not encoder.independent(1)
    assert [rows for rows, _ in processor.calls] == [1, 3, 2, 1]


def _image(pixels: Any) -> Any:
    from PIL import Image

    return Image.fromarray(pixels)


def test_images_that_are_padded_to_the_largest_of_a_call_are_encoded_together():
    class Padding(ImageProcessor):
        def __call__(self, images: list[Any], *, scale: int) -> dict[str, Any]:
            values = super().__call__(images, scale=scale)["pixels"]
            return {"pixels": torch.nn.functional.pad(values, (0, int(values.max())))}

    processor = Processor(nested=True)
    processor.image_processor = Padding()
    # The first is the smallest, or the largest.
    for first, step in ((0, 1), (5, 1), (0, -1)):
        encoder = PromptEncoder(processor)
        pixels = encoder.encode("a", variants(3, first=first)[::step])["pixels"]
        assert pixels[:, 0].tolist() == [2 * first, 2 * first + 2, 2 * first + 4][::step]
        assert pixels.shape == (3, 1 + 2 * first + 4)
        assert not encoder.independent(1)


def test_an_image_processor_that_is_called_twice_or_never_is_not_called_alone():
    class Twice(Processor):
        def __call__(
            self, text: list[str], images: Any, return_tensors: str, **options: Any
        ) -> dict[str, Any]:
            self.image_processor([each[0] for each in images], scale=2)
            return super().__call__(text, images, return_tensors, **options)

    for kind, images in ((Twice, 1), (Processor, 0)):
        processor = kind(nested=True)
        encoder = PromptEncoder(processor)
        for count in (2, 2):
            found = encoder.encode("a", variants(count, images))
            assert found["input_ids"].tolist() == [ids("a", images)] * count
        assert not encoder.independent(images)
        assert [rows for rows, _ in processor.calls] == [1, 2, 2]


class AsTensor(ImageProcessor):
    """Returns no mapping, as that of an IDEFICS."""

    def __call__(self, images: list[Any], *, scale: int) -> Any:
        return super().__call__(images, scale=scale)["pixels"]


def test_of_an_image_processor_that_returns_no_mapping_nothing_is_concluded():
    class Other(Processor):
        def __call__(self, text, images, return_tensors, **options):
            found = {"pixels": self.image_processor([each[0] for each in images], scale=2)}
            return super().__call__(text, None, return_tensors, **options) | found

    processor = Other(nested=False)
    processor.image_processor = AsTensor()
    encoder = PromptEncoder(processor)
    # Equal variants at first, then others.
    for images, values in ((variants(1) * 2, [0, 0]), (variants(2), [0, 2])):
        assert encoder.encode("a", images)["pixels"].flatten().tolist() == values
        assert not encoder.independent(1)


def test_what_changes_with_the_prompt_is_noticed_after_the_first_comparison():
    processor = Processor(nested=True)
    encoder = PromptEncoder(processor)
    encoder.encode("a", variants(2))
    assert encoder.independent(1)
    processor.more = OF_A_BATCH["other pixels"]
    for prompts in (1, 2):
        found = encoder.encode("b", variants(2))
        assert found["pixels"].flatten().tolist() == [99, 99]
        assert processor.calls[-1][0] == 2 and len(processor.calls) == 2 + 2 * prompts


def test_a_processor_that_fails_keeps_its_image_processor():
    processor = Processor(nested=True)
    before = processor.image_processor
    processor.more = lambda _: 1 / 0
    with pytest.raises(ZeroDivisionError):
        PromptEncoder(processor).encode("a", variants(2))
    assert processor.image_processor is before


@pytest.mark.parametrize(
    ("bos", "prompt", "options"),
    [
        ("<", "<a", {"add_special_tokens": False}),
        ("<", "a<", {}),
        (None, "<a", {}),
    ],
)
def test_special_tokens_are_added_unless_the_prompt_begins_with_one(bos, prompt, options):
    processor = Processor(nested=True, bos=bos)
    PromptEncoder(processor).encode(prompt, variants(1))
    assert processor.calls == [(1, options)]
    del processor.tokenizer.bos_token
    PromptEncoder(processor).encode(prompt, variants(1))
    assert processor.calls[1:] == [(1, {})]


def test_images_of_another_height_or_width_are_of_another_size():
    images = [np.zeros((*size, 3), np.uint8) for size in ((3, 2), (3, 4), (5, 2))]
    assert sizes_of(images) == ((3, 2), (3, 4), (5, 2))


def test_units_are_joined_row_by_row():
    def encoded(*values: int) -> Encoded:
        inputs = {"input_ids": torch.tensor([[value, 0] for value in values])}
        return Encoded("a", ((3, 2),), len(values), inputs, independent=True)

    first, second = encoded(1, 2), encoded(3)
    assert joined([first]) is first
    whole = joined([first, second])
    assert whole.inputs["input_ids"][:, 0].tolist() == [1, 2, 3]
    assert (whole.rows, whole.tokens, whole.nbytes, whole.independent) == (3, 2, 48, True)
    assert Encoded("a", (), 1, {"names": "b"}, independent=False).nbytes == 0
    assert Encoded("a", (), 1, {"names": "b"}, independent=False).tokens == 0
    assert VariantGroup([0], first).encoded is first
