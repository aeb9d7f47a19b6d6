"""The selected set beside random subsets of the pool as Markdown and LaTeX. The numbers come ready-made."""

import textwrap

import polars as pl
from pydantic import PositiveInt

from benchc.benchmarks.bench_c.inputs import Selected
from benchc.benchmarks.bench_c.metrics import discrimination as metrics
from benchc.benchmarks.bench_c.metrics.cube import cube_of
from benchc.benchmarks.bench_c.targets import TargetScores, UnselectedScores, left_out_note
from benchc.errors import InputError
from benchc.rendering.environment import table_environment
from benchc.rendering.grid import booktabs, latex_symbols, markdown
from benchc.rendering.numbers import CAPTION_WIDTH, MISSING, number_text
from benchc.rendering.output import Table
from benchc.rendering.pluralize import pluralize

CRITERIA = {"sd": "spread", "separable": "separable pairs", "kendall": "order"}
METRICS = {"acc_clean": "Acc(o)", "acc_corrupted": "Acc(c)", "delta_acc": "ΔAcc", "ras": "RAS"}
WEIGHTS = {"plain": "", "kappa": ", κ"}
HEADER = ("Criterion", "Metric", "Selected", "Random", "Below")
CALIBRATED = "plain"  # the weighting under which chance puts the selected set anywhere among random ones
LOW, HIGH = 0.025, 0.975  # shares of random subsets outside of which a value is beyond 95 % of them

CAPTION = (
    "Does the selected set tell the {models} targets apart better than items drawn at random? Selected: "
    "{selected}. Random: median, and in brackets 95 %, of {draws:,} subsets of {size:,} of the {pool} of "
    "the pool; {read}. Spread: standard deviation over targets; separable pairs: share of the pairs "
    "of targets whose paired difference exceeds 1.96 standard errors; order: Kendall's τ-b with the order of "
    "the targets on the pool. Acc(o), Acc(c): clean and corrupted accuracy; κ: weighted by κ (eq. 11). "
    "Below: {share}. It is not given where κ weights: there selected items hold most of the weight of random "
    "subsets and of the pool, and chance does not give 0.5. Spread is in part noise, of which items that "
    "are inconsistent have more. Random subsets share items with the selected set and with the pool; all is "
    "conditional "
    "on {conditions}, and a target that is also a selector has had its say in the selection."
)
PLACE = (
    "share of random subsets with a lower value, ties half; 0.5 is what chance gives. It is above {high} in "
    "{above} of {rows} rows and below {low} in {below}"
)
SUPERIORITY = (
    "how often a random subset is lower than a random subset of the selected set, ties half; 0.5 is what "
    "chance gives, and what is near 1 or 0 with all items read is nearer to 0.5 here"
)
CONDITIONS = "this pool and these targets"
SAMPLED = "this pool, these targets and the {read} that they read"
ESTIMATED = (
    " The order on the pool is that of the items that were read. Random subsets are mostly made of the "
    "unselected ones that decide it, which may lower Below in the rows of order."
)
LEFT_OUT = " In up to {most:,} of the {draws:,} draws a criterion is undefined; these are left out."
UNDEFINED = " {missing}: undefined, the csv file says why."


def discrimination(
    targets: TargetScores,
    unselected: UnselectedScores,
    selected: Selected,
    draws: PositiveInt,
    seed: int,
) -> Table:
    """Return how well the selected set tells targets apart, beside random subsets of the pool.

    ``selected`` is the whole pool, with kappa. Raises InputError where targets were scored on other items
    than it says.
    """
    kept = set(selected.filter("kept")["id"])
    inside, outside = targets.by_label, unselected.by_label
    for label, table in inside.items():
        if label not in outside:
            raise InputError(f"{label} has no scores of unselected items; make those of all targets")
        _refuse(set(table["id"]) - kept, f"{label}: scores", "not selected")
        _refuse(set(outside[label]["id"]) & kept, f"{label}: scores of unselected items", "selected")
    read = len(set().union(*(table["id"] for table in inside.values())))
    if len(kept) - read != targets.left_out:
        raise InputError(
            f"{read:,} of the {len(kept):,} selected items were scored, and no predictions of the others "
            "are said "
            "to be missing; make the scores again"
        )
    cube = cube_of({label: pl.concat([table, outside[label]]) for label, table in inside.items()})
    table = metrics.discrimination(
        cube,
        cube.kappa(selected),
        pl.Series(cube.items).is_in(list(kept)).to_numpy(),
        (len(kept), selected.height - len(kept)),
        draws,
        seed,
    )
    note = left_out_note(read, targets.left_out)
    return Table(
        table,
        discrimination_markdown(table, note),
        discrimination_latex(table, note),
        summary=f"{pluralize(len(cube.models), 'target')}; the selected set beside "
        f"{pluralize(draws, 'random subset')} of {table['size'][0]:,} of "
        f"{pluralize(selected.height, 'item')}",
    )


def _refuse(items: set[str], scores: str, kind: str) -> None:
    """Raise InputError where there are ``items`` of the wrong ``kind`` in a target's ``scores``."""
    if items:
        raise InputError(
            f"{scores} are of {len(items):,} items, such as {min(items)}, that are {kind}; make its "
            "predictions and scores again"
        )


def discrimination_markdown(table: pl.DataFrame, note: str = "") -> str:
    """Return a table of ``metrics.discrimination`` as Markdown, its ranges apart.

    ``note`` ends the caption.
    """
    rows = [[criterion, metric, *cells] for criterion, metric, cells in _rows(table)]
    return (
        f"{markdown(HEADER, rows, text_columns=2)}\n{textwrap.fill(_caption(table) + note, CAPTION_WIDTH)}\n"
    )


def discrimination_latex(table: pl.DataFrame, note: str = "") -> str:
    """Return the same as a LaTeX ``table*`` environment; it needs the package booktabs."""
    rows = [
        [
            criterion,
            latex_symbols(metric),
            *(f"${cell}$" if cell not in (MISSING, "") else cell and "--" for cell in cells),
        ]
        for criterion, metric, cells in _rows(table)
    ]
    tabular = booktabs(HEADER, rows, text_columns=2)
    return table_environment(tabular, latex_symbols(_caption(table) + note), "tab:bench-c-discrimination")


def _shown(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.col("criterion").is_in(list(CRITERIA)))


def _rows(table: pl.DataFrame) -> list[tuple[str, str, list[str]]]:
    rows = []
    for row in _shown(table).iter_rows(named=True):
        cells = [
            _text(row["selected"], row["selected_low"], row["selected_high"]),
            _text(row["random_q50"], row["random_q025"], row["random_q975"]),
            number_text(row["share_below"], signed=False) if row["weighting"] == CALIBRATED else "",
        ]
        metric = METRICS[row["metric"]] + WEIGHTS[row["weighting"]]
        rows.append((CRITERIA[row["criterion"]], metric, cells))
    return rows


def _text(value: float | None, low: float | None, high: float | None) -> str:
    text = number_text(value, signed=False)
    if low is None or high is None:
        return text
    return f"{text} [{number_text(low, signed=False)}, {number_text(high, signed=False)}]"


def _caption(table: pl.DataFrame) -> str:
    shown, first = _shown(table), table.row(0, named=True)
    plain = shown.filter(weighting=CALIBRATED)
    if first["models"] < 2:
        return "One target: there are none to tell apart."
    size, draws, selected, read, of_selected, pool = (
        first[name]
        for name in (
            "size",
            "draws",
            "selected_evaluated",
            "unselected_evaluated",
            "selected_items",
            "pool_items",
        )
    )
    others = pool - of_selected
    ours = pluralize(selected, "selected item") + (
        "" if selected == of_selected else " that the targets read"
    )
    caption = CAPTION.format(
        models=first["models"],
        selected=f"the {ours}"
        if size == selected
        else f"median, and in brackets 95 %, of {draws:,} random subsets of {size:,} of the {ours}",
        draws=draws,
        size=size,
        pool=pluralize(pool, "item"),
        read="the targets read all of these"
        if (selected, read) == (of_selected, others)
        else f"the targets read {selected:,} of the {of_selected:,} that are selected and {read:,} of the "
        f"{others:,} that are not, and those of either kind that they read stand for all of it",
        conditions=CONDITIONS if read == others else SAMPLED.format(read=pluralize(read, "unselected item")),
        share=PLACE.format(
            low=LOW,
            high=HIGH,
            above=int((plain["share_below"] > HIGH).sum()),
            below=int((plain["share_below"] < LOW).sum()),
            rows=plain.height,
        )
        if size == selected
        else SUPERIORITY,
    )
    known = shown.drop_nulls("share_below")
    most = max((*known["undefined_random"], *known["undefined_selected"]), default=0)
    undefined = shown["share_below"].null_count()
    return (
        caption
        + ("" if read == others else ESTIMATED)
        + (LEFT_OUT.format(most=most, draws=draws) if most else "")
        + (UNDEFINED.format(missing=MISSING) if undefined else "")
    )
