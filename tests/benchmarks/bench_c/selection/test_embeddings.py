from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.bench_c.schemas.embeddings import EMBEDDINGS
from benchc.benchmarks.bench_c.selection.embeddings import (
    Vectors,
    embedded_text,
    embeddings_frame,
    image_vectors,
    text_vectors,
)
from benchc.errors import InputError
from benchc.images import encode_png
from benchc.models.question import Question
from benchc.pixels import Pixels
from benchc.schemas.items import IMAGE

RED, GREEN, GREY = (30, 0, 0), (0, 40, 0), (9, 9, 9)


class MeanColour:
    """Sees an image's mean colour, and nothing else."""

    name = "MeanColour"

    def encode(self, images: Iterable[Pixels]) -> Iterator[Vectors]:
        for image in images:
            yield image.mean(axis=(0, 1)).astype(np.float32)


class Letters:
    """Counts a and b in the first twelve characters of a text."""

    name = "Letters"

    def encode(self, texts: list[str]) -> Vectors:
        return np.array([[text[:12].count("a"), text[:12].count("b")] for text in texts], np.float32)

    def is_truncated(self, text: str) -> bool:
        return len(text) > 12


def plain_image(colour: tuple[int, int, int]) -> bytes:
    return encode_png(np.full((4, 6, 3), colour, np.uint8))


def items(*rows: tuple[str, str, list[bytes]]) -> pl.DataFrame:
    records = [
        (name, question, ["x", "y"], [{"bytes": data, "path": None} for data in images])
        for name, question, images in rows
    ]
    schema = {"id": pl.String, "question": pl.String, "options": pl.List(pl.String), "images": pl.List(IMAGE)}
    return pl.DataFrame(records, schema=schema, orient="row")


POOL = items(
    ("s/1", "aab", [plain_image(RED)]),
    ("s/2", "b", [plain_image(RED), plain_image(GREEN)]),
    ("s/3", "abbbb and more", [plain_image(GREY)]),
)


def test_an_item_is_the_normalised_mean_of_its_images_unit_vectors() -> None:
    found, backwards = (np.stack([*image_vectors(pool, MeanColour())]) for pool in (POOL, POOL.reverse()))
    np.testing.assert_array_equal(found, backwards[::-1])
    # The brighter of two images counts no more than the other: both are of unit length in the mean.
    expected = [[1, 0, 0], [0.5**0.5, 0.5**0.5, 0], [3**-0.5] * 3]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert found.dtype == np.float32


def test_texts_are_unit_vectors_truncation_is_recorded_and_the_frame_is_in_the_pools_order() -> None:
    vectors, truncated = text_vectors(POOL, Letters())
    expected = [[2 / 5**0.5, 1 / 5**0.5], [0, 1], [2 / 20**0.5, 4 / 20**0.5]]
    np.testing.assert_allclose(vectors, expected, atol=1e-6)
    np.testing.assert_array_equal(vectors, text_vectors(POOL.reverse(), Letters())[0][::-1])
    # "aab\nA. x\nB. y" has 13 characters, "b\nA. x\nB. y" 11.
    assert truncated.tolist() == [True, False, True]
    frame = embeddings_frame(POOL, image_vectors(POOL, MeanColour()), vectors, truncated)
    assert dict(frame.schema) == dict(EMBEDDINGS.columns)
    assert frame["id"].to_list() == ["s/1", "s/2", "s/3"]
    assert frame["image"].list.len().to_list() == [3, 3, 3]
    assert frame["truncated"].to_list() == truncated.tolist()


def test_the_text_is_the_question_and_its_lettered_options_and_needs_a_direction() -> None:
    question = Question("哪个城市?", ("北京", "上海"), hint="It is large.")
    assert embedded_text(question) == "哪个城市?\nA. 北京\nB. 上海"
    with pytest.raises(InputError, match=r"Letters gives the text of item 's/7' an embedding of length 0\.0"):
        text_vectors(items(("s/7", "cccccccccccc", [])), Letters())


@pytest.mark.parametrize(
    ("images", "match"),
    [
        ([], "item 's/9' has no image"),
        ([None], "item 's/9', image 0: it has no bytes"),
        ([plain_image(RED), b"GIF89a"], "item 's/9', image 1: .*not a complete image"),
        ([plain_image((0, 0, 0))], "MeanColour gives image 0 of item 's/9' an .* no direction"),
    ],
)
def test_an_item_that_cannot_be_embedded_is_named(images: list[bytes], match: str) -> None:
    pool = pl.concat([POOL, items(("s/9", "a", images))])
    with pytest.raises(InputError, match=match):
        list(image_vectors(pool, MeanColour()))


def test_an_item_whose_images_are_null_has_none() -> None:
    images = pl.lit(None, POOL.schema["images"])
    pool = pl.concat([POOL, items(("s/9", "a", [])).with_columns(images=images)])
    with pytest.raises(InputError, match="item 's/9' has no image; remove it"):
        list(image_vectors(pool, MeanColour()))


class Broken(MeanColour, Letters):
    """Embeds as its parents do, but puts a value that is not finite into the second vector."""

    def __init__(self, value: float) -> None:
        self.value = value
        self.seen = 0

    def encode(self, inputs: Any) -> Any:
        parent = Letters if isinstance(inputs, list) else MeanColour
        vectors = parent.encode(self, inputs)  # type: ignore[arg-type]
        for self.seen, vector in enumerate(vectors, 1):
            if self.seen == 2:
                vector[1] = self.value
            yield vector


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_vector_that_is_not_finite_stops_at_its_item(value: float) -> None:
    encoder = Broken(value)
    of_image, of_text = (
        f"MeanColour gives {part} of item 's/2' an embedding of length (nan|inf)"
        for part in ("image 0", "the text")
    )
    with pytest.raises(InputError, match=of_image):
        list(image_vectors(POOL, encoder))
    assert encoder.seen == 2
    with pytest.raises(InputError, match=of_text):
        text_vectors(POOL, encoder)
