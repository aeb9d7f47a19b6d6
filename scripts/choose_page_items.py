"""Choose the items that the results page shows."""

from pathlib import Path

import polars as pl

from benchc.command_line import NaturalInt, PositiveInt
from benchc.randomness import seed_of
from benchc.schemas.page_items import PAGE_ITEMS
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import read_ids
from benchc.schemas.subset import SampleFooter


def choose_page_items(
    *,
    pool: Path,
    ids: tuple[Path, ...] = (),
    groups: Path | None = None,
    samples: PositiveInt,
    seed: NaturalInt,
    output: Path,
) -> None:
    """Choose the items that the results page shows: all, or the first samples in the order of a hash.

    Args:
        pool: pool/items.parquet
        ids: files with the ids of the benchmark's items; default: all of the pool
        groups: a table with the columns id and group, of items that are shown together; default: each item
            is a sample of its own
        samples: the most samples
        seed: of the hash
        output: chosen.parquet to write
    """
    found = {id_ for path in ids for id_ in read_ids(pool, path)}
    items = read_table(pool, POOL, ["id"]).filter(pl.col("id").is_in(list(found)) if ids else pl.lit(True))
    items = items.with_columns(sample="id")
    if groups is not None:
        own = pl.read_parquet(groups, columns=["id", "group"], glob=False).rename({"group": "sample"})
        items = items.drop("sample").join(own, on="id", maintain_order="left")
    candidates = items["sample"].unique(maintain_order=True).to_list()
    first = {*sorted(candidates, key=lambda each: seed_of(seed, "page", each))[:samples]}
    chosen = items.filter(pl.col("sample").is_in(list(first)))
    write_table(chosen, output, PAGE_ITEMS, SampleFooter(candidates=len(candidates)))
    print(f"{len(first):,} of {len(candidates):,} samples are in the results page")
