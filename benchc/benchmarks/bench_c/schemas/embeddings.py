"""`selection/embeddings.parquet`: one row is an item of the pool with its image and text embeddings."""

from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import Footer
from benchc.schemas.parquet import TableType


@dataclass(frozen=True, kw_only=True)
class EmbeddingsFooter(Footer):
    """The encoders.

    Attributes:
        image_encoder, pretrained: name and tag of open_clip, or folder
        image_encoder_commit, text_encoder_commit: on the Hub; null for an encoder that is not there
        image_device, text_device: ``cpu``, or the name of the GPU
        image_batch, text_batch: inputs that passed through the encoder at once
        truncated: how many texts exceeded the text encoder's input length
        torch: version
    """

    image_encoder: str
    pretrained: str | None
    image_encoder_commit: str | None
    text_encoder: str
    text_encoder_commit: str | None
    image_device: str
    image_batch: int
    text_device: str
    text_batch: int
    truncated: int
    torch: str


EMBEDDINGS = TableType(
    "embeddings",
    1,
    {
        "id": pl.String,
        "image": pl.List(pl.Float32),  # unit length: mean of the images' unit vectors, normalised again
        "text": pl.List(pl.Float32),  # unit length
        "truncated": pl.Boolean,  # the text exceeded the encoder's input length
    },
)
