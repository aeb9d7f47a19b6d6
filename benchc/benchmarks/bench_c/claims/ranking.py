"""Claims about the order of the models (section 6.1), on Table 1: ours, or the paper's own."""

from collections.abc import Callable
from itertools import combinations
from typing import Literal

import polars as pl

from benchc.benchmarks.bench_c.claims.claim import CHECKED, Claim, Finding, judged, not_applicable
from benchc.benchmarks.bench_c.claims.evidence import Evidence
from benchc.benchmarks.bench_c.claims.numbers import LEAST_MODELS, signed, spearman
from benchc.pluralize import pluralize
from benchc.statistics.rounding import tied_series

SWAPPED = ("Falcon2-VLM", "mPLUG-Owl3")  # the paper's example of a pair that RAS and ΔAcc order differently


def _of_table1(check: Callable[[pl.DataFrame], Finding]) -> Callable[[Evidence], Finding]:
    """Return the check of Table 1, which has no rows where weighted means are undefined."""

    def checked(run: Evidence) -> Finding:
        table = run.table1.drop_nulls(["acc_clean", "delta_acc", "ras"])
        if table.is_empty():
            return not_applicable("ΔAcc and RAS of the models are undefined: all items have kappa 0")
        return check(table)

    return checked


def _disagreement(table: pl.DataFrame) -> Finding:
    # Ranks, not values: the paper prints one RAS twice, with the ranks 1 and 2.
    rows = table.select("rank_delta_acc", "rank_ras").rows()
    pairs = list(combinations(rows, 2))
    if not pairs:
        return not_applicable("one model has no order")
    opposite = sum((a[0] - b[0]) * (a[1] - b[1]) < 0 for a, b in pairs)
    return judged(opposite > 0, f"{opposite} of {pluralize(len(pairs), 'pair')} in opposite order")


def _swapped(table: pl.DataFrame) -> Finding:
    rows = {row["label"]: row for row in table.iter_rows(named=True)}
    missing = [label for label in SWAPPED if label not in rows]
    if missing:
        return _absent(missing)
    falcon, owl = (rows[label] for label in SWAPPED)
    return judged(
        falcon["delta_acc"] > owl["delta_acc"] and falcon["ras"] < owl["ras"],
        f"ΔAcc {signed(falcon['delta_acc'])} and {signed(owl['delta_acc'])}, RAS {signed(falcon['ras'])} "
        f"and {signed(owl['ras'])}",
    )


def _fragile(table: pl.DataFrame) -> Finding:
    if table.height < LEAST_MODELS:
        count = pluralize(table.height, "model")
        return not_applicable(f"too few models: a correlation needs {LEAST_MODELS}, and there are {count}")
    found = [spearman(table["acc_clean"], table[name]) for name in ("delta_acc", "ras")]
    if None in found:
        return not_applicable("all models have the same value, so there is no correlation")
    delta_acc, ras = found
    assert delta_acc is not None and ras is not None
    return judged(
        delta_acc < 0 and ras < 0,
        f"{delta_acc:+.2f} with ΔAcc, {ras:+.2f} with RAS ({pluralize(table.height, 'model')})",
    )


def _best_is_worst(table: pl.DataFrame) -> Finding:
    if table.height < 2:
        return not_applicable("one model has no order")
    if table["acc_clean"].n_unique() < 2 or table["ras"].n_unique() < 2:
        return not_applicable("all models have the same clean accuracy, or the same RAS")
    if _is_shared(table["acc_clean"], "max"):
        return not_applicable("several models have the highest clean accuracy")
    ordered = table.sort("acc_clean", maintain_order=True)
    best, lowest = ordered.row(-1, named=True), table.sort("ras", maintain_order=True).row(0, named=True)
    return judged(
        best["ras"] == lowest["ras"],
        f"most accurate {best['label']}, Acc {best['acc_clean']:.3f}, RAS {signed(best['ras'])}; lowest RAS "
        f"{lowest['label']}, {signed(lowest['ras'])}",
    )


def _worst_is_better(table: pl.DataFrame) -> Finding:
    if table.height < 2:
        return not_applicable("one model has no order")
    if table["acc_clean"].n_unique() < 2:
        return not_applicable("all models have the same clean accuracy")
    if _is_shared(table["acc_clean"], "min") or _is_shared(table["acc_clean"], "max"):
        return not_applicable("several models have the lowest or the highest clean accuracy")
    ordered = table.sort("acc_clean", maintain_order=True)
    least, most = ordered.row(0, named=True), ordered.row(-1, named=True)
    return judged(
        least["ras"] > most["ras"],
        f"{least['label']}, Acc {least['acc_clean']:.3f}, RAS {signed(least['ras'])}; {most['label']}, Acc "
        f"{most['acc_clean']:.3f}, RAS {signed(most['ras'])}",
    )


def _is_shared(values: pl.Series, end: Literal["min", "max"]) -> bool:
    """Return whether two values or more are the smallest or largest, to the decimals in which means agree."""
    ties = tied_series(values)
    return int((ties == (ties.min() if end == "min" else ties.max())).sum()) > 1


def _absent(labels: list[str]) -> Finding:
    return not_applicable(f"not among the ranked targets: {', '.join(labels)}")


RANKING = (
    Claim(
        "6.1",
        "RAS and ΔAcc do not order the models alike",
        "at least one pair of models has the opposite order",
        CHECKED,
        _of_table1(_disagreement),
    ),
    Claim(
        "6.1",
        "Falcon2-VLM beats mPLUG-Owl3 in ΔAcc, and loses in RAS",
        "both signs, by Table 1",
        CHECKED,
        _of_table1(_swapped),
    ),
    Claim(
        "6.1",
        "Models that are more accurate on clean images are more fragile",
        "Spearman's correlations of clean accuracy with ΔAcc and with RAS are both below 0",
        CHECKED,
        _of_table1(_fragile),
    ),
    Claim(
        "6.1",
        "The most accurate model has the lowest RAS",
        "no model has a lower RAS (the paper's is Qwen2.5-VL-Instruct)",
        CHECKED,
        _of_table1(_best_is_worst),
    ),
    Claim(
        "6.1",
        "The least accurate model loses less RAS than the most accurate one",
        "its RAS is the higher one (the paper's is Emu3-Chat)",
        CHECKED,
        _of_table1(_worst_is_better),
    ),
)
