"""Table 1 with its bootstrap intervals as Markdown and LaTeX."""

import textwrap
from collections.abc import Mapping

import polars as pl
from pydantic import PositiveInt

from benchc.benchmarks.bench_c.inputs import Selected
from benchc.benchmarks.bench_c.metrics.bootstrap import KAPPA, PLAIN, bootstrap
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.rendering.environment import table_environment
from benchc.rendering.grid import booktabs, latex_text, markdown
from benchc.rendering.numbers import CAPTION_WIDTH, MISSING, interval_text, number_text
from benchc.rendering.output import Table

# (metric, weighting, Markdown, LaTeX, a shift, a rank): the forms that Table 1 shows.
COLUMNS = (
    ("acc_clean", PLAIN, "Acc(o)", r"$\mathrm{Acc}^{(o)}$", False, False),
    ("delta_acc", KAPPA, "ΔAcc", r"$\Delta\mathrm{Acc}$", True, False),
    ("rank_delta_acc", KAPPA, "rank", "rank", False, True),
    ("ras", KAPPA, "RAS", r"$\mathrm{RAS}$", True, False),
    ("rank_ras", KAPPA, "rank", "rank", False, True),
)
CAPTION = (
    "Table 1 with 95{percent} bootstrap intervals in brackets: percentiles of {draws:,} resamples of the "
    "{items:,} items, drawn together for all models. Conditional on the selected set: another selection, "
    "other seeds of the corruptions and other trainings would widen them. {delta} and {ras} are weighted by "
    "{kappa} (eq. 11); a rank's interval is over the ranks that the model takes among these models in the "
    "resamples. {missing}: undefined, the csv file says why."
)


def intervals(targets: TargetScores, selected: Selected, draws: PositiveInt, seed: int) -> Table:
    """Return every aggregate and every rank with its bootstrap interval; Table 1 with them is printed."""
    cube = targets.cube
    table = bootstrap(cube, cube.kappa(selected.filter("kept")), draws, seed)
    return Table(
        table,
        intervals_markdown(table, targets.labels, draws, targets.note),
        intervals_latex(table, targets.labels, draws, targets.note),
        summary=f"{table.height:,} intervals from {draws:,} draws",
    )


def intervals_markdown(intervals: pl.DataFrame, labels: Mapping[str, str], draws: int, note: str = "") -> str:
    """Return a table of ``metrics.bootstrap`` as Markdown; ``labels``: models' names as printed."""
    header = ["Model", *(column[2] for column in COLUMNS)]
    rows = [
        [labels[model], *(f"{value} {interval}".strip() for value, interval in cells)]
        for model, cells in _rows(intervals)
    ]
    caption = CAPTION.format(
        percent=" %",
        draws=draws,
        items=_items(intervals),
        delta="ΔAcc",
        ras="RAS",
        kappa="κ",
        missing=MISSING,
    )
    return f"{markdown(header, rows)}\n{textwrap.fill(caption + note, CAPTION_WIDTH)}\n"


def intervals_latex(intervals: pl.DataFrame, labels: Mapping[str, str], draws: int, note: str = "") -> str:
    """Return the same as a LaTeX ``table*`` environment; it needs the package booktabs."""
    header = ["Model", *(column[3] for column in COLUMNS)]
    rows = []
    for model, cells in _rows(intervals):
        texts = [
            "--" if value == MISSING else rf"${value}\ {interval}$".replace(MISSING, r"\textrm{--}")
            for value, interval in cells
        ]
        rows.append([latex_text(labels[model]), *texts])
    caption = CAPTION.format(
        percent=r"\,\%",
        draws=draws,
        items=_items(intervals),
        delta=r"$\Delta\mathrm{Acc}$",
        ras=r"$\mathrm{RAS}$",
        kappa=r"$\kappa$",
        missing="--",
    )
    return table_environment(booktabs(header, rows), caption + note, "tab:bench-c-intervals")


def _rows(intervals: pl.DataFrame) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return each model, by clean accuracy as Table 1 is, with the texts of its values and intervals."""
    overall = intervals.filter(pl.col("corruption").is_null())
    shown = {(row["model"], row["metric"], row["weighting"]): row for row in overall.iter_rows(named=True)}
    accuracy = overall.filter(metric="acc_clean", weighting=PLAIN).sort("estimate", maintain_order=True)
    rows = []
    for model in accuracy["model"]:
        cells = []
        for metric, weighting, *_, signed, rank in COLUMNS:
            row = shown[model, metric, weighting]
            value, low, high = row["estimate"], row["low"], row["high"]
            if value is None:
                cells.append((MISSING, ""))
            elif rank:
                between = f"[{MISSING}]" if low is None else f"[{low:.0f}, {high:.0f}]"
                cells.append((f"{value:.0f}", between))
            else:
                cells.append((number_text(value, signed), interval_text(low, high, signed=signed)))
        rows.append((model, cells))
    return rows


def _items(intervals: pl.DataFrame) -> int:
    return int(intervals.filter(metric="acc_clean", weighting=PLAIN)["items"][0])
