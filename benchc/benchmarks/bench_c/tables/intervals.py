"""Table 1 with its bootstrap intervals as Markdown and LaTeX."""

from collections.abc import Mapping

import polars as pl

from benchc.benchmarks.bench_c.inputs import Selected
from benchc.benchmarks.bench_c.metrics.bootstrap import KAPPA, PLAIN, bootstrap
from benchc.benchmarks.bench_c.tables.names import latex_caption, measure
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, ChanceTable, Standings
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
    "file says why." + ORDER
)


def intervals(
    targets: TargetScores, selected: Selected, chance: ChanceTable, draws: PositiveInt, seed: int
) -> Table:
    """Return every aggregate and every rank with its bootstrap interval; Table 1's are printed."""
    cube, labels = targets.cube, targets.labels
    ranked = [id_ for id_ in cube.models if labels[id_] in chance.ranked]
    table = bootstrap(cube, cube.kappa(selected.filter("selected")), draws, seed, ranked)
    return printed_intervals(table, labels, draws, chance, targets.note)


def printed_intervals(
    table: pl.DataFrame,
    labels: Mapping[str, str],
    draws: int,
    chance: Standings | None = None,
    note: str = "",
) -> Table:
    """Return a table of ``metrics.bootstrap`` as printed.

    ``labels``: models' names as printed; ``chance``: which models are above it, None where that is unknown;
    ``note`` ends the caption.
    """
    overall = table.filter(pl.col("corruption").is_null())
    accuracy = overall.filter(metric="acc_clean", weighting=PLAIN)
    shown = accuracy.select("model", label=pl.col("model").replace_strict(labels))
    for metric, weighting in SHOWN.items():
        ends = {metric: "estimate", f"{metric}_low": "low", f"{metric}_high": "high"}
        part = overall.filter(metric=metric, weighting=weighting).select("model", **ends)
        shown = shown.join(part, on="model", maintain_order="left")
    references = 0
    if chance is not None:
        rows = chance.references("label", "acc_clean", delta_acc=0.0, ras=0.0)
        references, note = rows.height, chance.rows_note + chance.note + note
        shown = shown.with_columns(chance.marked(shown["label"]))
        shown = pl.concat([shown.clear(), rows, shown], how="diagonal")
    caption = _caption(table, draws) + note
    return printed(
        table,
        COLUMNS,
        caption=caption,
        latex_caption=latex_caption(caption),
        label="bench-c-intervals",
        shown=shown,
        references=references,
        summary=f"{pluralize(table.height, 'interval')} from {pluralize(draws, 'resample')}",
    )


def _caption(intervals: pl.DataFrame, draws: int) -> str:
    items = int(intervals.filter(metric="acc_clean", weighting=PLAIN)["items"][0])
    return CAPTION.format(draws=pluralize(draws, "resample"), items=pluralize(items, "item"), missing=MISSING)
