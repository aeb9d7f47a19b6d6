"""What mining and retrieval read of the embeddings of samples."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.naturalbench.curation.mismatch import EncoderVectors
from benchc.benchmarks.naturalbench.schemas.embeddings import EMBEDDINGS
from benchc.errors import InputError
from benchc.schemas.parquet import REMAKE, read_footer, read_table

Floats = npt.NDArray[np.float32]


def read_embeddings(path: Path, ids: Sequence[str]) -> EncoderVectors:
    """Return the vectors of these samples, in their order, from ``embeddings/{encoder}.parquet``.

    Raises InputError where the file lacks a sample.
    """
    footer = read_footer(path)
    frame = read_table(path, EMBEDDINGS, ["id", "image", "text"])
    place = {id_: number for number, id_ in enumerate(frame["id"])}
    if absent := next((id_ for id_ in ids if id_ not in place), None):
        raise InputError(f"{path}: has no sample {absent!r}; {REMAKE}")
    rows = [place[id_] for id_ in ids]
    texts = _array(frame["text"])
    images = _array(frame["image"]).reshape(frame.height, int(str(footer["queries"])), texts.shape[1])
    if rows != list(range(frame.height)):
        images, texts = images[rows], texts[rows]
    return EncoderVectors(str(footer["encoder"]), images, texts)


def _array(lists: pl.Series) -> Floats:
    """Return the vectors of a column, of which all have the same length, float32[N, d]."""
    values: Floats = lists.explode().to_numpy()
    return np.ascontiguousarray(values.reshape(len(lists), -1))
