"""Table 1 as Markdown and LaTeX."""

from dataclasses import replace

import polars as pl

from benchc.benchmarks.bench_c.inputs import Selected
from benchc.benchmarks.bench_c.metrics import table1 as metrics
from benchc.benchmarks.bench_c.metrics.table1 import HIGHER_IS_BETTER, RANKED, best_rows, rank
from benchc.benchmarks.bench_c.published.section import compare_table1, with_published
from benchc.benchmarks.bench_c.tables.names import SIGNED, latex_caption, measure
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, ChanceTable, Standings
from benchc.rendering.numbers import MISSING
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

CAPTION = (
    "Performance on the {items} of the benchmark. Acc(o), S(o), C(o): accuracy, uncertainty and calibration "
    "error on clean images, unweighted means over items (the csv file has S(o) and C(o) weighted by κ, too). "
    "Δ, RAS: under corruption, means over items weighted by κ, then over corruptions and severities (eq. "
    "11). Arrows point to the better direction; {ranks}: rank, 1 is best; bold: best." + ORDER
)
UNDEFINED = f" {MISSING}: undefined, since all items have κ = 0."
COLUMNS = (
    "acc_clean",
    "delta_acc",
    "ras",
    "entropy_clean",
    "delta_entropy",
    "calibration_clean",
    "delta_calibration",
)


def table1(targets: TargetScores, selected: Selected, chance: ChanceTable) -> Table:
    """Return Table 1: accuracy, uncertainty, calibration and RAS of every target (eq. 11).

    Targets that are not ranked have no ``rank_*``, but ``rank_*_of_all``.
    """
    weights = selected.filter("selected").select("id", "kappa")
    table = metrics.table1(
        list(targets.models.values()),
        list(targets.scores.values()),
        weights,
        excluded=targets.excluded,
        ranked=chance.ranked,
    )
    summary = f"table 1: {pluralize(table.height, 'target')} on {pluralize(targets.items, 'item')}"
    found = printed_table1(table, chance, targets.note, summary)
    further = chance.frame.drop("measure", "accuracy").rename({"model": "label"})
    every = table.select("label", *(rank(table[name]).alias(f"rank_{name}_of_all") for name in RANKED))
    frame = table.join(every, on="label", maintain_order="left").join(
        further, on="label", how="left", maintain_order="left"
    )
    return replace(found, frame=frame)


def printed_table1(
    table: pl.DataFrame, chance: Standings | None = None, note: str = "", summary: str = ""
) -> Table:
    """Return a table of ``metrics.table1`` as printed, with the published values.

    ``chance``: which models are above it, None where that is unknown; ``note`` ends the caption.
    """
    columns = [Column("label", "Model"), Column("year", "Year"), Column("parameters_b", "Params")]
    for name in COLUMNS:
        column = measure(name, rank=name in RANKED, styled=True)
        arrow, command = ("↑", "uparrow") if HIGHER_IS_BETTER[name] else ("↓", "downarrow")
        latex = f"{str(column.latex)[:-1]}\\{command}$"
        columns.append(column._replace(header=f"{column.header} {arrow}", latex=latex))
    best = best_rows(table, None if chance is None else chance.ranked)
    shown = table.with_columns(
        pl.col("year").cast(pl.String),
        pl.Series("parameters_b", [parameters_text(value) for value in table["parameters_b"]]),
        *(
            pl.Series(f"{name}_style", ["bold" if row in best[name] else None for row in range(table.height)])
            for name in COLUMNS
        ),
    )
    references = 0
    if chance is not None:
        unchanged = dict.fromkeys((name for name in COLUMNS if name in SIGNED), 0.0)
        rows = chance.references("label", "acc_clean", **unchanged)
        references, note = rows.height, chance.rows_note + chance.note + note
        shown = shown.with_columns(chance.marked(shown["label"]))
        shown = pl.concat([shown.clear(), rows, shown], how="diagonal")
    return with_published(
        printed(
            table,
            columns,
            caption=_caption(table, "in brackets") + note,
            latex_caption=latex_caption(_caption(table, "superscripts") + note),
            label="bench-c",
            shown=shown,
            references=references,
            text_columns=1,
            published=compare_table1(table),
            summary=summary,
        ),
        1,
    )


def parameters_text(parameters_b: float | None) -> str:
    """Return a number of parameters, given in 10^9, in billions, millions or thousands: 8B, 2.5M, 310K."""
    if parameters_b is None:
        return MISSING
    for unit, size in (("B", 1.0), ("M", 1e-3), ("K", 1e-6)):
        # 0.9996 million rounds to 1000K; the larger unit gives 1M.
        if parameters_b >= 0.9995 * size or unit == "K":
            return f"{float(f'{parameters_b / size:.3g}'):g}{unit}"
    raise AssertionError("every number has a unit")


def _caption(table: pl.DataFrame, ranks: str) -> str:
    undefined = UNDEFINED if table["ras"].null_count() else ""
    return CAPTION.format(items=pluralize(table["items"][0], "item"), ranks=ranks) + undefined
