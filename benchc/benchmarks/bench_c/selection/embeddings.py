"""Embeddings of the items of a pool: the vectors of D_s (paper, eq. 12 and 13)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.bench_c.schemas.embeddings import EMBEDDINGS
from benchc.errors import InputError
from benchc.images import ImageError, decode
from benchc.letters import LETTERS
from benchc.models.encoders.unit_vectors import unit
from benchc.models.question import Question
from benchc.pixels import Pixels
from benchc.transparency import Alpha

Vectors = npt.NDArray[np.float32]


class ImageEncoder(Protocol):
    """Embeds images. ``name`` is for messages."""

    @property
    def name(self) -> str: ...

    def encode(self, images: Iterable[Pixels]) -> Iterator[Vectors]: ...


class TextEncoder(Protocol):
    """Embeds texts, and reports which of them it truncates. ``name`` is for messages."""

    @property
    def name(self) -> str: ...

    def encode(self, texts: list[str]) -> Vectors: ...

    def is_truncated(self, text: str) -> bool: ...


def image_vectors(items: pl.DataFrame, encoder: ImageEncoder, alpha: Alpha = "drop") -> Iterator[Vectors]:
    """Yield a unit vector float32[d] for each item: the mean of its images' unit vectors, normalised again.

    ``items`` needs ``id`` and ``images``. Raises InputError, with the item's id, where an item has no image,
    an image cannot be decoded, or a vector has no direction.
    """
    counts = items.select("id", pl.col("images").list.len().fill_null(0)).rows()
    vectors = encoder.encode(_decoded(items, alpha))
    for item, count in counts:
        if count == 0:
            raise InputError(f"item {item!r} has no image; remove it from its source")
        units = [
            unit(next(vectors), f"{encoder.name} gives image {index} of item {item!r}")
            for index in range(count)
        ]
        yield unit(
            np.mean(units, axis=0, dtype=np.float64), f"{encoder.name} gives the mean image of item {item!r}"
        )


def text_vectors(items: pl.DataFrame, encoder: TextEncoder) -> tuple[Vectors, npt.NDArray[np.bool_]]:
    """Return a unit vector for each item's text, float32[N, d], and whether the encoder truncates the text.

    ``items`` needs ``id``, ``question`` and ``options``.
    """
    texts = [
        embedded_text(Question(question, tuple(options)))
        for question, options in items.select("question", "options").iter_rows()
    ]
    units = [
        unit(vector, f"{encoder.name} gives the text of item {item!r}")
        for item, vector in zip(items["id"], encoder.encode(texts), strict=True)
    ]
    return np.stack(units), np.array([encoder.is_truncated(text) for text in texts])


def embedded_text(question: Question) -> str:
    """Return the text that is embedded: the question and its lettered options, as in the prompt.

    Hints are excluded: a long one would displace question and options from the encoder's input.
    """
    options = [f"{letter}. {text}" for letter, text in zip(LETTERS, question.options, strict=False)]
    return "\n".join([question.question, *options])


def embeddings_frame(
    items: pl.DataFrame, images: Iterable[Vectors], texts: Vectors, truncated: npt.NDArray[np.bool_]
) -> pl.DataFrame:
    """Return the items' vectors as a frame of the type EMBEDDINGS, in the items' order."""
    columns: Mapping[str, object] = {
        "id": items["id"],
        "image": [vector.tolist() for vector in images],
        "text": [vector.tolist() for vector in texts],
        "truncated": truncated.tolist(),
    }
    return pl.DataFrame(columns, schema=dict(EMBEDDINGS.columns))


def _decoded(items: pl.DataFrame, alpha: Alpha) -> Iterator[Pixels]:
    for item, images in items.select("id", "images").iter_rows():
        for index, image in enumerate(images or ()):
            try:
                if image["bytes"] is None:
                    raise ImageError("it has no bytes")
                yield decode(image["bytes"], alpha)
            except ImageError as error:
                raise InputError(
                    f"item {item!r}, image {index}: {error}; fix the image in the item's source, or "
                    "remove the item from it"
                ) from error
