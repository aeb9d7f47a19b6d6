"""`curate/captions.parquet`: one row is a sample, an image with one of its captions."""

from dataclasses import dataclass

import polars as pl

from benchc.schemas.footer import Footer
from benchc.schemas.parquet import TableType


@dataclass(frozen=True, kw_only=True)
class CaptionsFooter(Footer):
    """Of the samples of data sets; those for retrieval have none.

    Attributes:
        captions: first or all: which captions of an image are samples
    """

    captions: str


@dataclass(frozen=True, kw_only=True)
class ShortenedFooter(CaptionsFooter):
    """Of the samples whose long captions a language model shortened.

    Attributes:
        below: number of characters that every caption stays below
        model: its name at the endpoint
        temperature: of its replies
        template: hash of the prompt template
        mode: live, record or replay
        url: address of the endpoint without what may be secret; null in a replay, which asks nobody
    """

    below: int
    model: str
    temperature: float
    template: str
    mode: str
    url: str | None


CAPTIONS = TableType(
    "captions",
    1,
    {
        "id": pl.String,  # data set/image, or data set/image#k for its caption k
        "dataset": pl.String,  # id in curate.captions
        "image": pl.String,  # key of the image, dataset://name; samples of one image share it
        "file": pl.String,  # path of the image's file; null where `bytes` has the image
        "bytes": pl.Binary,  # encoded image, for a data set that contains its images
        "caption": pl.String,
        "language": pl.String,  # of the questions to write
    },
)
