"""Give each question its capability, and report what becomes of each category."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import polars as pl

from benchc.atomic import write_text
from benchc.benchmarks.mllm_ic import capabilities as hierarchy
from benchc.benchmarks.mllm_ic.categories import (
    EXCLUDED,
    Category,
    groups_of,
    read_categories,
    without_questions,
)
from benchc.benchmarks.mllm_ic.questions import COLUMNS, asked, with_groups
from benchc.benchmarks.mllm_ic.schemas.capabilities import CAPABILITIES
from benchc.command_line import Json, PositiveInt
from benchc.errors import InputError
from benchc.image_keys import PIXELS
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import unique_images
from benchc.schemas.printed import csv_text

REPORT = ("source", "category", "capability", "status", "reason", "items", "asked", "published")


def capabilities(
    *,
    pool: Path,
    categories: Path,
    circular: list[str],
    mini: PositiveInt | None = None,
    published: Annotated[Mapping[str, int], Json],
    table: Path,
    report: Path,
) -> None:
    """Give each question its capability, and report what becomes of each category.

    Args:
        pool: pool/items.parquet
        categories: CSV file with source, category, capability and reason
        circular: sources that have circular copies
        mini: the most questions of a capability, with their circular copies; default: all
        published: the published number of items of sources
        table: pool/capabilities.parquet to write: the questions that are asked
        report: pool/capabilities.report.csv to write: what becomes of each category, and of each source
    """
    items = read_table(pool, POOL, COLUMNS)
    known = read_categories(categories, items["source"].unique().to_list())
    found = with_groups(items, groups_of(known, mini), circular)
    chosen = asked(found, mini)
    of_category = pl.DataFrame(
        [(key, each.capability or None) for key, each in known.items()],
        schema={"key": pl.String, "capability": pl.String},
        orient="row",
    )
    places = pl.DataFrame(
        hierarchy.capabilities(), schema=dict.fromkeys(("capability", "mid", "high"), pl.String), orient="row"
    )
    rows = (
        chosen.join(of_category, on="key", how="left", maintain_order="left")
        .join(places, on="capability", how="left", maintain_order="left")
        .with_columns(picture=pl.col("image_keys").list.first())
        .with_columns(pl.col("picture").replace(first_keys(pool, chosen)))
    )
    of_categories = report_of(found, chosen, known, published)
    write_text(report, csv_text(of_categories))
    for source, count, number in (
        of_categories.filter(status="total").select("source", "items", "published").iter_rows()
    ):
        print(f"{source}: {count:,} items" + ("" if number is None else f", {number:,} as published"))
    if absent := without_questions(known.values(), set(rows["capability"])):
        name, named = next(iter(absent.items()))
        raise InputError(
            f"{categories}: no item of the pool is of {name}, to which it maps {' and '.join(named)}; "
            f"correct the category, raise pool.per_task, or remove the row{'s' if len(named) > 1 else ''}"
        )
    write_table(
        rows.select(pl.col(name).cast(kind) for name, kind in CAPABILITIES.columns.items()),
        table,
        CAPABILITIES,
    )


def first_keys(pool: Path, items: pl.DataFrame) -> dict[str, str]:
    """Return the first key of the same file of an image, by each key of ``items`` that is of no pixels."""
    others = items.filter(~pl.col("image_keys").list.first().str.starts_with(PIXELS))
    first: dict[bytes, str] = {}
    images = unique_images(pool, set(others["id"]))
    return {key: first.setdefault(hashlib.sha256(data or b"").digest(), key) for key, data in images}


def report_of(
    found: pl.DataFrame, chosen: pl.DataFrame, known: Mapping[str, Category], published: Mapping[str, int]
) -> pl.DataFrame:
    """Return the columns REPORT: a row for each category, and one with the sums of each source."""
    by = ["source", "category", "key", "group"]
    reasons = {key: each.reason or None for key, each in known.items()}
    names = {key: each.capability or None for key, each in known.items()}
    rows = (
        found.group_by(by)
        .agg(items=pl.len())
        .join(chosen.group_by(by).agg(asked=pl.len()), on=by, how="left", nulls_equal=True)
        .sort("source", "category")
        .select(
            "source",
            "category",
            capability=pl.col("key").replace_strict(names, default=None, return_dtype=pl.String),
            status=pl.when(pl.col("group").is_null())
            .then(pl.lit("unmapped"))
            .when(pl.col("group") == EXCLUDED)
            .then(pl.lit("excluded"))
            .otherwise(pl.lit("mapped")),
            reason=pl.col("key").replace_strict(reasons, default=None, return_dtype=pl.String),
            items=pl.col("items").cast(pl.Int64),
            asked=pl.col("asked").fill_null(0).cast(pl.Int64),
            published=pl.lit(None, pl.Int64),
        )
    )
    sums = rows.group_by("source").agg(pl.col("items", "asked").sum()).sort("source")
    numbers = [published.get(source) for source in sums["source"]]
    sums = sums.with_columns(status=pl.lit("total"), published=pl.Series(numbers, dtype=pl.Int64))
    return pl.concat([rows, sums], how="diagonal").select(REPORT)
