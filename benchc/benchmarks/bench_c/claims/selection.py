"""Claims about the candidates and the selected items (sections 4.4 and 8.2)."""

import polars as pl

from benchc.benchmarks.bench_c.claims.claim import FIGURE, Claim, Finding, judged, not_applicable
from benchc.benchmarks.bench_c.claims.numbers import percent, skewness
from benchc.pluralize import pluralize

LARGEST_SOURCE = "seedbench2-plus"
TOP_TASKS = ("web", "image retrieval", "map", "chart", "science & technology")
RARE_TASK = "keypoint detection"


def _share(items: pl.DataFrame) -> Finding:
    kept = int(items["selected"].sum())
    share = kept / items.height
    return judged(0.15 <= share <= 0.30, f"{kept:,} of {items.height:,} ({percent(share)})")


def _top_tasks(items: pl.DataFrame) -> Finding:
    tasks = items.with_columns(task=pl.col("task").str.to_lowercase().str.replace_all("_", " "))
    missing = [task for task in TOP_TASKS if task not in set(tasks["task"])]
    if missing:
        return not_applicable(f"no candidate is of {', '.join(missing)}")
    counts = _kept_by(tasks, "task")
    top = pl.col("task").is_in(TOP_TASKS)
    least, rival = min(counts.filter(top)["selected"].to_list()), max([0, *counts.filter(~top)["selected"]])
    names = ", ".join(f"{task} {kept}" for task, kept in counts.head(len(TOP_TASKS)).rows())
    return judged(least >= rival, f"most selected: {names}")


def _largest_source(items: pl.DataFrame) -> Finding:
    counts = _kept_by(items, "source")
    if LARGEST_SOURCE not in set(counts["source"]):
        return not_applicable("SEEDBench2+ is not a source of this run")
    total = counts["selected"].sum()
    name, most = counts.row(0)
    ours = counts.filter(pl.col("source") == LARGEST_SOURCE)["selected"][0]
    return judged(
        ours == most,
        f"SEEDBench2+ {percent(ours / total)} of the items; most: {name}, {percent(most / total)}",
    )


def _skewed(items: pl.DataFrame) -> Finding:
    tenth = (items["kappa"] * 10).floor().clip(0, 9).cast(pl.Int64)
    counts = [int((tenth == number).sum()) for number in range(10)]
    skew = skewness(items["kappa"])
    if skew is None:
        return not_applicable("kappa is the same for all candidates, or there are fewer than three")
    return judged(
        counts[0] == max(counts) and skew > 0,
        f"{percent(counts[0] / items.height)} in the lowest tenth, at most "
        f"{percent(max(counts[1:]) / items.height)} in another; skewness {skew:+.2f}",
    )


def _balanced(items: pl.DataFrame) -> Finding:
    kept = items.filter("selected")["kappa"]
    before, after = skewness(items["kappa"]), skewness(kept)
    if before is None or after is None:
        return not_applicable("kappa is the same for all, or there are fewer than three items")
    low, high = items["kappa"].median(), kept.median()
    assert isinstance(low, float) and isinstance(high, float)
    return judged(
        high > low and abs(after) < abs(before),
        f"median {low:.3f} of the candidates, {high:.3f} of the selected; skewness {before:+.2f}, "
        f"{after:+.2f}",
    )


def _broad(items: pl.DataFrame) -> Finding:
    counts = _kept_by(items, "task")
    kept = int((counts["selected"] > 0).sum())
    return judged(kept == counts.height, f"{kept} of {pluralize(counts.height, 'task type')}")


def _rare(items: pl.DataFrame) -> Finding:
    rows = items.filter(pl.col("task").str.to_lowercase().str.replace_all("_", " ") == RARE_TASK)
    if rows.is_empty():
        return not_applicable("no candidate is of keypoint detection")
    share, whole = (int(table["selected"].sum()) / table.height for table in (rows, items))
    return judged(share < whole, f"{percent(share)} of its candidates are selected, {percent(whole)} of all")


def _kept_by(items: pl.DataFrame, key: str) -> pl.DataFrame:
    """Return ``key`` and its number of selected items, most first, then by name."""
    counts = items.group_by(key).agg(selected=pl.col("selected").sum().cast(pl.Int64))
    return counts.sort("selected", key, descending=[True, False])


SELECTION = (
    Claim(
        "4.4, 8.2",
        "About a fifth of the candidates discriminates and is selected",
        "between 15 % and 30 % of the candidates are selected",
        "849 of 4,000 (21.2 %)",
        lambda run: _share(run.items),
    ),
    Claim(
        "4.4, 8.2",
        "Most selected items are of Web, Image Retrieval, Map, Chart, and Science & Technology",
        "no other task type has more selected items than any of these five",
        "the five, without counts",
        lambda run: _top_tasks(run.items),
    ),
    Claim(
        "8.2",
        "SEEDBench2+ contributes most items",
        "no source has more selected items",
        "30.1 % of the items",
        lambda run: _largest_source(run.items),
    ),
    Claim(
        "8.2",
        "The candidates' kappa is skewed and concentrated near 0",
        "no tenth of [0, 1] has more candidates than the lowest, and the skewness is above 0",
        FIGURE,
        lambda run: _skewed(run.items),
    ),
    Claim(
        "8.2",
        "The selected items' kappa is higher and more balanced",
        "the median is higher and the skewness closer to 0",
        FIGURE,
        lambda run: _balanced(run.items),
    ),
    Claim(
        "8.2",
        "The benchmark keeps a broad range of tasks",
        "every task type of the candidates keeps an item",
        "27 task types",
        lambda run: _broad(run.items),
    ),
    Claim(
        "8.2",
        "Keypoint Detection, though visual, contributes fewer items",
        "its share of selected items is below that of all candidates",
        FIGURE,
        lambda run: _rare(run.items),
    ),
)
