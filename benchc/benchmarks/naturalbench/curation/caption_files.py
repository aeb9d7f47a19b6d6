"""Read the rows of captioned images from files of several forms."""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from benchc.benchmarks.naturalbench.curation.caption_sets import Form
from benchc.json_content import is_text, json_content
from benchc.sources.error import InvalidRowError, SourceError
from benchc.sources.item_images import read_item_images
from benchc.sources.item_text import are_texts, read_answer_list
from benchc.sources.tsv import LARGEST_ROW, Row, after, listed, read_header, read_rows

ENTITIES_HEADER = ["image_name", "comment_number", "comment"]
CSV_COLUMNS = ("image", "caption")
TSV_COLUMNS = ("index", "image", "answer")
DOCCI_KEYS = ("image_file", "description")
XM3600_KEY = "image/key"
LONGEST_NUMBER = 10  # digits of a caption's number


class CaptionRow(NamedTuple):
    """A caption of an image: the line on which it ends, the image's name, and the caption's number.

    ``number`` is None where captions are numbered as they come; ``image``: the encoded image, where the file
    contains it; ``problem``: why the row cannot be used, or None.
    """

    line: int
    name: str
    number: int | None = None
    caption: str = ""
    image: bytes | None = None
    problem: str | None = None


def caption_rows(path: Path, form: Form, locale: str | None = None) -> Iterator[CaptionRow]:
    """Yield the rows of a file of captions; ``locale``: of the captions, for xm3600 alone.

    Forms: csv, with the columns image and caption; tsv, as VLMEvalKit's, whose images are in base64 and whose
    answer is a list of captions; flickr30k, ``results_20130124.token`` or ``results.csv`` with the separator
    |; docci, ``docci_descriptions.jsonlines``; xm3600, ``captions.jsonl`` of Crossmodal-3600, whose images
    are called ``<image/key>.jpg``. Raises SourceError where the file cannot be read as its form.
    """
    readers: Mapping[Form, Callable[[Path], Iterator[CaptionRow]]] = {
        "csv": _csv,
        "tsv": _tsv,
        "flickr30k": _flickr30k,
        "docci": _docci,
        "xm3600": partial(_xm3600, locale=locale or ""),
    }
    if not path.is_file():
        raise SourceError(f"{path}: there is no such file; correct `file` of the captions")
    return readers[form](path)


def csv_rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str], str | None]]:
    """Yield the rows of a CSV file with a header: the line on which one ends, its fields, and what is wrong.

    Raises SourceError where there is no such file, a column is missing or there twice, or it is no CSV file
    in UTF-8.
    """
    if not path.is_file():
        raise SourceError(f"{path}: there is no such file; correct the path in the configuration")
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            header = next(reader, [])
            if missing := [name for name in columns if name not in header]:
                raise SourceError(
                    f"{path}: has no column {missing[0]!r}; its columns are {listed(header) or 'none'}; "
                    "give it a header with these names, separated by commas"
                )
            if doubled := [name for name in columns if header.count(name) > 1]:
                raise SourceError(f"{path}: has two columns {doubled[0]!r}; remove one")
            for fields in filter(None, reader):
                problem = None
                if len(fields) != len(header):
                    problem = f"has {len(fields)} fields where the header has {len(header)}"
                elif any("\0" in field for field in fields):
                    problem = "contains a NUL character"
                empty = dict.fromkeys(columns, "")
                yield reader.line_num, empty | dict(zip(header, fields, strict=False)), problem
        except csv.Error as error:
            raise SourceError(
                f"{path}: line {reader.line_num} is no comma-separated text ({error}); put fields with "
                "commas, quotation marks or line breaks in quotation marks"
            ) from error
        except UnicodeDecodeError as error:
            raise _not_utf8(path, reader.line_num, error) from error


def _csv(path: Path) -> Iterator[CaptionRow]:
    for line, values, problem in csv_rows(path, CSV_COLUMNS):
        yield CaptionRow(line, values["image"].strip(), None, values["caption"], problem=problem)


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    # Bytes, of which only line feeds end a line: captions may contain other characters that Python splits at.
    with path.open("rb") as file:
        for number, data in enumerate(iter(lambda: file.readline(LARGEST_ROW + 1), b""), start=1):
            if len(data) > LARGEST_ROW:
                raise SourceError(
                    f"{path}: line {number} has more than {LARGEST_ROW:,} bytes; give a file as published"
                )
            try:
                line = data.decode("utf-8-sig" if number == 1 else "utf-8").rstrip("\r\n")
            except UnicodeDecodeError as error:
                raise _not_utf8(path, number - 1, error) from error
            if line.strip():
                yield number, line


def _not_utf8(path: Path, line: int, error: UnicodeDecodeError) -> SourceError:
    return SourceError(f"{path}: {after(line)}the file is not UTF-8 ({error}); save it as UTF-8")


def _flickr30k(path: Path) -> Iterator[CaptionRow]:
    separated = False
    for line, text in _lines(path):
        if line == 1 and [part.strip() for part in text.split("|")] == ENTITIES_HEADER:
            separated = True
        elif separated:
            parts = [part.strip() for part in text.split("|", 2)]
            if len(parts) < 3 or not _is_number(parts[1]):
                yield CaptionRow(line, parts[0], problem="is not: image name | caption number | caption")
            else:
                yield CaptionRow(line, parts[0], int(parts[1]), parts[2])
        else:
            key, tab, caption = text.partition("\t")
            name, _, number = key.strip().rpartition("#")
            if not (tab and name and _is_number(number)):
                yield CaptionRow(line, key.strip(), problem="is not: image name#caption number, tab, caption")
            else:
                yield CaptionRow(line, name, int(number), caption)


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < LONGEST_NUMBER


def _json_lines(path: Path, keys: Sequence[str]) -> Iterator[tuple[int, dict[str, Any] | CaptionRow]]:
    """Yield the object of each line, whose ``keys`` have texts, or a row with what is wrong."""
    for line, text in _lines(path):
        try:
            values = json_content(text)
        except ValueError as error:
            yield line, CaptionRow(line, "", problem=f"is not JSON ({error})")
            continue
        if not isinstance(values, dict) or not all(is_text(values.get(key)) for key in keys):
            what = "no text" if len(keys) == 1 else "no texts"
            yield line, CaptionRow(line, "", problem=f"has {what} {' and '.join(keys)}")
            continue
        yield line, values


def _docci(path: Path) -> Iterator[CaptionRow]:
    for line, values in _json_lines(path, DOCCI_KEYS):
        if isinstance(values, CaptionRow):
            yield values
        else:
            yield CaptionRow(line, values["image_file"].strip(), None, values["description"])


def _xm3600(path: Path, locale: str) -> Iterator[CaptionRow]:
    """Yield a row for each caption of a locale: ``{"image/key": K, LOCALE: {"caption": [TEXT, ...]}}``."""
    for line, values in _json_lines(path, (XM3600_KEY,)):
        if isinstance(values, CaptionRow):
            yield values
            continue
        name = f"{values[XM3600_KEY].strip()}.jpg"
        of_locale = values.get(locale)
        captions = of_locale.get("caption") if isinstance(of_locale, dict) else None
        if not are_texts(captions):
            yield CaptionRow(line, name, problem=f"has no captions of the locale {locale!r}")
            continue
        for caption in captions:
            yield CaptionRow(line, name, None, caption)


def _tsv(path: Path) -> Iterator[CaptionRow]:
    header = read_header(path)
    if missing := [name for name in TSV_COLUMNS if name not in header]:
        raise SourceError(f"{path}: has no column {missing[0]!r}; its columns are {listed(header)}")
    images: dict[str, bytes] = {}
    for row in read_rows(path):
        index = row.values.get("index", "").strip()
        name = row.values.get("image_file", "").strip() or index
        try:
            image = _image(row, images)
            captions = read_answer_list(row.values["answer"])
        except InvalidRowError as refusal:
            yield CaptionRow(row.line, name, problem=str(refusal))
            continue
        images[index] = image
        for caption in captions:
            yield CaptionRow(row.line, name, None, caption, image)


def _image(row: Row, earlier: dict[str, bytes]) -> bytes:
    if row.problem:
        raise InvalidRowError(row.problem)
    found = read_item_images(row.values)
    if isinstance(found, str):
        if found not in earlier:
            raise InvalidRowError(
                f"image {found!r} is neither an image in base64 nor the index of a row before"
            )
        return earlier[found]
    if len(found) != 1:
        raise InvalidRowError(f"has {len(found)} images; a sample has one")
    return found[0].bytes
