"""The captioned images of pairs."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.errors import InputError
from benchc.schemas.parquet import TableFile, read_table


class Sample(NamedTuple):
    """An image with one of its captions: a row of ``curate/captions.parquet`` without the image."""

    id: str
    dataset: str
    image: str  # key: dataset://name
    caption: str
    language: str

    @property
    def name(self) -> str:
        """The image's name in its data set."""
        return self.image.partition("://")[2]


def read_samples(path: str | Path, pairs: pl.DataFrame) -> dict[str, tuple[Sample, Sample]]:
    """Return the two samples of each of ``pairs`` (type PAIRS) from a file of captions.

    Raises InputError where one is not in the file, or the two have different languages.
    """
    samples = {row[0]: Sample(*row) for row in read_table(path, CAPTIONS, Sample._fields).iter_rows()}
    found: dict[str, tuple[Sample, Sample]] = {}
    for pair, a, b in pairs.select("pair", "a", "b").iter_rows():
        absent = [id_ for id_ in (a, b) if id_ not in samples]
        if absent:
            raise InputError(
                f"{path}: has no sample {absent[0]}, which is in pair {pair}; delete pairs.parquet beside it "
                "and run snakemake again"
            )
        if samples[a].language != samples[b].language:
            raise InputError(
                f"pair {pair}: its captions are in {samples[a].language} ({a}) and {samples[b].language} "
                f"({b}); give each language of curate.captions a run of its own"
            )
        found[pair] = samples[a], samples[b]
    return found


def read_images(path: str | Path, keys: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield each of the images ``keys`` with the bytes of its file, one at a time, in the order of the file.

    Raises InputError where an image is not in the file of captions, or its own file is missing.
    """
    wanted = set(keys)
    with TableFile(path, CAPTIONS) as table:
        index = table.columns(["image", "file"]).with_row_index("row").unique("image", keep="first")
        index = index.filter(pl.col("image").is_in(wanted)).sort("row")
        if absent := sorted(wanted - set(index["image"])):
            raise InputError(f"{path}: has no image {absent[0]}; delete it and run snakemake again")
        for row, key, file in index.iter_rows():
            if file is None:
                yield key, table.rows([row], ["bytes"]).item()
                continue
            try:
                yield key, Path(file).read_bytes()
            except FileNotFoundError as error:
                raise InputError(
                    f"{file}: no such file, which is the image {key} of {path}; restore it"
                ) from error
