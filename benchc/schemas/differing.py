"""Which rows of two runs' tables differ, counted."""

import polars as pl


def differing_rows(name: str, a: pl.DataFrame, b: pl.DataFrame) -> list[dict[str, str]]:
    """Return what differs between two tables of the same columns with one row per id: input, fact, a, b.

    Counted are the items that one table lacks and, for each other column, the common items whose value is not
    the same; the other table's side of such a count is a dash. Empty where the tables hold the same rows in
    whatever order.
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
            odd = common.filter(~pl.col(column).eq_missing(pl.col(f"{column}_b"))).height
            if odd:
                fact = f"common items of another {column}"
                rows.append({"input": name, "fact": fact, "a": "–", "b": f"{odd:,} of {common.height:,}"})
    return rows
