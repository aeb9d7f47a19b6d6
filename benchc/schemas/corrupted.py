"""`{corrupted,benchmark}/{corruption}.parquet`: one row is an image under the corruption at one severity."""

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import Footer
from benchc.schemas.items import IMAGE
from benchc.schemas.parquet import TableType


@dataclass(frozen=True, kw_only=True)
class CorruptedFooter(Footer):
    """How every image was corrupted.

    Attributes:
        recipe: the corruption's name, kernel and parameters by severity
        imported: digest of the images that were imported, before they were decoded; absent of generated ones
        seed, alpha: the run's seed, absent of imported images; how transparency was handled
        codec: lossless format of the images
        libraries: versions by name
        pool: digest of the pool's images
    """

    recipe: Mapping[str, object]
    seed: int | None = None
    alpha: str
    codec: str
    libraries: Mapping[str, str]
    pool: str | None = None
    imported: str | None = None


CORRUPTED = TableType(
    "corrupted",
    2,
    {
        "image_key": pl.String,  # as in the pool; an image that several items share has one row per severity
        "severity": pl.Int64,  # 1..5; 0 in `clean.parquet`
        "image": IMAGE,  # lossless
    },
)
