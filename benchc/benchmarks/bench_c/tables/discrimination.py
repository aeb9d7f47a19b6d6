"""The selected set compared with random subsets of the pool, as Markdown and LaTeX."""

import polars as pl

from benchc.benchmarks.bench_c.claims.numbers import LEAST_MODELS
from benchc.benchmarks.bench_c.inputs import Selected
from benchc.benchmarks.bench_c.metrics import discrimination as metrics
from benchc.benchmarks.bench_c.metrics.cube import cube_of
from benchc.benchmarks.bench_c.targets import TargetScores, UnselectedScores, excluded_note
from benchc.command_line import PositiveInt
from benchc.errors import InputError, recreate
from benchc.pluralize import pluralize
from benchc.rendering.numbers import MISSING, number_text
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

CRITERIA = {"sd": "spread", "separable": "separable pairs", "kendall": "order"}
METRICS = {"acc_clean": "Acc(o)", "acc_corrupted": "Acc(c)", "delta_acc": "ΔAcc", "ras": "RAS"}
WEIGHTS = {"unweighted": "", "kappa": ", κ"}
CALIBRATED = "unweighted"  # the weighting under which Below is 0.5 by chance
LOW, HIGH = 0.025, 0.975  # shares of random subsets outside of which a value is beyond 95 % of them

CAPTION = (
    "Does the selected set distinguish the {models} targets better than random items do? Selected: "
    "{selected}. Random: median, and in brackets 95 % range, of {draws} of {size:,} of the "
    "{pool} of the pool; {evaluated}. Spread: standard deviation over targets; separable pairs: share of "
    "the pairs of targets whose paired difference exceeds 1.96 standard errors; order: Kendall's τ-b with "
    "the order of the targets on the pool. Acc(o), Acc(c): clean and corrupted accuracy; κ: weighted by κ "
    "(eq. 11). Below: {share}. It is not given for rows weighted by κ, where it is not 0.5 by chance: "
    "selected items carry most of the weight of random subsets and of the pool. Spread is partly noise, "
    "which is larger on inconsistent items. Random subsets overlap with the selected set and with the pool. "
    "Results are conditional on {conditions}; a target that is also a selector has influenced the selection."
)
PLACE = (
    "share of random subsets with a lower value, ties count half (0.5 by chance). It is above {high} in "
    "{above} of {rows} rows and below {low} in {below}"
)
SUPERIORITY = (
    "probability that a random subset has a lower value than one of the selected set, ties count half "
    "(0.5 by chance, and nearer to 0.5 than if all items were evaluated)"
)
CONDITIONS = "this pool and these targets"
SAMPLED = "this pool, these targets and the {evaluated} on which they were evaluated"
ESTIMATED = (
    " The order on the pool is estimated from the evaluated items. Random subsets mostly consist of the "
    "unselected ones that determine it, which may lower Below in the rows of order."
)
FEW = (
    " With fewer than {least} targets, τ-b has few possible values, so that the rows of order say little: "
    "too few models."
)
EXCLUDED = " Up to {most:,} of the {draws} leave a criterion undefined and are excluded."
UNDEFINED = " {missing}: undefined, the csv file says why."


def discrimination(
    targets: TargetScores,
    unselected: UnselectedScores,
    selected: Selected,
    draws: PositiveInt,
    seed: int,
) -> Table:
    """Return how well the selected set distinguishes targets, compared with random subsets of the pool.

    ``selected`` is the whole pool, with kappa. Raises InputError where targets were scored on other items.
    """
    kept = set(selected.filter("selected")["id"])
    inside, outside = targets.by_label, unselected.by_label
    for label, table in inside.items():
        if label not in outside:
            raise InputError(f"{label} has no scores of unselected items; {recreate('scores')}")
        _refuse(set(table["id"]) - kept, f"{label}: scores", "not selected")
        _refuse(set(outside[label]["id"]) & kept, f"{label}: scores of unselected items", "selected")
    scored = len(set().union(*(table["id"] for table in inside.values())))
    if len(kept) - scored != targets.excluded:
        raise InputError(
            f"{scored:,} of the {len(kept):,} selected items were scored, and the scores record no missing "
            f"predictions of the others; {recreate('scores')}"
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
    note = excluded_note(scored, targets.excluded)
    summary = (
        f"{pluralize(len(cube.models), 'target')}; the selected set compared with "
        f"{pluralize(draws, 'random subset')} of {table['size'][0]:,} of "
        f"{pluralize(selected.height, 'item')}"
    )
    return printed_discrimination(table, note, summary)


def _refuse(items: set[str], scores: str, kind: str) -> None:
    """Raise InputError where there are ``items`` of the wrong ``kind`` in a target's ``scores``."""
    if items:
        raise InputError(
            f"{scores} are of {pluralize(len(items), 'item')}, such as {min(items)}, that are {kind}; "
            f"{recreate('predictions', 'scores')}"
        )


def printed_discrimination(table: pl.DataFrame, note: str = "", summary: str = "") -> Table:
    """Return a table of ``metrics.discrimination`` as printed; ``note`` ends the caption."""
    shown = _shown(table)
    metrics, weights = pl.col("metric").replace_strict(METRICS), pl.col("weighting").replace_strict(WEIGHTS)
    below = [
        number_text(share, signed=False) if weighting == CALIBRATED else ""
        for share, weighting in shown["share_below", "weighting"].iter_rows()
    ]
    return printed(
        table,
        [
            Column("criterion", "Criterion"),
            Column("metric", "Metric"),
            # One set is a number, several subsets have a range.
            Column("selected", "Selected", interval=shown["selected_low"].count() > 0),
            Column("random", "Random", interval=True),
            Column("below", "Below", form=str),
        ],
        caption=_caption(table) + note,
        label="bench-c-discrimination",
        shown=shown.with_columns(
            pl.col("criterion").replace_strict(CRITERIA),
            metric=metrics + weights,
            random="random_q50",
            random_low="random_q025",
            random_high="random_q975",
            below=pl.Series(below, dtype=pl.String),
        ),
        text_columns=2,
        summary=summary,
    )


def _shown(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(pl.col("criterion").is_in(list(CRITERIA)))


def _caption(table: pl.DataFrame) -> str:
    shown, first = _shown(table), table.row(0, named=True)
    unweighted = shown.filter(weighting=CALIBRATED)
    if first["models"] < 2:
        return "With one target there is nothing to distinguish."
    size, draws, pool = first["size"], first["draws"], first["pool_items"]
    selected, unselected = first["selected_evaluated"], first["unselected_evaluated"]
    all_selected = first["selected_items"]
    all_unselected = pool - all_selected
    ours = pluralize(selected, "evaluated selected item" if selected < all_selected else "selected item")
    subsets = pluralize(draws, "random subset")
    caption = CAPTION.format(
        models=first["models"],
        selected=f"the {ours}"
        if size == selected
        else f"median, and in brackets 95 % range, of {subsets} of {size:,} of the {ours}",
        draws=subsets,
        size=size,
        pool=pluralize(pool, "item"),
        evaluated="the targets were evaluated on all of these"
        if (selected, unselected) == (all_selected, all_unselected)
        else f"the targets were evaluated on {selected:,} of the {all_selected:,} selected and "
        f"{unselected:,} of the {all_unselected:,} unselected items, which represent the others of their "
        "kind",
        conditions=CONDITIONS
        if unselected == all_unselected
        else SAMPLED.format(evaluated=pluralize(unselected, "unselected item")),
        share=PLACE.format(
            low=LOW,
            high=HIGH,
            above=int((unweighted["share_below"] > HIGH).sum()),
            below=int((unweighted["share_below"] < LOW).sum()),
            rows=unweighted.height,
        )
        if size == selected
        else SUPERIORITY,
    )
    known = shown.drop_nulls("share_below")
    most = max((*known["undefined_random"], *known["undefined_selected"]), default=0)
    undefined = shown["share_below"].null_count()
    return (
        caption
        + ("" if unselected == all_unselected else ESTIMATED)
        + (FEW.format(least=LEAST_MODELS) if first["models"] < LEAST_MODELS else "")
        + (EXCLUDED.format(most=most, draws=subsets) if most else "")
        + (UNDEFINED.format(missing=MISSING) if undefined else "")
    )
