"""Samples of captioned images: one row of CAPTIONS for each image, or for each of its captions."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchc.benchmarks.naturalbench.curation.caption_files import CaptionRow, caption_rows
from benchc.benchmarks.naturalbench.curation.caption_sets import CaptionSet, Which
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.errors import InputError
from benchc.image_keys import named_key
from benchc.images import ImageError
from benchc.progress import track
from benchc.sources.error import InvalidRowError, SourceError
from benchc.sources.image_names import file_below
from benchc.sources.item_images import check_image
from benchc.sources.report import Remark, report_frame

LONGEST_NAME = 200  # characters
IMAGES = "the folder of images"


class Caption(NamedTuple):
    """A caption: its number, the line on which it ends, and its text without spaces at the ends."""

    number: int
    line: int | None
    text: str


@dataclass
class Picture:
    """An image with its captions: where it first occurs, and its bytes, where the data set contains them."""

    line: int | None
    image: bytes | None
    captions: list[Caption]


def read_caption_set(source: CaptionSet, which: Which) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the samples of a data set, of type CAPTIONS and sorted by id, and a report on rejected rows.

    An image's sample has its first caption, that of the smallest number, or each (``all``). The report has
    the columns id, line, kind and reason: rows without a caption, captions whose number occurs twice, and
    images that are missing, cannot be read, are too large or are copies of others. Raises SourceError where
    the file cannot be read, ``images`` is no folder, or no row is left.
    """
    if source.images is not None and not source.images.is_dir():
        raise SourceError(f"{source.images}: is no folder of images; correct `images` of {source.id}")
    remarks: list[Remark] = []
    pictures = _pictures(caption_rows(source.file, source.form, source.locale), source.id, remarks)
    good: dict[str, Picture] = {}
    known: dict[bytes, str] = {}  # the first image of each content
    for name, picture in track(pictures.items(), label=f"read {source.id}", unit="images"):
        try:
            # Images in the file itself were decoded when it was read.
            if source.images is None:
                digest = image_digest(picture.image or b"")
            else:
                digest = check_file(name, source.images)
            if known.setdefault(digest, name) != name:
                raise InvalidRowError(f"image {name}: is a copy of image {known[digest]}")
        except InvalidRowError as refusal:
            remarks.append(Remark(f"{source.id}/{name}", picture.line, "rejected", str(refusal)))
        else:
            good[name] = picture
    remarks.sort(key=lambda remark: remark.line or 0)
    if not good:
        first = remarks[0].reason if remarks else "it has no rows"
        raise SourceError(
            f"{source.file}: none of its rows became a sample; the reason of the first: {first}"
        )
    return samples(source.id, good, which, source.language, source.images), report_frame(remarks)


def samples(
    dataset: str, pictures: dict[str, Picture], which: Which, language: str, folder: Path | None
) -> pl.DataFrame:
    """Return the samples of images by name, of type CAPTIONS and sorted by id."""
    rows = [
        {
            "id": f"{dataset}/{name}" + ("" if which == "first" else f"#{caption.number}"),
            "dataset": dataset,
            "image": named_key(dataset, name),
            "file": None if folder is None else str(folder / name),
            "bytes": picture.image,
            "caption": caption.text,
            "language": language,
        }
        for name, picture in pictures.items()
        for caption in sorted(picture.captions)[: 1 if which == "first" else None]
    ]
    return pl.DataFrame(rows, schema=pl.Schema(CAPTIONS.columns)).sort("id")


def _pictures(rows: Iterable[CaptionRow], dataset: str, remarks: list[Remark]) -> dict[str, Picture]:
    """Return the images with valid captions, by name; what is wrong with others goes to ``remarks``."""
    pictures: dict[str, Picture] = {}
    for row in rows:
        try:
            _add(row, pictures)
        except InvalidRowError as refusal:
            remarks.append(Remark(f"{dataset}/{row.name}", row.line, "rejected", str(refusal)))
    return {name: picture for name, picture in pictures.items() if picture.captions}


def _add(row: CaptionRow, pictures: dict[str, Picture]) -> None:
    if row.problem is not None:
        raise InvalidRowError(row.problem)
    if not row.name or len(row.name) > LONGEST_NAME or not row.name.isprintable():
        raise InvalidRowError(f"the image's name is not one line of 1 to {LONGEST_NAME} characters")
    picture = pictures.setdefault(row.name, Picture(row.line, row.image, []))
    if picture.image != row.image:
        raise InvalidRowError(f"names its image {row.name}, which is the name of a different image")
    number = len(picture.captions) if row.number is None else row.number
    text = row.caption.strip()
    if not text:
        raise InvalidRowError("has no caption")
    if "\0" in text:
        raise InvalidRowError("contains a NUL character")
    if number in {caption.number for caption in picture.captions}:
        raise InvalidRowError(f"caption {number} of image {row.name} is there twice")
    picture.captions.append(Caption(number, row.line, text))


def image_digest(data: bytes) -> bytes:
    """Return a digest of an image file, by which copies are found."""
    return hashlib.blake2b(data, digest_size=16).digest()


def check_file(name: str, folder: Path) -> bytes:
    """Decode an image below a folder, and return its digest.

    Raises InvalidRowError where it cannot be read, or is elsewhere.
    """
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise InvalidRowError(f"the image's name is not one line of 1 to {LONGEST_NAME} characters")
    if (file := file_below(folder, name, IMAGES)) is None:
        raise InvalidRowError(f"image {name!r} is no file below {IMAGES}")
    try:
        data = file.read_bytes()
        check_image(data)
    except OSError as error:
        raise InvalidRowError(f"image {name}: cannot be read ({error.strerror})") from error
    except ImageError as error:
        raise InvalidRowError(f"image {name}: {error}") from error
    return image_digest(data)


def image_bytes(sample_rows: pl.DataFrame) -> Iterator[bytes]:
    """Yield the image file of each sample, a row of CAPTIONS.

    Raises InputError, with the sample's id, where a file is missing or cannot be read any more.
    """
    for id_, file, data in sample_rows.select("id", "file", "bytes").iter_rows():
        if data is not None:
            yield data
            continue
        try:
            yield Path(file).read_bytes()
        except OSError as error:
            raise InputError(
                f"sample {id_!r}: its image {file} cannot be read ({error.strerror}); put the file back, or "
                "delete captions.parquet and run snakemake again"
            ) from error
