"""The rows of a data file with the columns of VLMEvalKit: a TSV, csv, JSON Lines or Parquet file.

Only here do these formats differ: each row has its texts by column, and its images as texts or files.
"""

import ast
import glob
import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from benchc.json_content import is_text, json_content
from benchc.letters import LETTERS
from benchc.sources import tsv
from benchc.sources.error import InvalidRowError, SourceError
from benchc.sources.image_names import file_below, listed_strings
from benchc.sources.tsv import RENAMED, Picture, Row, listed

CSV, JSON_LINES, PARQUET = ".csv", ".jsonl", ".parquet"
SUFFIXES = (CSV, JSON_LINES, PARQUET)
# What may be mistaken for one of them. A TSV may have any other suffix.
OTHER_FORMATS = (".json", ".xlsx", ".xls", ".zip", ".gz", ".arrow", ".pkl")
METADATA = ("metadata.csv", "metadata.jsonl")  # of a folder of images, as Hugging Face's loader names it

# Of a JSON line, as of a row of a TSV.
LARGEST_LINE = tsv.LARGEST_ROW

# A longer line has an image in base64, and takes long to parse.
LONGEST_WITH_PATHS = 2**16

# Names of a column in files other than TSVs, if the catalogue names none.
ALIASES = {"image": ("image", "images", "file_name", "file_names"), "options": ("options", "choices")}

SHARD = re.compile(r"(?P<set>.+)-\d{5}-of-(?P<count>\d{5})(-[0-9a-f]+)?\.parquet")

# The file's name of a standard column, or several of images.
Columns = Mapping[str, str | Sequence[str]]


def suffix_of(path: Path) -> str | None:
    """Return which of SUFFIXES a file has; None of a TSV, which may have any other."""
    return next((suffix for suffix in SUFFIXES if path.name.lower().endswith(suffix)), None)


def image_folder(path: Path) -> Path | None:
    """Return the folder to which the image paths in a file are relative; None of a TSV, which has none."""
    return None if suffix_of(path) is None else path.absolute().parent


def data_file(path: Path) -> Path:
    """Return the file that a user's path names: itself, or the one in a folder.

    That is metadata.csv or metadata.jsonl, or the only csv, JSON Lines or Parquet file of the folder or of
    its folder ``data``; of Parquet files in shards, the first. Raises SourceError where a folder has none or
    several.
    """
    if not path.is_dir():
        return path
    for folder in (path, path / "data"):
        found = [folder / name for name in METADATA if (folder / name).is_file()] or [
            file
            for file in (sorted(folder.iterdir()) if folder.is_dir() else [])
            if file.is_file() and suffix_of(file) and not file.name.startswith(".")
        ]
        sets = {
            match["set"] if (match := SHARD.fullmatch(file.name)) else file.name: file for file in found[::-1]
        }
        if len(sets) == 1:
            return next(iter(sets.values()))
        if sets:
            names = ", ".join(sorted(file.name for file in sets.values())[:5])
            raise SourceError(f"{path}: has data in {names}; name one of these files, of shards the first")
    raise SourceError(
        f"{path}: has no csv, JSON Lines or Parquet file; add metadata.csv, or give a file or another folder"
    )


def shards_of(path: Path) -> list[Path]:
    """Return the Parquet files that belong to the set of one; of any other file, itself.

    Raises SourceError where one of them is missing.
    """
    match = SHARD.fullmatch(path.name)
    if match is None:
        return [path]
    pattern = f"{glob.escape(match['set'])}-?????-of-{match['count']}*.parquet"
    found = sorted(file for file in path.parent.glob(pattern) if SHARD.fullmatch(file.name))
    numbers = [int(file.name[len(match["set"]) + 1 :][:5]) for file in found]
    if numbers != [*range(int(match["count"]))]:
        raise SourceError(
            f"{path}: is one of {int(match['count'])} shards, but its folder has the numbers "
            f"{', '.join(map(str, numbers))}; fetch all of them, each once"
        )
    return found


def read_header(path: Path, columns: Columns | None = None) -> list[str]:
    """Return the standard names of a file's columns, and its own names of the others.

    ``columns``: the file's name of a standard column, which is known for some names of images and options
    (ALIASES). Options in one column are columns A and B, too. Rows without a column ``index`` are numbered
    from 0, but not those of a TSV. Raises SourceError where the file cannot be read, or lacks a column that
    ``columns`` names.
    """
    header = _header(path)
    return _standard(path, header, _sources(path, header, columns or {}))


def listed_columns(path: Path, mend: str = "") -> str:
    """Return the file's own names of its columns and ``mend``, for messages.

    Where its separator is wrong, how to mend that is in place of ``mend``.
    """
    header = _header(path)
    if suffix_of(path) in (CSV, None):
        separator, name = (",", "commas") if suffix_of(path) == CSV else ("\t", "tabs")
        if len(header) == 1 and any(mark in header[0] for mark in {";", ",", "\t"} - {separator}):
            mend = f", since its fields are not separated by {name}: save it with them"
    return f"{listed(header) or 'none'}{mend}"


def read_rows(path: Path, columns: Columns | None = None, *, images: bool = True) -> Iterator[Row]:
    """Yield the rows of a file, one at a time, with the columns of :func:`read_header`.

    Absent values are empty. ``images``: whether those in the cells of a Parquet file are read. Raises
    SourceError where the file cannot be read; a row that is none has a problem.
    """
    suffix = suffix_of(path)
    if suffix is None and not columns:
        yield from tsv.read_rows(path)
        return
    header = _header(path)
    sources = _sources(path, header, columns or {})
    standard = _standard(path, header, sources)
    numbered = "index" in standard and "index" not in header and "index" not in sources
    for number, (line, record, problem) in enumerate(
        _records(path, sources.get("image", ()) if images else (), sources.get("answer", ["answer"])[0])
    ):
        yield _row(line, record, problem, standard, sources, str(number) if numbered else None)


def referenced_files(path: Path, columns: Columns | None = None) -> Iterator[Path]:
    """Yield the image files that a csv or JSON Lines file names, as often as it does; none of other files.

    Lines of JSON with images in base64 are passed over.
    """
    folder = image_folder(path)
    if folder is None or suffix_of(path) == PARQUET:
        return
    given = (columns or {}).get("image", ALIASES["image"])
    names = [given] if isinstance(given, str) else given
    lines = _json_lines(path, LONGEST_WITH_PATHS) if suffix_of(path) == JSON_LINES else _records(path, ())
    for _, record, _ in lines:
        try:
            pictures = chain.from_iterable(_pictures(record.get(name)) for name in names)
            found = [file_below(folder, picture) for picture in pictures if isinstance(picture, str)]
        except (InvalidRowError, RecursionError):
            continue
        yield from filter(None, found)


def _header(path: Path) -> list[str]:
    match suffix_of(path):
        case ".jsonl":
            keys: dict[str, None] = {}
            for _, record, _ in _json_lines(path):
                keys.update(dict.fromkeys(record))
            if not keys:
                raise SourceError(f"{path}: has no JSON object; write one per line")
            return list(keys)
        case ".parquet":
            # pyarrow takes long to import, and other files do without.
            from benchc.sources.hub_parquet import opened_parquet

            with opened_parquet(shards_of(path)[0], "the data set") as file:
                return file.names
        case _ if path.suffix.lower() in OTHER_FORMATS:
            raise SourceError(
                f"{path}: {path.suffix} files are not read; convert it to a TSV, csv, JSON Lines (.jsonl) or "
                "Parquet file"
            )
        case _:
            return tsv.read_header(path)


def _sources(path: Path, header: Sequence[str], columns: Columns) -> dict[str, list[str]]:
    """Return the file's columns by the standard name that they are read as."""
    found = {name: [given] if isinstance(given, str) else [*given] for name, given in columns.items()}
    for name, given in found.items():
        if missing := [each for each in given if each not in header]:
            raise SourceError(
                f"{path}: has no column {missing[0]!r}, which columns.{name} names; its columns are "
                f"{listed([*header])}"
            )
    if suffix_of(path) is not None:
        lettered = set(LETTERS) & {*header, *found}
        for name, aliases in ALIASES.items():
            alias = next((each for each in aliases if each in header), None)
            if alias is not None and name not in found and not (name == "options" and lettered):
                found[name] = [alias]
    return found


def _standard(path: Path, header: Sequence[str], sources: Mapping[str, Collection[str]]) -> list[str]:
    names = [RENAMED.get(name, name) for name in header] + [name for name in sources if name != "options"]
    names += ["A", "B"] if "options" in sources else []
    names += [] if suffix_of(path) is None or not header else ["index"]
    return list(dict.fromkeys(names))


class _Record(NamedTuple):
    """A row as a file has it: its line, or of Parquet its number from 1, its values, and what is wrong."""

    line: int
    values: Mapping[str, Any]
    problem: str | None


def _records(path: Path, images: Collection[str], answer: str = "answer") -> Iterator[_Record]:
    """Yield the rows of a file. ``images``: the columns of a Parquet file whose image files are read.

    ``answer``: its column of answers, which are indices where their class labels are numbers.
    """
    match suffix_of(path):
        case ".jsonl":
            yield from _json_lines(path)
        case ".parquet":
            from benchc.sources.hub_parquet import opened_parquet

            number, names = 0, None
            for shard in shards_of(path):
                with opened_parquet(shard, "the data set") as file:
                    names = names or [
                        name for name in file.names if name in images or not file.has_files(name)
                    ]
                    for _, values in file.rows(names, [answer]):
                        number += 1
                        yield _Record(number, values, None)
        case _:
            for row in tsv.read_rows(path):
                yield _Record(row.line, row.values, row.problem)


def _json_lines(path: Path, longest: int = LARGEST_LINE) -> Iterator[_Record]:
    """Yield the rows of a file, but those in lines of more than ``longest`` bytes."""
    if not path.is_file():
        raise SourceError(f"{path}: there is no such file; correct the path")
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LARGEST_LINE + 1), b""), start=1):
            if len(line) > LARGEST_LINE:
                raise SourceError(
                    f"{path}: line {number} has more than {LARGEST_LINE:,} bytes; write one JSON object per "
                    "line"
                )
            if len(line) > longest or not line.strip():
                continue
            try:
                found = json.loads(line, object_pairs_hook=_once)
            except RecursionError:
                yield _Record(number, {}, "is no JSON (it is nested too deeply)")
                continue
            except InvalidRowError as refusal:
                yield _Record(number, {}, str(refusal))
                continue
            except ValueError as error:
                yield _Record(number, {}, f"is no JSON ({getattr(error, 'msg', error)})")
                continue
            if isinstance(found, dict):
                yield _Record(number, found, None)
            elif number == 1 and isinstance(found, list):
                raise SourceError(f"{path}: is a JSON list; write one object per line")
            else:
                yield _Record(number, {}, "is no JSON object")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON. Raises InvalidRowError where a key is given twice: Python takes the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidRowError(f"gives {twice[:40]!r} twice")
    return found


def _row(
    line: int,
    record: Mapping[str, Any],
    problem: str | None,
    standard: Sequence[str],
    sources: Mapping[str, Sequence[str]],
    index: str | None,
) -> Row:
    values = dict.fromkeys(standard, "")
    images: list[Picture] = []
    try:
        values |= {RENAMED.get(name, name): _text(value) for name, value in record.items()}
        for name, columns in sources.items():
            if name not in ("image", "options"):
                values[name] = _text(record.get(columns[0]))
        if "options" in sources and problem is None:
            values |= dict.fromkeys(LETTERS, "") | _options(record.get(sources["options"][0]))
        images = list(chain.from_iterable(_pictures(record.get(name)) for name in sources.get("image", ())))
    except InvalidRowError as refusal:
        problem = problem or str(refusal)
    except RecursionError:
        problem = problem or "has lists within lists"
    if index is not None:
        values["index"] = index
    if problem is None and any("\0" in value for value in values.values()):
        problem = "contains a NUL character"
    if problem is None and not all(map(is_text, values.values())):
        problem = "contains half of a character (a lone surrogate)"
    # A TSV may have its images in the column of that name.
    return Row(line, values, problem, images if "image" in sources else None)


def _text(value: object) -> str:
    """Return a value as the text that a TSV would have; a list as Python writes it."""
    match value:
        case str():
            return value
        case None | bytes():
            return ""
        case bool():
            return json.dumps(value)
        case float() if math.isnan(value):
            return ""
        case list():
            # Of a list within it, too: else each level would double the marks of escapes.
            return repr([each if isinstance(each, list) else _text(each) for each in value])
        case {"bytes": _, **others}:
            return _text(others.get("path"))
        case _:
            return str(value)


def _options(value: object) -> dict[str, str]:
    """Return the options in a cell by letter; it is a list, or the text of one in JSON or Python."""
    if isinstance(value, str):
        try:
            value = json_content(value) if value.strip() else []
        except ValueError:
            try:
                value = ast.literal_eval(str(value))
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                value = str(value)
    if value is None:
        value = []
    if not isinstance(value, list) or any(isinstance(each, list | dict | bytes | tuple) for each in value):
        raise InvalidRowError("its options are no list of texts")
    if len(value) > len(LETTERS):
        raise InvalidRowError(f"has {len(value)} options, more than the {len(LETTERS)} letters")
    return dict(zip(LETTERS, map(_text, value), strict=False))


def _pictures(value: object) -> list[Picture]:
    """Return the images in a cell: texts, or the bytes and path of files."""
    match value:
        case bytes():
            return [(value, None)] if value else []
        case {"bytes": bytes(data), **others} if data:
            return [(data, _text(others.get("path")) or None)]
        case list():
            return list(chain.from_iterable(map(_pictures, value)))
        case str():
            return [*listed_strings(value)] if value.strip() else []
        case _:
            text = _text(value)
            return [text] if text else []
