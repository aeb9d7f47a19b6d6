"""Embed samples by an encoder of images and texts."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.naturalbench.curation.captions import image_bytes
from benchc.errors import InputError
from benchc.images import ImageError, decode
from benchc.models.encoders.image_text import ImageTextEncoder
from benchc.models.encoders.unit_vectors import unit
from benchc.pixels import Pixels
from benchc.progress import track
from benchc.transparency import Alpha

Floats = npt.NDArray[np.float32]


def embedded(captions: pl.DataFrame, encoder: ImageTextEncoder, alpha: Alpha) -> tuple[pl.DataFrame, int]:
    """Return the vectors of samples, as a frame of type EMBEDDINGS, and the vectors of each image (queries).

    ``captions`` is of type CAPTIONS. An image with several captions is encoded once. Raises InputError, with
    the sample's id, where an image cannot be read or a vector has no direction.
    """
    pictures = captions.unique("image", maintain_order=True)
    vectors = encoder.encode_images(_decoded(pictures, alpha))
    images = [
        np.stack([unit(vector, f"{encoder.name} gives the image of sample {id_!r}") for vector in found])
        for id_, found in zip(
            pictures["id"],
            track(vectors, label="embed images", unit="images", total=pictures.height),
            strict=True,
        )
    ]
    found_texts = encoder.encode_texts(captions["caption"].to_list())
    texts = [
        unit(vector, f"{encoder.name} gives the caption of sample {id_!r}")
        for id_, vector in zip(
            captions["id"],
            track(found_texts, label="embed captions", unit="captions", total=captions.height),
            strict=True,
        )
    ]
    place = {image: number for number, image in enumerate(pictures["image"])}
    rows = [place[image] for image in captions["image"]]
    frame = pl.DataFrame(
        {
            "id": captions["id"],
            "image": _lists(np.stack(images).reshape(len(images), -1)[rows]),
            "text": _lists(np.stack(texts)),
            "truncated": [encoder.is_truncated(caption) for caption in captions["caption"]],
        }
    )
    return frame, len(images[0])


def _decoded(samples: pl.DataFrame, alpha: Alpha) -> Iterator[Pixels]:
    for id_, data in zip(samples["id"], image_bytes(samples), strict=True):
        try:
            yield decode(data, alpha)
        except ImageError as error:
            raise InputError(
                f"sample {id_!r}: its image is not as it was when captions were read: {error}; delete "
                "captions.parquet and run snakemake again"
            ) from error


def _lists(vectors: Floats) -> pl.Series:
    width = vectors.shape[1]
    return pl.Series(np.ascontiguousarray(vectors), dtype=pl.Array(pl.Float32, width)).arr.to_list()
