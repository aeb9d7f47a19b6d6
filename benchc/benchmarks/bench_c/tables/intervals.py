"""Table 1 with its bootstrap intervals as Markdown and LaTeX."""

from collections.abc import Mapping

import polars as pl
from pydantic import PositiveInt

from benchc.benchmarks.bench_c.inputs import Selected
from benchc.benchmarks.bench_c.metrics.bootstrap import KAPPA, PLAIN, bootstrap
from benchc.benchmarks.bench_c.tables.names import NAMES, SIGNED, latex_caption
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.pluralize import pluralize
from benchc.rendering.latex import latex_number, latex_table, latex_text
from benchc.rendering.markdown import captioned
from benchc.rendering.numbers import MISSING, interval_text, number_text
from benchc.rendering.output import Table

# (metric, weighting), as in Table 1.
COLUMNS = (
    ("acc_clean", PLAIN),
    ("delta_acc", KAPPA),
    ("rank_delta_acc", KAPPA),
    ("ras", KAPPA),
    ("rank_ras", KAPPA),
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
    return Table(
        table,
        intervals_markdown(table, targets.labels, draws, targets.note),
        intervals_latex(table, targets.labels, draws, targets.note),
        summary=f"{pluralize(table.height, 'interval')} from {pluralize(draws, 'resample')}",
    )


def intervals_markdown(intervals: pl.DataFrame, labels: Mapping[str, str], draws: int, note: str = "") -> str:
    """Return a table of ``metrics.bootstrap`` as Markdown; ``labels``: models' names as printed."""
    header = ["Model", *(_header(metric, 0) for metric, _ in COLUMNS)]
    rows = [[labels[model], *cells] for model, cells in _rows(intervals)]
    return captioned(header, rows, _caption(intervals, draws) + note)


def intervals_latex(intervals: pl.DataFrame, labels: Mapping[str, str], draws: int, note: str = "") -> str:
    """Return the same as a LaTeX ``table*`` environment, which needs the package booktabs."""
    return latex_table(
        ["Model", *(_header(metric, 1) for metric, _ in COLUMNS)],
        [[latex_text(labels[model]), *map(latex_number, cells)] for model, cells in _rows(intervals)],
        caption=latex_caption(_caption(intervals, draws) + note),
        label="bench-c-intervals",
    )


def _header(metric: str, form: int) -> str:
    return "rank" if metric.startswith("rank_") else NAMES[metric][form]


def _rows(intervals: pl.DataFrame) -> list[tuple[str, list[str]]]:
    """Return each model, sorted by clean accuracy as in Table 1, with its values and intervals."""
    overall = intervals.filter(pl.col("corruption").is_null())
    shown = {(row["model"], row["metric"], row["weighting"]): row for row in overall.iter_rows(named=True)}
    accuracy = overall.filter(metric="acc_clean", weighting=PLAIN).sort("estimate", maintain_order=True)
    rows = []
    for model in accuracy["model"]:
        cells = []
        for metric, weighting in COLUMNS:
            row = shown[model, metric, weighting]
            value, low, high = row["estimate"], row["low"], row["high"]
            if value is None:
                cells.append(MISSING)
            elif metric.startswith("rank_"):
                cells.append(
                    f"{value:.0f} " + (f"[{MISSING}]" if low is None else f"[{low:.0f}, {high:.0f}]")
                )
            else:
                signed = metric in SIGNED
                cells.append(f"{number_text(value, signed)} {interval_text(low, high, signed=signed)}")
        rows.append((model, cells))
    return rows


def _caption(intervals: pl.DataFrame, draws: int) -> str:
    items = int(intervals.filter(metric="acc_clean", weighting=PLAIN)["items"][0])
    return CAPTION.format(draws=pluralize(draws, "resample"), items=pluralize(items, "item"), missing=MISSING)
