"""Check the pool: what it would contain, and a sample of it on which models are tried."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from benchc.checking.finding import Finding, Findings, reason
from benchc.checking.sources import SourceItems, draw_of, write_generated
from benchc.config.load import Config
from benchc.demo.sources import GENERATED_SOURCES
from benchc.errors import InputError
from benchc.planning.amounts import Amount
from benchc.planning.size import POOL_FILE, RunSize, run_size
from benchc.pluralize import pluralize
from benchc.schemas.parquet import iterate_groups, read_table
from benchc.schemas.pool import POOL
from benchc.sources.pool import ChosenItems, assemble, choose, task_types
from benchc.sources.vlmevalkit import read_vlmevalkit
from benchc.workflow.run import Run

STAGE = "pool"
SAMPLE = 3


@dataclass(frozen=True)
class PoolFound:
    """The pool of the sources that are here.

    ``texts``: its items, with the columns of POOL but for images. ``size``: that of the run; None unless all
    sources are here. ``sample``: up to three items, of type POOL, on which models are tried. ``options``: the
    most options of an item. ``drawn``: up to three items drawn by hash, of type POOL, on which time is
    measured; None where the sample is generated.
    """

    texts: pl.DataFrame
    size: RunSize | None
    sample: pl.DataFrame
    options: int
    drawn: pl.DataFrame | None = None

    @property
    def ids(self) -> set[str]:
        return set(self.texts["id"])

    @property
    def all_ids(self) -> list[str] | None:
        """The ids of the run's items in the pool's order; None unless all sources are here."""
        return None if self.size is None else self.texts["id"].to_list()


def check_pool(config: Config, items: Mapping[str, SourceItems]) -> Findings[PoolFound]:
    """Yield the number of items of each task type, and return the pool.

    Where the sources make no pool, it is empty, and the sample is generated.
    """
    absent = [id_ for id_ in config.sources if id_ not in items]
    if not items:
        text = "its size is unknown: no source can be read" if absent else "the run has no sources"
        yield Finding(STAGE, "skipped", "all", text)
        return generated_sample()
    columns = {id_: config.sources[id_].task_column for id_ in items}
    limits = config.settings.pool
    try:
        tasks = task_types({id_: found.texts for id_, found in items.items()}, columns)
        choice = choose(tasks, limits.per_task, limits.total)
    except InputError as error:
        yield Finding(STAGE, "error", "all", reason(error))
        return generated_sample()
    for task, sources, available, taken in choice.report.iter_rows():
        yield Finding(STAGE, "ok", f"{taken:,} of {available:,}", f"{task} ({sources})")
    items_taken = f"{choice.items.height:,} of {pluralize(tasks.height, 'item')}"
    text = f"{items_taken}, {_limit(choice, limits.per_task)}"
    if absent:
        yield Finding(STAGE, "skipped", "all", f"{text}, without {', '.join(absent)}")
    else:
        yield Finding(STAGE, "ok", "all", text)
    return _found(choice, items, complete=not absent)


def finished_pool(config: Config, folder: Path) -> Findings[PoolFound]:
    """Yield how many items the pool of a finished run has, and return it; ``folder``: that of its results."""
    path = folder / POOL_FILE
    try:
        Run(config)  # finds what the finished run lacks
        texts = read_table(path, POOL, [name for name in POOL.columns if name != "images"])
        drawn = set(sorted(texts["id"], key=draw_of)[:SAMPLE])
        sample = pl.concat(iterate_groups(path, POOL, "id", drawn))
        size = run_size(config, folder)
    except InputError as error:
        yield Finding(STAGE, "error", "all", reason(error))
        return generated_sample()
    yield Finding(STAGE, "ok", "all", f"{pluralize(texts.height, 'item')}, taken from {folder}")
    return PoolFound(texts, size, sample, _most_options(texts), sample)


def _limit(choice: ChosenItems, per_task: int | None) -> str:
    """Return what limits the items of a task type; the choice's cap is at most the largest task type."""
    largest = choice.report["available"].to_list()
    if choice.cap < max(largest) or choice.cap == per_task:
        return f"at most {choice.cap:,} per task type"
    limit = "" if per_task is None else f"at most {per_task:,} per task type; "
    return f"{limit}the largest task type has {choice.cap:,}"


def generated_sample() -> PoolFound:
    """Return an empty pool with a sample of generated items."""
    id_, column = GENERATED_SOURCES[0], "category"
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{id_}.tsv"
        write_generated(id_, 1, 0, path)
        items, _ = read_vlmevalkit(path, id_)
    choice = choose(task_types({id_: items}, {id_: column}), None, None)
    sample = _sample(choice, {id_: items})
    texts = choice.items.join(items.drop("images"), on="id")
    return PoolFound(texts.clear(), None, sample, _most_options(items))


def _found(choice: ChosenItems, items: Mapping[str, SourceItems], *, complete: bool) -> PoolFound:
    texts = pl.concat([found.texts for found in items.values()])
    texts = choice.items.join(texts, on="id", maintain_order="left")
    size = None
    if complete:
        images = pl.concat([found.images for found in items.values()])
        images = choice.items.join(images, on="id", maintain_order="left_right")
        options = dict(zip(texts["id"], texts["options"].list.len(), strict=True))
        size = RunSize(Amount(texts.height), options, images)
    sample = _sample(choice, {id_: found.first for id_, found in items.items()})
    return PoolFound(texts, size, sample, _most_options(texts), _drawn(choice, items))


def _sample(choice: ChosenItems, items: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return up to three items of the choice: of several sources, and with many images and options."""
    counts = pl.concat(items.values()).select(
        "id", images=pl.col("images").list.len(), options=pl.col("options").list.len()
    )
    descending = [True, True, False]
    ordered = choice.items.join(counts, on="id").sort("images", "options", "id", descending=descending)
    spread = ordered.with_columns(turn=pl.int_range(pl.len()).over("source"))
    taken = spread.sort("turn", maintain_order=True).head(SAMPLE).select(choice.items.columns)
    return assemble(replace(choice, items=taken), items)


def _drawn(choice: ChosenItems, items: Mapping[str, SourceItems]) -> pl.DataFrame:
    """Return up to three items of the choice, drawn by hash from those that are kept with their images."""
    kept = {id_: pl.concat([found.drawn, found.first]).unique("id") for id_, found in items.items()}
    ids = pl.concat(frame.select("id") for frame in kept.values()).join(choice.items, on="id")["id"]
    taken = sorted(ids, key=draw_of)[:SAMPLE]
    return assemble(replace(choice, items=choice.items.filter(pl.col("id").is_in(taken))), kept)


def _most_options(items: pl.DataFrame) -> int:
    return int(items["options"].list.len().to_numpy().max())
