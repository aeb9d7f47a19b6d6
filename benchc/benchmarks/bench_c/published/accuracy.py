"""The published clean accuracy of a model, for `benchc models check`."""

import polars as pl

from benchc.benchmarks.bench_c.published.tables import PUBLISHED_ITEMS, published_table1


def published_accuracy(label: str) -> str | None:
    """Return a model's accuracy in Table 1 and on which items, as text; None where the paper has none."""
    found = published_table1().filter(pl.col("label") == label)["acc_clean"].to_list()
    if not found:
        return None
    return (
        f"{100 * found[0]:.1f} % on the {PUBLISHED_ITEMS} items of Bench-C, which were selected to be hard; "
        "they are not those of your source"
    )
