"""Compare a recomputed table with the published one, value by value."""

from collections.abc import Mapping, Sequence

import polars as pl


def compare_with_published(
    table: pl.DataFrame,
    published: pl.DataFrame,
    *,
    on: Sequence[str],
    values: Mapping[str, str],
    carried: Sequence[str] = (),
) -> pl.DataFrame:
    """Return one row per value that is in both tables, sorted as ``published``, then as ``values``.

    Columns: ``on``, ``carried``, value, here, published, difference. Rows are matched on the columns ``on``.
    ``values`` maps columns of ``table`` to those of ``published``; ``carried`` are further columns of
    ``published``. difference = here - published, which includes the rounding of the published value, is null
    where here is.
    """
    ours = table.select(*on, *(pl.col(name).cast(pl.Float64).alias(f"here_{name}") for name in values))
    joined = published.join(ours, on=list(on), how="inner", maintain_order="left", validate="m:1")
    parts = [
        joined.with_row_index("row").select(
            "row",
            *on,
            *carried,
            pl.lit(number).alias("number"),
            pl.lit(name).alias("value"),
            pl.col(f"here_{name}").alias("here"),
            pl.col(name_published).cast(pl.Float64).alias("published"),
            (pl.col(f"here_{name}") - pl.col(name_published)).alias("difference"),
        )
        for number, (name, name_published) in enumerate(values.items())
    ]
    return pl.concat(parts).sort("row", "number").drop("row", "number")


def of_run(table: pl.DataFrame, labels: Mapping[str, str], names: Mapping[str, str]) -> pl.DataFrame:
    """Return the rows of a published table of the models of a run, with its labels in the column model.

    Args:
        table: a published table with the column model.
        labels: of the run's models by id.
        names: what the paper calls a model, by id; a model without it has no row.
    """
    ours = {names[id_]: label for id_, label in labels.items() if id_ in names}
    return table.filter(pl.col("model").is_in([*ours])).with_columns(pl.col("model").replace(ours))
