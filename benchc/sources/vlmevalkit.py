"""Read items from a TSV in VLMEvalKit's format."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl

from benchc.image_keys import derived_key, named_key, pixel_key
from benchc.letters import LETTERS
from benchc.progress import track
from benchc.schemas.items import IMAGE, ITEMS
from benchc.sources.error import InvalidRowError, SourceError
from benchc.sources.item_images import (
    ImageFile,
    check_image,
    pixel_digest,
    read_image_names,
    read_item_images,
)
from benchc.sources.item_order import item_key
from benchc.sources.item_text import ItemText, present, read_item_text, read_open_text, with_answer_words
from benchc.sources.reader_options import ReaderOptions
from benchc.sources.report import Kind, Remark, report_frame
from benchc.sources.tsv import Row, listed, read_header, read_rows

LONGEST_INDEX = 100  # characters


def read_vlmevalkit(
    path: str | Path, source: str, options: ReaderOptions | None = None
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the items of a TSV, of type ITEMS in the order of their indices, and the report.

    Texts and image files stay as published. The report (columns id, line, kind, reason) lists the rows that
    cannot become items (kind ``rejected``), those that the options exclude (``excluded``), and notes on
    others (``note``). Raises SourceError where the file cannot be read or lacks a column.
    """
    path, options = Path(path), options or ReaderOptions()
    header = read_header(path)
    open_ended = is_open_ended(header, options)
    _check_columns(path, header, options, open_ended)
    rows = _Rows(source, options, open_ended)
    for row in track(read_rows(path), label=f"read {source}", unit="rows"):
        rows.add(row)
    items = rows.finish()
    if not items:
        raise SourceError(
            f"{path}: none of its rows became an item; the reason of the first: "
            f"{rows.remarks[0].reason if rows.remarks else 'it has no rows'}"
        )
    return _frame(items), report_frame(rows.remarks)


class _Rows:
    """Collects rows. Images are resolved at the end, since a row may share those of a later one."""

    def __init__(self, source: str, options: ReaderOptions, open_ended: bool) -> None:
        self.remarks: list[Remark] = []
        self._source = source
        self._options = options
        self._open_ended = open_ended
        self._texts: dict[str, tuple[int, ItemText]] = {}
        self._images: dict[str, list[ImageFile] | str | InvalidRowError] = {}
        self._names: dict[str, list[str]] = {}
        self._named: dict[str, bytes] = {}
        # By file, since many rows may have one picture: the digest of its pixels where keys are of pixels.
        self._decoded: dict[bytes, str | None] = {}

    def add(self, row: Row) -> None:
        index = row.values.get("index", "").strip()
        problem: str | None = None
        if len(index) > LONGEST_INDEX or not index.isprintable():
            index, problem = "", f"the index is not one line of up to {LONGEST_INDEX} characters"
        elif not index:
            problem = "has no index"
        elif index in self._images:
            problem = f"index {index} is that of an earlier row"
        if problem := row.problem or problem:
            self._remark(row, index, "rejected", problem)
            return
        # A row that is no item may have the image of another one.
        try:
            self._images[index] = read_item_images(row.values, self._decode_once)
        except InvalidRowError as refusal:
            self._images[index] = refusal
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
            self._remark(row, index, "rejected", str(refusal))
            return
        if len(set(text.options)) < len(text.options):
            self._remark(row, index, "note", "two options have the same text")
        if not text.options and row.values["answer"].strip() in set(LETTERS):
            self._remark(
                row,
                index,
                "note",
                "the answer is one letter; if a column has the options, name it (options_column)",
            )
        self._texts[index] = row.line, text

    def finish(self) -> list[tuple[str, ItemText, list[ImageFile], list[str]]]:
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
        self.remarks.sort(key=lambda remark: remark.line or 0)
        return sorted(items, key=lambda item: item_key(item[0]))

    def _decode_once(self, data: bytes) -> None:
        if data in self._decoded:
            return
        if self._options.pixel_keys:
            self._decoded[data] = pixel_digest(data)
        else:
            check_image(data)
            self._decoded[data] = None

    def _resolved(self, index: str) -> list[ImageFile]:
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
            raise InvalidRowError(f"image {images!r} is neither an image in base64 nor the index of a row")
        raise InvalidRowError(f"shares the image of row {images!r}, which has none of its own")

    def _keys(self, id_: str, index: str, images: list[ImageFile]) -> list[str]:
        """Return the keys of a row's images. Raises InvalidRowError where its names do not fit them."""
        if self._options.pixel_keys:
            return [pixel_key(str(self._decoded[image.bytes])) for image in images]
        if index not in self._names:
            # Also for a row that shares another's image by its index: keys decide the noise, which in
            # existing runs differs between such rows.
            return [derived_key(id_, number) for number in range(len(images))]
        names = self._names[index]
        if len(names) != len(images):
            raise InvalidRowError(
                f"{self._options.image_column} names {len(names)} images, but the row has {len(images)}"
            )
        named: dict[str, bytes] = {}
        for name, image in zip(names, images, strict=True):
            if named.setdefault(name, self._named.get(name, image.bytes)) != image.bytes:
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
        return read_item_text(values, options.options_column)

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
        raise SourceError(f"{path}: has no column {missing[0]!r}; its columns are {listed(header)}")


def _needed(options: ReaderOptions, open_ended: bool) -> Iterator[str]:
    yield from ("index", "image", "question", "answer")
    if options.options_column is not None:
        yield options.options_column
    elif not open_ended and not options.answer_words:
        yield from ("A", "B")
    yield from options.exclude
    yield from filter(None, (options.category_column, options.image_column, options.problem_column))


def _frame(items: Sequence[tuple[str, ItemText, list[ImageFile], list[str]]]) -> pl.DataFrame:
    """Return items of type ITEMS, of which those that share an image file share its memory."""
    files = {id(image): image for _, _, images, _ in items for image in images}
    numbers = {key: number for number, key in enumerate(files)}
    rows = [
        {"id": id_, **text._asdict(), "images": [numbers[id(image)] for image in images], "image_keys": keys}
        for id_, text, images, keys in items
    ]
    frame = pl.DataFrame(rows, schema={**ITEMS.columns, "images": pl.List(pl.Int64)})
    data = pl.Series([image._asdict() for image in files.values()], dtype=IMAGE)
    shown = frame.select("id", "images").explode("images")
    shown = shown.with_columns(images=data.gather(shown["images"]))
    return frame.with_columns(shown.group_by("id", maintain_order=True).agg("images")["images"])
