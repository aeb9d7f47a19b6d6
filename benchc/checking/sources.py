"""Check the sources of a run: read those that are here as the run does, and ask for the size of others."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from benchc.checking.downloads import first_reached
from benchc.checking.finding import Finding, Findings, Level, reason
from benchc.config.catalogue import Source
from benchc.config.load import Config
from benchc.config.settings import Demo
from benchc.config.source_files import (
    SourceFile,
    max_rejected,
    published_text,
    reader_options,
    source_files,
)
from benchc.demo.source import generate_source
from benchc.errors import InputError
from benchc.planning.amounts import disk_text
from benchc.pluralize import pluralize
from benchc.randomness import seed_of
from benchc.sources.conversion import convert
from benchc.sources.download import FOLDER, check_given, data_folder, file_in
from benchc.sources.pool import choose, task_types
from benchc.sources.report import check_rejected, counted, reason_kind
from benchc.sources.rows import shards_of
from benchc.sources.vlmevalkit import COUNTS_FROM_1, opened_source
from benchc.sources.vlmevalkit import SourceItems as ReadSource

STAGE = "sources"
ROWS_SHOWN = 3
# Items of a source that are kept with their images: enough that the pool takes some of them.
DRAWN = 16

LEVELS: Mapping[str, Level] = {"rejected": "warning", "excluded": "note", "note": "note"}


@dataclass(frozen=True)
class SourceItems:
    """The items of a source, with the images of a few.

    ``texts``: all items, without images. ``first``: of every task type the item that the pool takes first,
    of type ITEMS. ``images``: one row per item and image, with the columns id, image_key and pixels.
    ``drawn``: items drawn by hash, of type ITEMS, of which the pool need not take all.
    """

    texts: pl.DataFrame
    first: pl.DataFrame
    images: pl.DataFrame
    drawn: pl.DataFrame


def check_sources(config: Config) -> Findings[dict[str, SourceItems]]:
    """Yield what is wrong with each source; return the items of those that are here or that the run makes."""
    found = {}
    settings = config.settings
    for id_, source in config.all_sources.items():
        made = next((path for path in settings.made_sources if _is_made(source, path)), None)
        if made is not None:
            yield Finding(STAGE, "made", id_, f"{made}, made by the run")
            continue
        items = yield from _source(id_, source, settings.demo)
        if items is not None:
            found[id_] = items
    return found


def _is_made(source: Source, path: str) -> bool:
    """Return whether a source is a file that the run makes, and has not made yet."""
    if source.path is None or Path(path).exists():
        return False
    return Path(source.path).absolute() == Path(path).absolute()


def write_generated(id_: str, groups: int, seed: int, path: Path) -> None:
    """Write a generated source as the run does."""
    generate_source(id_, seed=seed, groups=groups).write_csv(path, separator="\t", quote_style="always")


def _source(id_: str, source: Source, demo: Demo | None) -> Findings[SourceItems | None]:
    files = source_files(id_, source)
    absent = [file for file in files.values() if file.url is not None and not Path(file.path).is_file()]
    for file in absent:
        yield from _download(id_, file)
    if absent:
        return None
    paths = {name: Path(file.path) for name, file in files.items()}
    with TemporaryDirectory() as folder:
        try:
            tsv = paths.get("tsv") or _made(id_, source, paths, demo, Path(folder))
            with opened_source(tsv, id_, reader_options(source)) as found:
                return (yield from _items(id_, source, found, tsv, paths))
        except (InputError, OSError) as error:
            yield Finding(STAGE, "error", id_, reason(error))
            return None


def _items(
    id_: str, source: Source, found: ReadSource, tsv: Path, files: Mapping[str, Path]
) -> Findings[SourceItems]:
    level: Level = "made" if source.generated is not None else "ok"
    origin = ", ".join(map(str, files.values())) or "made by the run"
    if more := len(shards_of(tsv)) - 1:
        origin += f" and {pluralize(more, 'more shard')}"
    yield Finding(STAGE, level, id_, f"{counted(found.texts.height, published_text(source))}, {origin}")
    yield from _remarks(id_, found.report)
    try:
        check_rejected(tsv, found.report, found.rows, max_rejected(source), None)
    except InputError as error:
        yield Finding(STAGE, "error", id_, reason(error))
    tasks = task_types({id_: found.texts}, {id_: source.task_column})
    first = set(choose(tasks, per_task=1, total=None).items["id"])
    drawn = set(sorted(found.texts["id"], key=draw_of)[:DRAWN])
    items = pl.concat(found.frames(first | drawn))
    pixels = found.images.select("id", "image_key", pixels=pl.col("width") * pl.col("height"))
    return SourceItems(
        found.texts,
        items.filter(pl.col("id").is_in(first)),
        pixels,
        items.filter(pl.col("id").is_in(drawn)),
    )


def _made(id_: str, source: Source, files: Mapping[str, Path], demo: Demo | None, folder: Path) -> Path:
    """Write the TSV of a source that is generated or converted, as the run does, and return its path."""
    path = folder / f"{id_}.tsv"
    if source.convert is not None:
        convert(source.convert.format, files, source.convert.take, path)
    else:
        assert source.generated is not None and demo is not None  # which the configuration's checks ensure
        write_generated(id_, source.generated.groups, demo.seed, path)
    return path


def _download(id_: str, file: SourceFile) -> Iterator[Finding]:
    """Yield from where a file will be downloaded or taken, and which of its addresses do not have it."""
    assert file.url is not None
    size: int | None
    problems: Sequence[str] = ()
    try:
        given = file_in(data_folder(), file.url)
        if given is not None:
            check_given(given, file.size)
            size, origin = given.stat().st_size, f"{given} ({FOLDER})"
        else:
            origin, size, problems = first_reached(file.addresses, file.size)
    except (InputError, OSError) as error:
        yield Finding(STAGE, "error", id_, reason(error))
        return
    if problems:
        yield Finding(STAGE, "warning", id_, f"{'; '.join(problems)}; a mirror has the file")
    yield Finding(STAGE, "fetch", id_, f"{disk_text(size) if size else 'size unknown'}, from {origin}")


def draw_of(id_: str) -> int:
    """Return by what an item is drawn: those with the smallest are a uniform draw."""
    return seed_of("check", id_)


def _remarks(id_: str, report: pl.DataFrame) -> Iterator[Finding]:
    """Yield a line for each kind of reason in the report of the reader: the first one, and the first rows."""
    of_kind = pl.Series([reason_kind(why) for why in report["reason"]], dtype=pl.String)
    for (kind, _), rows in report.group_by("kind", of_kind, maintain_order=True):
        why = rows["reason"][0]
        first = rows.select("id", "line").head(ROWS_SHOWN).iter_rows()
        shown = ", ".join(_row(id_of_row.removeprefix(f"{id_}/"), line) for id_of_row, line in first)
        more = ", …" if rows.height > ROWS_SHOWN else ""
        verb = "with a note" if kind == "note" else kind
        like = ", like this" if rows["reason"].n_unique() > 1 else ""
        text = f"{pluralize(rows.height, 'row')} {verb}{like}: {why} ({shown}{more})"
        yield Finding(STAGE, "warning" if why == COUNTS_FROM_1 else LEVELS[str(kind)], id_, text)


def _row(index: str, line: int | None) -> str:
    if line is None:
        return index
    return f"index {index} in line {line}" if index else f"line {line}"
