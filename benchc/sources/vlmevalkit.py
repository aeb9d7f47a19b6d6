"""Read items from a data file with the columns of VLMEvalKit, whatever its format."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchc.image_keys import derived_key, named_key, pixel_key
from benchc.letters import LETTERS
from benchc.ordered_map import ordered_map
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.schemas.items import ITEMS
from benchc.sources.error import InvalidRowError, NoLetterError, PastLastOptionError, SourceError
from benchc.sources.item_images import read_image_names, read_item_images
from benchc.sources.item_order import item_key
from benchc.sources.item_text import ItemText, present, read_item_text, read_open_text, with_answer_words
from benchc.sources.reader_options import STANDARD, ReaderOptions
from benchc.sources.report import Kind, Remark, report_frame
from benchc.sources.rows import image_folder, listed_columns, read_header, read_rows
from benchc.sources.stored_images import StoredFile, StoredImages
from benchc.sources.tsv import Row

LONGEST_INDEX = 100  # characters

# Threads, and rows that they have or wait for, whose images are in memory.
DECODERS, WAITING = 2, 4

# Of a file that counts from 1, answers past the last option are so many times those of the first, which are
# errors; of one that counts from 0 and whose last options are absent, there are about as many.
MANY = 10
# A note, of a file whose answers are indices: all of them may be wrong.
COUNTS_FROM_1 = "no answer of the rows that are read is 0; if the file counts from 1, subtract 1 from all"

LETTERED = "every option begins with its letter, which prompts add; take the letters out of the options"

# What data sets call a standard column.
OTHER_NAMES = {
    "index": ("id", "question_id"),
    "image": ("picture", "photo"),
    "question": ("prompt", "query"),
    "answer": ("label", "solution", "target", "ground_truth", "correct_answer"),
}
ITEMS_AT_ONCE = 64
BYTES_AT_ONCE = 2**25

IMAGES = pl.Schema(
    {
        "id": pl.String,
        "image": pl.Int64,
        "image_key": pl.String,
        "width": pl.Int64,
        "height": pl.Int64,
        "pixels": pl.String,
    }
)


@dataclass(frozen=True)
class SourceItems:
    """The items of a source, whose images are on disk as long as it is open.

    ``texts``: the columns of ITEMS without images, in the order of the indices. ``images``: one row per item
    and image, numbered from 0: its key, its size, and the hash of its pixels (``pixel_digest``). ``report``:
    the columns id, line, kind and reason. ``rows``: those that were read.
    """

    texts: pl.DataFrame
    images: pl.DataFrame
    report: pl.DataFrame
    rows: int
    _files: Sequence[Sequence[StoredFile]]
    _store: StoredImages

    def frames(self, ids: Collection[str] | None = None) -> Iterator[pl.DataFrame]:
        """Yield items of type ITEMS, by default all, in their order and a few at a time."""
        part: list[int] = []
        size = 0
        for number, id_ in enumerate(self.texts["id"]):
            if ids is not None and id_ not in ids:
                continue
            more = sum(self._store.size(file.number) for file in self._files[number])
            if part and (len(part) == ITEMS_AT_ONCE or size + more > BYTES_AT_ONCE):
                yield self._frame(part)
                part, size = [], 0
            part.append(number)
            size += more
        if part:
            yield self._frame(part)

    def _frame(self, numbers: Sequence[int]) -> pl.DataFrame:
        files = [
            (number, self._store.read(file.number), file.path)
            for number in numbers
            for file in self._files[number]
        ]
        # Polars takes longer for lists of dicts.
        images = (
            pl.DataFrame(files, {"item": pl.Int64, "bytes": pl.Binary, "path": pl.String}, orient="row")
            .group_by("item", maintain_order=True)
            .agg(images=pl.struct("bytes", "path"))
        )
        return self.texts[list(numbers)].with_columns(images["images"]).select(list(ITEMS.columns))


@contextmanager
def opened_source(
    path: str | Path, source: str, options: ReaderOptions | None = None, folder: Path | None = None
) -> Iterator[SourceItems]:
    """Read a data file, and yield its items. Memory: their texts, and a few images.

    Texts and image files stay as published. The report lists the rows that cannot become items (kind
    ``rejected``), those that the options exclude (``excluded``), and notes on others (``note``). ``folder``:
    where images are stored meanwhile, by default that of the system. Raises SourceError where the file cannot
    be read or lacks a column.
    """
    path, options = Path(path), options or ReaderOptions()
    header = read_header(path, options.columns)
    open_ended = is_open_ended(header, options)
    _check_columns(path, header, options, open_ended)
    with StoredImages(folder) as store:
        rows = _Rows(source, options, open_ended, image_folder(path), store)
        count = 0
        read = track(read_rows(path, options.columns), label=f"read {source}", unit="rows")
        for row, images in ordered_map(rows.decoded, read, ThreadPoolExecutor(DECODERS), WAITING):
            rows.add(row, images)
            count += 1
        if len(rows.past_last) > MANY * (zeros := rows.answers_of_first()):
            some = f"only {zeros:,}" if zeros else "none"
            line = rows.past_last[0]
            where = "" if line is None else f" (the first in line {line})"
            has = "have" if zeros > 1 else "has"
            raise SourceError(
                f"{path}: {pluralize(len(rows.past_last), 'answer')}{where} would name an option if the "
                f"first were number 1, and {some} of the rows that can be read {has} the answer 0; if the "
                "file counts from 1, subtract 1 from all answers, else correct or remove these rows"
            )
        items = rows.finish()
        if not items:
            if not rows.remarks:
                raise SourceError(f"{path}: it has no rows; give a file with a row for each item")
            first = rows.remarks[0]
            where = "" if first.line is None else f", in line {first.line}"
            raise SourceError(
                f"{path}: none of its rows became an item; the first{where}: {first.reason}; mend the file "
                "or the keys of reader"
            )
        yield _source_items(items, rows.remarks, count, store)


def read_vlmevalkit(
    path: str | Path, source: str, options: ReaderOptions | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return all items of a small data file, of type ITEMS in the order of their indices, and the report.

    As :func:`opened_source`, but with all images in memory.
    """
    with opened_source(path, source, options) as found:
        return pl.concat(found.frames()), found.report


# The files of a row's images, each with its key in the store and its path; or what is said in place of them.
_Decoded = list[tuple[bytes, bytes, str | None]] | str | InvalidRowError

# Id, text, images and their keys.
_Item = tuple[str, ItemText, list[StoredFile], list[str]]


class _Rows:
    """Collects rows. Images are resolved at the end, since a row may share those of a later one."""

    def __init__(
        self, source: str, options: ReaderOptions, open_ended: bool, folder: Path | None, store: StoredImages
    ) -> None:
        self.remarks: list[Remark] = []
        self._source = source
        self._options = options
        self._open_ended = open_ended
        self._texts: dict[str, tuple[int, ItemText]] = {}
        self.past_last: list[int | None] = []  # lines of rows whose answer is the number of their options
        self._folder = folder
        self._store = store
        self._images: dict[str, list[StoredFile] | str | InvalidRowError] = {}
        self._names: dict[str, list[str]] = {}
        self._named: dict[str, int] = {}

    def decoded(self, row: Row) -> tuple[Row, _Decoded]:
        """Return a row, and its images, all of them decoded. Threads may call it at the same time."""
        keys: list[bytes] = []
        try:
            found = read_item_images(
                row.values, lambda data: keys.append(self._store.check(data)), row.images, self._folder
            )
        except InvalidRowError as refusal:
            return row, refusal
        if isinstance(found, str):
            return row, found
        return row, [(key, file.bytes, file.path) for key, file in zip(keys, found, strict=True)]

    def add(self, row: Row, images: _Decoded) -> None:
        """Take a row, and what :meth:`decoded` returned for it."""
        index = row.values.get("index", "").strip()
        problem: str | None = None
        if len(index) > LONGEST_INDEX or not index.isprintable():
            index, problem = "", f"the index is not one line of up to {LONGEST_INDEX} characters"
        elif present(index) is None:
            index, problem = "", "has no index"
        elif index in self._images:
            problem = f"index {index!r} is that of an earlier row"
        if problem := row.problem or problem:
            self._remark(row, index, "rejected", problem)
            return
        # A row that is no item may have the image of another one.
        self._images[index] = (
            [StoredFile(self._store.add(key, data), path) for key, data, path in images]
            if isinstance(images, list)
            else images
        )
        reason = self._excluded(index, row.values)
        if reason is not None:
            self._remark(row, index, "excluded", reason)
            return
        try:
            text = self._text(row.values)
            task_column = self._options.task_column
            if task_column is not None and getattr(text, task_column) is None:
                raise InvalidRowError(f"has no {task_column}, the task type (task_column of the source)")
            if self._options.image_column is not None:
                self._names[index] = read_image_names(row.values, self._options.image_column)
        except InvalidRowError as refusal:
            mend = ""
            if isinstance(refusal, NoLetterError) and refusal.form is not None:
                mend = f" (answer_form of the source's reader may be {refusal.form})"
            self._remark(row, index, "rejected", f"{refusal}{mend}")
            if isinstance(refusal, PastLastOptionError):
                self.past_last.append(row.line)
            return
        if len({" ".join(option.split()) for option in text.options}) < len(text.options):
            self._remark(row, index, "note", "two options have the same text")
        if text.options and all(map(_begins_with, text.options, LETTERS)):
            self._remark(row, index, "note", LETTERED)
        if not text.options and row.values["answer"].strip() in set(LETTERS):
            self._remark(
                row,
                index,
                "note",
                "the answer is one letter; if a column has the options, name it (options_column)",
            )
        self._texts[index] = row.line, text

    def answers_of_first(self) -> int:
        """Return how many rows have the first option as their answer."""
        return sum(text.answer == 0 for _, text in self._texts.values())

    def finish(self) -> list[_Item]:
        """Return the items in order, each with its text, images and image keys.

        Rows without valid images or image names are rejected.
        """
        items = []
        for index, (line, text) in self._texts.items():
            id_ = f"{self._source}/{index}"
            try:
                images = self._resolved(index)
                if self._options.one_image and len(images) > 1:
                    raise InvalidRowError(f"has {len(images)} images, and rows with one are read (one_image)")
                items.append((id_, text, images, self._keys(id_, index, images)))
            except InvalidRowError as refusal:
                self.remarks = [note for note in self.remarks if (note.id, note.kind) != (id_, "note")]
                self.remarks.append(Remark(id_, line, "rejected", str(refusal)))
        chosen = [id_ for id_, text, _, _ in items if text.answer is not None]
        if self._options.answer_form == "index" and len(chosen) >= MANY and not self.answers_of_first():
            line, _ = self._texts[chosen[0].removeprefix(f"{self._source}/")]
            self.remarks.append(Remark(chosen[0], line, "note", COUNTS_FROM_1))
        self.remarks.sort(key=lambda remark: remark.line or 0)
        return sorted(items, key=lambda item: item_key(item[0]))

    def _resolved(self, index: str) -> list[StoredFile]:
        """Return the images of a row. Raises InvalidRowError where it has none."""
        images = self._images[index]
        if isinstance(images, InvalidRowError):
            raise images
        if not isinstance(images, str):
            return images
        shared = self._images.get(images)
        if isinstance(shared, list):
            return shared
        if shared is None:
            file = "" if self._folder is None else "a file below the folder of the data, "
            comma = "," if file else ""
            raise InvalidRowError(
                f"image {images!r} is neither {file}an image in base64{comma} nor the index of a row"
            )
        raise InvalidRowError(f"shares the image of row {images!r}, which has none of its own")

    def _keys(self, id_: str, index: str, images: list[StoredFile]) -> list[str]:
        """Return the keys of a row's images. Raises InvalidRowError where its names do not fit them."""
        if self._options.pixel_keys:
            return [pixel_key(self._store.facts[image.number].digest) for image in images]
        if index not in self._names:
            # Also for a row that shares another's image by its index: keys decide the noise, which in
            # existing runs differs between such rows.
            return [derived_key(id_, number) for number in range(len(images))]
        names = self._names[index]
        if len(names) != len(images):
            raise InvalidRowError(
                f"{self._options.image_column} names {len(names)} images, but the row has {len(images)}"
            )
        named: dict[str, int] = {}
        for name, image in zip(names, images, strict=True):
            if named.setdefault(name, self._named.get(name, image.number)) != image.number:
                raise InvalidRowError(
                    f"names its image {name[:40]!r}, which is the name of a different image"
                )
        self._named |= named
        return [named_key(self._source, name) for name in names]

    def _text(self, values: Mapping[str, str]) -> ItemText:
        options = self._options
        if options.problem_column is not None and (problem := values[options.problem_column]):
            raise InvalidRowError(problem)
        if options.category_column is not None:
            values = {**values, "category": values[options.category_column]}
        without = not any(present(values.get(letter)) for letter in LETTERS)
        if self._open_ended or (options.open_ended and without):
            return read_open_text(values, answer_lists=options.answer_lists)
        if options.answer_words:
            values = with_answer_words(values)
        return read_item_text(values, options.options_column, options.answer_form)

    def _excluded(self, index: str, values: Mapping[str, str]) -> str | None:
        for column, excluded in self._options.exclude.items():
            value = values[column]
            if value in ([excluded] if isinstance(excluded, str) else excluded):
                return f"{column} is {value}"
        limit = self._options.index_below
        if limit is not None and index.isdecimal() and int(index) >= limit:
            return f"index is {limit} or larger"
        return None

    def _remark(self, row: Row, index: str, kind: Kind, reason: str) -> None:
        self.remarks.append(Remark(f"{self._source}/{index}", row.line, kind, reason))


def _begins_with(option: str, letter: str) -> bool:
    return option.startswith((f"{letter}. ", f"{letter}) ", f"{letter}: ", f"({letter}) "))


def is_open_ended(header: Sequence[str], options: ReaderOptions) -> bool:
    """Return whether a TSV with these columns has open-ended questions: it has no column of options."""
    if options.options_column is not None or options.answer_words:
        return False
    return not set(LETTERS).intersection(header)


def _check_columns(path: Path, header: list[str], options: ReaderOptions, open_ended: bool) -> None:
    given = sorted(set(LETTERS).intersection(header))
    if options.answer_words and given:
        raise SourceError(
            f"{path}: has the column {given[0]!r} of options, but answer_words is for a file without; remove "
            "answer_words"
        )
    missing = [name for name in _needed(options, open_ended) if name not in header]
    if missing:
        mend = _renaming(missing[0], header) if missing[0] in STANDARD else ""
        raise SourceError(
            f"{path}: has no column {missing[0]!r}; its columns are {listed_columns(path, mend)}"
        )


def _renaming(column: str, header: Sequence[str]) -> str:
    """Return how a user names the column that a file has in place of a standard one."""
    others = set(header) - set(STANDARD)
    if not others:
        return "; add the column"
    name = next((each for each in OTHER_NAMES.get(column, ()) if each in others), "NAME")
    reader = json.dumps({"columns": {column: name}})
    return f"; name the column that has it by the source's key reader (benchc new: --reader): {reader}"


def _needed(options: ReaderOptions, open_ended: bool) -> Iterator[str]:
    yield from ("index", "image", "question", "answer")
    if options.options_column is not None:
        yield options.options_column
    elif not open_ended and not options.answer_words:
        yield from ("A", "B")
    yield from options.exclude
    yield from filter(None, (options.category_column, options.image_column, options.problem_column))


def _source_items(
    items: Sequence[_Item], remarks: Sequence[Remark], rows: int, store: StoredImages
) -> SourceItems:
    texts = [{"id": id_, **text._asdict(), "image_keys": keys} for id_, text, _, keys in items]
    schema = {name: dtype for name, dtype in ITEMS.columns.items() if name != "images"}
    images = [
        (id_, number, key, *store.facts[file.number])
        for id_, _, files, keys in items
        for number, (file, key) in enumerate(zip(files, keys, strict=True))
    ]
    return SourceItems(
        pl.DataFrame(texts, schema=schema),
        pl.DataFrame(images, schema=IMAGES, orient="row"),
        report_frame(remarks),
        rows,
        [files for _, _, files, _ in items],
        store,
    )
