"""Pairs of captioned images for retrieval: those of curation, or those of a file."""

from collections.abc import Iterator
from pathlib import Path

import polars as pl

from benchc.benchmarks.naturalbench.curation.caption_files import csv_rows
from benchc.benchmarks.naturalbench.curation.captions import check_file
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.errors import InputError
from benchc.image_keys import named_key
from benchc.progress import track
from benchc.sources.error import InvalidRowError, SourceError
from benchc.sources.report import Remark, report_frame

DATASET = "retrieval"
COLUMNS = ("pair", "image_0", "image_1", "caption_0", "caption_1")


def curated(captions: pl.DataFrame, pairs: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the mined pairs, and the samples of these.

    ``captions`` and ``pairs`` are of types CAPTIONS and PAIRS. Raises InputError where there is no mined
    pair, or a sample of one is missing.
    """
    mined = pairs.filter(pl.col("method") == "mined")
    if mined.is_empty():
        raise InputError(
            "no mined pair was kept, so there is nothing to retrieve; add captions, or review again"
        )
    wanted = pl.concat([mined["a"], mined["b"]]).unique()
    if absent := sorted(set(wanted) - set(captions["id"])):
        raise InputError(
            f"the captions have no sample {absent[0]!r}, which is in a pair; delete pairs.parquet and run "
            "snakemake again"
        )
    return captions.filter(pl.col("id").is_in(wanted.implode())), mined


def read_retrieval_pairs(path: Path, folder: Path) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return the samples and pairs of a CSV file, of types CAPTIONS and PAIRS, and a report on rejected rows.

    The file has the columns pair, image_0, image_1, caption_0 and caption_1; images are files of ``folder``.
    A pair's samples are called retrieval/{pair}/0 and /1. Raises SourceError where the file cannot be read,
    or no row is left.
    """
    samples: list[dict[str, str | None]] = []
    pairs: list[tuple[str, ...]] = []
    remarks = []
    seen: set[str] = set()
    for line, values, problem in track(csv_rows(path, COLUMNS), label="read pairs", unit="pairs"):
        name = values.get("pair", "").strip()
        try:
            if problem is not None:
                raise InvalidRowError(problem)
            found = list(_samples(name, values, folder, seen))
        except InvalidRowError as refusal:
            remarks.append(Remark(f"{DATASET}/{name}", line, "rejected", str(refusal)))
            continue
        seen.add(name)
        samples += found
        pairs.append((name, f"{DATASET}/{name}/0", f"{DATASET}/{name}/1", "mined"))
    if not pairs:
        first = remarks[0].reason if remarks else "it has no rows"
        raise SourceError(f"{path}: none of its rows became a pair; the reason of the first: {first}")
    return (
        pl.DataFrame(samples, schema=pl.Schema(CAPTIONS.columns)),
        pl.DataFrame(pairs, schema=pl.Schema(PAIRS.columns), orient="row"),
        report_frame(remarks),
    )


def _samples(
    name: str, values: dict[str, str], folder: Path, seen: set[str]
) -> Iterator[dict[str, str | None]]:
    """Yield both samples of a pair. Raises InvalidRowError where it cannot be used."""
    if not name or not name.isprintable():
        raise InvalidRowError("has no pair, the name of the row")
    if name in seen:
        raise InvalidRowError(f"pair {name} is there twice")
    digests = set()
    for number in (0, 1):
        image, caption = values[f"image_{number}"].strip(), values[f"caption_{number}"].strip()
        if not caption:
            raise InvalidRowError(f"has no caption_{number}")
        digests.add(check_file(image, folder))
        if len(digests) == number:
            raise InvalidRowError("has one image twice")
        yield {
            "id": f"{DATASET}/{name}/{number}",
            "dataset": DATASET,
            "image": named_key(DATASET, image),
            "file": str(folder / image),
            "bytes": None,
            "caption": caption,
            "language": "English",
        }
