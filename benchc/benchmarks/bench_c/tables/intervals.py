"""Table 1 with its bootstrap intervals as Markdown and LaTeX."""

from collections.abc import Mapping

import polars as pl

from benchc.benchmarks.bench_c.inputs import Selected
from benchc.benchmarks.bench_c.metrics.bootstrap import KAPPA, PLAIN, bootstrap
from benchc.benchmarks.bench_c.tables.names import latex_caption, measure
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.numbers import MISSING
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

# Metrics and weightings, as in Table 1.
SHOWN = {"acc_clean": PLAIN, "delta_acc": KAPPA, "rank_delta_acc": KAPPA, "ras": KAPPA, "rank_ras": KAPPA}
COLUMNS = (
    Column("label", "Model"),
    *(
        Column(name, "rank", interval=True, digits=0)
        if name.startswith("rank_")
        else measure(name, interval=True)
        for name in SHOWN
    ),
)
CAPTION = (
    "Table 1 with 95 % bootstrap intervals in brackets: percentiles of {draws} of the {items}, "
    "the same for all models. Conditional on the selected set: they would be wider if "
    "selection, corruption seeds and training varied too. ΔAcc and RAS are weighted by κ (eq. 11). A rank's "
    "interval is over the model's ranks among these models in the resamples. {missing}: undefined, the csv "
    "file says why."
)


def intervals(targets: TargetScores, selected: Selected, draws: PositiveInt, seed: int) -> Table:
    """Return every aggregate and every rank with its bootstrap interval; Table 1's are printed."""
    cube = targets.cube
    table = bootstrap(cube, cube.kappa(selected.filter("selected")), draws, seed)
    return printed_intervals(table, targets.labels, draws, targets.note)


def printed_intervals(table: pl.DataFrame, labels: Mapping[str, str], draws: int, note: str = "") -> Table:
    """Return a table of ``metrics.bootstrap`` as printed, sorted by clean accuracy as in Table 1.

    ``labels``: models' names as printed; ``note`` ends the caption.
    """
    overall = table.filter(pl.col("corruption").is_null())
    accuracy = overall.filter(metric="acc_clean", weighting=PLAIN).sort("estimate", maintain_order=True)
    shown = accuracy.select("model", label=pl.col("model").replace_strict(labels))
    for metric, weighting in SHOWN.items():
        ends = {metric: "estimate", f"{metric}_low": "low", f"{metric}_high": "high"}
        part = overall.filter(metric=metric, weighting=weighting).select("model", **ends)
        shown = shown.join(part, on="model", maintain_order="left")
    caption = _caption(table, draws) + note
    return printed(
        table,
        COLUMNS,
        caption=caption,
        latex_caption=latex_caption(caption),
        label="bench-c-intervals",
        shown=shown,
        summary=f"{pluralize(table.height, 'interval')} from {pluralize(draws, 'resample')}",
    )


def _caption(intervals: pl.DataFrame, draws: int) -> str:
    items = int(intervals.filter(metric="acc_clean", weighting=PLAIN)["items"][0])
    return CAPTION.format(draws=pluralize(draws, "resample"), items=pluralize(items, "item"), missing=MISSING)
