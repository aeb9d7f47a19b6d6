"""Count the rows in which the tables of two runs differ."""

import polars as pl


def differing_rows(name: str, a: pl.DataFrame, b: pl.DataFrame) -> list[dict[str, str]]:
    """Return what differs between two tables of the same columns with one row per id: input, fact, a, b.

    Counts the items that only one table has and, for each other column, the common items whose values differ
    (as b; a is then a dash). Empty where the tables have the same rows in any order.
    """
    rows = []
    only_a, only_b = (left.join(right, on="id", how="anti").height for left, right in ((a, b), (b, a)))
    if only_a or only_b:
        counts = {"items": (a.height, b.height), "items that the other lacks": (only_a, only_b)}
        rows += [
            {"input": name, "fact": fact, "a": f"{of_a:,}", "b": f"{of_b:,}"}
            for fact, (of_a, of_b) in counts.items()
        ]
    common = a.join(b, on="id", suffix="_b")
    for column in a.columns:
        if column != "id":
            differing = common.filter(~pl.col(column).eq_missing(pl.col(f"{column}_b"))).height
            if differing:
                fact = f"common items of another {column}"
                rows.append(
                    {"input": name, "fact": fact, "a": "–", "b": f"{differing:,} of {common.height:,}"}
                )
    return rows
