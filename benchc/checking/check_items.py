"""The items on which `benchc models check` tries a model."""

from pathlib import Path

import polars as pl

from benchc.checking.pool import generated_sample
from benchc.config.new_entries import source_entry
from benchc.randomness import seed_of
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.sources.pool import assemble, choose, task_types
from benchc.sources.vlmevalkit import ReaderOptions, read_vlmevalkit


def check_items(source: Path | None, most: int) -> pl.DataFrame:
    """Return at most ``most`` items of a source, of type POOL; None: a few generated ones.

    ``source`` is a TSV file in VLMEvalKit's format, or the pool of a run (Parquet). Items are taken in the
    order of a hash of their ids. Raises InputError where the file cannot be read.
    """
    if source is None:
        return generated_sample().sample
    if source.suffix == ".parquet":
        items = read_table(source, POOL)
    else:
        entry = source_entry(str(source), Path.cwd())
        column = entry.content["task_column"]
        read, _ = read_vlmevalkit(source, entry.id, ReaderOptions(task_column=column))
        items = assemble(
            choose(task_types({entry.id: read}, {entry.id: column}), None, None), {entry.id: read}
        )
    items = items.filter(pl.col("answer").is_not_null())
    taken = sorted(items["id"], key=lambda id_: seed_of("pool", id_))[:most]
    return items.filter(pl.col("id").is_in(taken))
