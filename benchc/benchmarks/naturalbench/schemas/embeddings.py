"""`curate/embeddings/{encoder}.parquet`: one row is a sample with the embeddings of its image and caption."""

from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import Footer
from benchc.schemas.parquet import TableType


@dataclass(frozen=True, kw_only=True)
class EmbeddingsFooter(Footer):
    """Of the embeddings by one encoder.

    Attributes:
        encoder: its id in the configuration
        queries: how many vectors of an image follow each other (1; BLIP-2 has one a query)
        library, name, pretrained, commit: what was loaded, as the settings of the encoder name it; pretrained
            is null for a folder, commit for what is not of the Hub
        language: of the captions, which the tokenizer was told; null for a tokenizer that needs none
        device: ``cpu``, or the name of the GPU
        batch: images or captions that passed through the encoder at once
        truncated: how many captions exceeded the encoder's input length
        torch: version of PyTorch
    """

    encoder: str
    queries: int
    library: str
    name: str
    pretrained: str | None
    commit: str | None
    language: str | None = None
    device: str
    batch: int
    truncated: int
    torch: str


EMBEDDINGS = TableType(
    "caption embeddings",
    1,
    {
        "id": pl.String,
        "image": pl.List(pl.Float32),  # queries vectors of unit length, one after another
        "text": pl.List(pl.Float32),  # unit length
        "truncated": pl.Boolean,  # the caption exceeded the encoder's input length
    },
)
