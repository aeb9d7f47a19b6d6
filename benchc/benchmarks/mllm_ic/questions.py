"""The questions of a run: those whose category has a capability, with their circular copies."""

from collections.abc import Collection, Mapping

import polars as pl

from benchc.benchmarks.mllm_ic.categories import EXCLUDED, key_of
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.randomness import seed_of

# Of VLMEvalKit's files: rotation k of the question at index i has the index k * COPIES_FROM + i.
COPIES_FROM = 1_000_000
COLUMNS = ("id", "source", "category", "image_keys")
# Of an item in its source; null where it is no number.
INDEX = pl.col("id").str.splitn("/", 2).struct.field("field_1").cast(pl.Int64, strict=False)


def with_groups(items: pl.DataFrame, groups: Mapping[str, str], circular: Collection[str]) -> pl.DataFrame:
    """Return items of the pool with the columns key, group, circular_group and rotation.

    ``group`` is null where ``groups`` has not the category. ``circular``: sources with circular copies.
    Raises InputError where a circular copy has no original, or an index of such a source is no number.
    """
    keys = items.select("source", "category").unique()
    keys = keys.with_columns(
        pl.Series("key", [key_of(*row) for row in keys.iter_rows()], dtype=pl.String)
    ).with_columns(group=pl.col("key").replace_strict(groups, default=None, return_dtype=pl.String))
    copied = pl.col("source").is_in([*circular])
    found = items.join(
        keys, on=["source", "category"], how="left", nulls_equal=True, maintain_order="left"
    ).with_columns(
        rotation=pl.when(copied).then(INDEX // COPIES_FROM).otherwise(0),
        circular_group=pl.when(copied)
        .then(pl.concat_str("source", pl.lit("/"), (INDEX % COPIES_FROM).cast(pl.String)))
        .otherwise("id"),
    )
    if (wrong := found.filter(pl.col("rotation").is_null())).height:
        raise InputError(
            f"{wrong['id'][0]}: its index is no number, but {wrong['source'][0]} is one of "
            "capabilities.circular; remove the source there"
        )
    lost = found.filter(pl.col("rotation") > 0, ~pl.col("circular_group").is_in(found["id"].implode()))
    if lost.height:
        raise InputError(
            f"{lost['id'][0]}: is a circular copy of {lost['circular_group'][0]}, which the pool lacks, one "
            f"of {pluralize(lost.height, 'such row')}; set pool.per_task and pool.total to null, or look for "
            "that item in the report of the source (sources/*.report.csv)"
        )
    return found


def asked(found: pl.DataFrame, mini: int | None = None) -> pl.DataFrame:
    """Return the items of :func:`with_groups` that are asked, in the pool's order: those not left out.

    ``mini``: the most questions of each group, of a category without one by itself, in the order of a hash;
    all copies of a question are asked or none. Raises InputError where an item has not one picture.
    """
    kept = found.filter(pl.col("group").fill_null("?") != EXCLUDED)
    several = kept.filter(pl.col("image_keys").list.len().fill_null(0) != 1)
    if several.height:
        id_, source, category, keys = several.select(*COLUMNS).row(0)
        raise InputError(
            f"{id_}: has {pluralize(len(keys or ()), 'picture')}, but each question is about one; leave out "
            f"{category} of {source} in the file capabilities.categories, with a reason"
        )
    if mini is None:
        return kept
    names = kept["circular_group"].unique()
    order = pl.DataFrame(
        {"circular_group": names, "hash": [seed_of("mini", name) for name in names]},
        schema_overrides={"hash": pl.UInt64},
    )
    first = (
        kept.select("circular_group", group=pl.coalesce("group", "key"))
        .unique()
        .join(order, on="circular_group")
        .sort("hash", "circular_group")
        .filter(pl.int_range(pl.len()).over("group") < mini)
    )
    return kept.join(first, on="circular_group", how="semi", maintain_order="left")


def unlisted_copies(items: pl.DataFrame, circular: Collection[str]) -> dict[str, int]:
    """Return the number of rows of each source not in ``circular`` that look like circular copies.

    Their index is from COPIES_FROM on, and the pool has the one that they would be copies of.
    """
    others = items.filter(~pl.col("source").is_in([*circular])).select("source", index=INDEX)
    alike = others.filter(pl.col("index") >= COPIES_FROM).with_columns(pl.col("index") % COPIES_FROM)
    rows = alike.join(others, on=["source", "index"], how="semi").group_by("source").len().sort("source")
    return dict(rows.iter_rows())


def incomplete_copies(found: pl.DataFrame, circular: Collection[str]) -> dict[str, int]:
    """Return the number of questions of each source in ``circular`` that lack a copy for each option.

    ``found``: of :func:`with_groups`, with the column options. Fewer copies make a question easier.
    """
    questions = (
        found.filter(pl.col("source").is_in([*circular]))
        .group_by("source", "circular_group")
        .agg(pl.col("rotation").n_unique(), options=pl.col("options").list.len().max())
    )
    rows = questions.filter(pl.col("rotation") != pl.col("options")).group_by("source").len().sort("source")
    return dict(rows.iter_rows())


def unmapped_counts(found: pl.DataFrame) -> dict[str, int]:
    """Return the number of items of each category without a group, as `category of source`."""
    rows = (
        found.filter(pl.col("group").is_null())
        .group_by("source", "category")
        .len()
        .sort("source", "category")
    )
    return {f"{category} of {source}": count for source, category, count in rows.iter_rows()}
