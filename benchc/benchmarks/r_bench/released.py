"""From the Parquet files of lcysyzxdxc/R-Bench to a TSV of items and a table of distorted images."""

import base64
import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from benchc.atomic import atomic_write
from benchc.benchmarks.r_bench.dimensions import STAND_IN, STRENGTHS
from benchc.benchmarks.r_bench.tasks import TASK_LABELS, TASKS, Task
from benchc.corruptions.suites.r_bench import R_BENCH_INDEX
from benchc.csv_cells import QuotedTsv
from benchc.images import ImageError, opened
from benchc.letters import LETTERS
from benchc.schemas.imported_images import IMPORTED_IMAGES
from benchc.schemas.row_groups import table_writer
from benchc.sources.error import InvalidRowError, SourceError
from benchc.sources.hub_parquet import opened_parquet
from benchc.sources.item_images import ImageFile, image_of
from benchc.sources.item_text import read_answer_list, read_item_text, read_open_text

DATASET = "lcysyzxdxc/R-Bench"
COLUMNS = (
    *("name", "question", "choice", "answer", "type", "score", "distortion", "strength"),
    *("ref_image", "dis_image"),
)
MAX_OPTIONS = 6
TSV_COLUMNS = (
    *("index", "image", "question", *LETTERS[:MAX_OPTIONS], "answer", "category", "l2-category"),
    *("score", "distortion", "strength"),
)
# The names of the dimensions by the paper's number; the captured ones are no stand-ins.
DIMENSIONS = {number: name.removesuffix(STAND_IN) for name, number in R_BENCH_INDEX.items()}
CAPTURED = {number for name, number in R_BENCH_INDEX.items() if name.endswith(STAND_IN)}
# Options are called "A." or "A:", and are separated by semicolons, also Chinese ones.
BETWEEN_OPTIONS = re.compile(r"\s*[;；]\s*(?=[A-Z][.:：])")


class Pair(NamedTuple):
    """A released pair.

    Attributes:
        values: of the columns of the TSV but the image
        reference, distorted: image files
        corruption: name of the dimension
        severity: strength, 1 to 3
        resized: whether the images have two sizes, as photographs of one scene may
        refused: why the row cannot become an item, or None
    """

    values: dict[str, str]
    reference: ImageFile
    distorted: ImageFile
    corruption: str
    severity: int
    resized: bool
    refused: str | None


def released_pairs(paths: Iterable[Path]) -> Iterator[Pair]:
    """Yield the pairs of Parquet files as published, a few in memory.

    Raises SourceError, with the row, where a name occurs twice, the type, dimension or strength is not one of
    the paper, an image cannot be read, captions are no list, or the images of a dimension that was not
    photographed have two sizes.
    """
    seen: set[str] = set()
    for path in paths:
        with opened_parquet(path, DATASET) as file:
            for where, row in file.rows(COLUMNS):
                pair = _pair(where, row)
                name = pair.values["index"]
                if name in seen:
                    raise SourceError(
                        f"{where}: has the name {name!r} of an earlier row; give each file once"
                    )
                seen.add(name)
                yield pair


def _pair(where: str, row: Mapping[str, Any]) -> Pair:
    name, question = str(row["name"] or ""), str(row["question"] or "")
    if not name.strip():
        raise SourceError(f"{where}: has no name; fetch the file again")
    task = next((task for task in TASKS if TASK_LABELS[task] == str(row["type"]).upper()), None)
    if task is None:
        types = ", ".join(TASK_LABELS.values())
        raise SourceError(
            f"{where}: has the type {row['type']!r}, which is none of {types}; fetch the file again"
        )
    number = _number(where, row, "distortion", len(DIMENSIONS))
    severity = _number(where, row, "strength", len(STRENGTHS))
    images = (
        image_of(f"{where}: ref_image", row["ref_image"]),
        image_of(f"{where}: dis_image", row["dis_image"]),
    )
    sizes = [_size(f"{where} ({name})", image) for image in images]
    if sizes[0] != sizes[1] and number not in CAPTURED:
        raise SourceError(
            f"{where}: the distorted image of {name} has {sizes[1]} pixels, its reference {sizes[0]}; fetch "
            "the file again"
        )
    values = {
        "index": name,
        "question": question,
        **_answers(where, task, str(row["choice"] or ""), str(row["answer"] or "")),
        "category": task,
        # Such as COCO of COCO_6.jpg.
        "l2-category": name.partition("_")[0],
        "score": str(row["score"]),
        "distortion": str(number),
        "strength": str(severity),
    }
    try:
        if task == "mcq":
            read_item_text(values)
        else:
            read_open_text(values, answer_lists=True)
        refused = None
    except InvalidRowError as error:
        refused = str(error)
    return Pair(values, *images, DIMENSIONS[number], severity, sizes[0] != sizes[1], refused)


def _number(where: str, row: Mapping[str, Any], column: str, most: int) -> int:
    text = str(row[column])
    if not text.isdecimal() or len(text) > 9 or not 1 <= int(text) <= most:
        raise SourceError(
            f"{where}: {column} is {text[:40]!r}, not a number from 1 to {most}; fetch the file again"
        )
    return int(text)


def _size(where: str, image: ImageFile) -> str:
    try:
        with opened(image.bytes) as file:
            return f"{file.width} x {file.height}"
    except ImageError as error:
        raise SourceError(f"{where}: {error}; fetch the file again") from error


def _answers(where: str, task: Task, choice: str, answer: str) -> dict[str, str]:
    """Return the options and the answer of a row; open answers are lists, of one text but for captions."""
    if task == "mcq":
        options = BETWEEN_OPTIONS.split(choice.strip())
        letters = [option[:1] for option in options]
        if len(options) > MAX_OPTIONS or letters != list(LETTERS[: len(options)]):
            raise SourceError(
                f"{where}: has the choice {choice[:40]!r}, which is not A.text; B.text; ..., with at most "
                f"{MAX_OPTIONS} options; fetch the file again"
            )
        return {letter: option[2:].strip() for letter, option in zip(letters, options, strict=True)} | {
            "answer": answer.strip()
        }
    if task == "vqa":
        return {"answer": json.dumps([answer.strip()], ensure_ascii=False)}
    try:
        return {"answer": json.dumps(read_answer_list(answer), ensure_ascii=False)}
    except InvalidRowError as error:
        raise SourceError(f"{where}: {error}; fetch the file again") from error


def write_pairs(pairs: Iterable[Pair], source: str, tsv: Path, images: Path) -> list[Pair]:
    """Write pairs as a TSV, which ``read_source`` reads, and a table of type IMPORTED_IMAGES; return them.

    What is returned has no images. Items are called ``<source>/<name>``. Rows that cannot become items are in
    the TSV, where reading them gives the reason, and have no distorted image.
    """
    done = []
    size = pl.col("image").struct.field("bytes").bin.size()
    with atomic_write(tsv) as file, table_writer(images, IMPORTED_IMAGES, size) as table:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.DictWriter(text, TSV_COLUMNS, restval="", dialect=QuotedTsv)
        writer.writeheader()
        for pair in pairs:
            writer.writerow({**pair.values, "image": base64.b64encode(pair.reference.bytes).decode()})
            if pair.refused is None:
                row = {
                    "id": f"{source}/{pair.values['index']}",
                    "corruption": pair.corruption,
                    "severity": pair.severity,
                    "image": pair.distorted._asdict(),
                }
                table.append(pl.DataFrame([row], schema=pl.Schema(IMPORTED_IMAGES.columns)))
            empty = ImageFile(b"", None)
            done.append(pair._replace(reference=empty, distorted=empty))
        text.detach()
    return done
