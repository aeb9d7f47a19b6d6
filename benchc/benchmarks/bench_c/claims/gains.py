"""Claims about severity and about gains under the mildest corruption (sections 6.3 and 9.3)."""

from itertools import pairwise

import polars as pl

from benchc.benchmarks.bench_c.claims.claim import CHECKED, Claim, Finding, judged, not_applicable
from benchc.benchmarks.bench_c.claims.numbers import means_by, signed
from benchc.benchmarks.bench_c.metrics.table3 import SUBTLE
from benchc.benchmarks.bench_c.schemas.scores import REGIMES
from benchc.pluralize import pluralize

GAINER = ("Idefics3-Llama3", "spatter")  # the paper's example
FREQUENT = "spatter"


def _declines(cells: pl.DataFrame, value: str) -> Finding:
    means = _by_severity(cells, value)
    if len(means) < 2:
        return not_applicable("there is one severity")
    falls = all(after < before for before, after in pairwise(means.values()))
    numbers = ", ".join(f"{severity}: {signed(mean)}" for severity, mean in means.items())
    return judged(falls, f"by severity {numbers}")


def _all_decline(cells: pl.DataFrame) -> Finding:
    if cells["severity"].n_unique() < 2:
        return not_applicable("there is one severity")
    rises = []
    for (label,), rows in cells.group_by("label", maintain_order=True):
        means = _by_severity(rows, "ras")
        rises += [f"{label} {a} to {b}" for (a, x), (b, y) in pairwise(means.items()) if y >= x]
    models, steps = cells["label"].n_unique(), cells["severity"].n_unique() - 1
    falls = models * steps - len(rises)
    exceptions = f"; not {', '.join(rises[:3])}{', …' if len(rises) > 3 else ''}" if rises else ""
    all_steps = f"{pluralize(models * steps, 'step')} of {pluralize(models, 'model')}"
    return judged(not rises, f"falls at {falls} of {all_steps}{exceptions}")


def _by_severity(cells: pl.DataFrame, value: str) -> dict[str, float]:
    return means_by(cells.sort("severity", maintain_order=True), "severity", value)


def _some(table: pl.DataFrame, cases: int) -> Finding:
    if not cases:
        return _no_severity()
    return judged(table.height > 0, f"{table.height} of {pluralize(cases, 'case')}")


def _example(cells: pl.DataFrame) -> Finding:
    label, corruption = GAINER
    case = cells.filter(
        (pl.col("label") == label) & (pl.col("corruption") == corruption) & (pl.col("severity") == SUBTLE)
    )
    if case.is_empty():
        return not_applicable(f"the run has no ranked {label} under {corruption} at severity {SUBTLE}")
    clean, delta = case["acc_clean"][0], case["delta_acc"][0]
    return judged(delta > 0, f"{clean:.3f} to {clean + delta:.3f}")


def _mostly_bad(table: pl.DataFrame, cases: int) -> Finding:
    if table.is_empty():
        return _no_gain(cases)
    bad = int(table["regime"].cast(pl.String).is_in(["degraded", "overconfident"]).sum())
    return judged(2 * bad > table.height, f"{bad} of {pluralize(table.height, 'gain')}")


def _negative(table: pl.DataFrame, cases: int) -> Finding:
    if table.is_empty():
        return _no_gain(cases)
    negative = int((table["ras"] < 0).sum())
    top = max(table["ras"].to_list())
    return judged(
        negative == table.height,
        f"{negative} of {pluralize(table.height, 'gain')}; highest RAS {signed(top)}",
    )


def _most_degraded(table: pl.DataFrame, cases: int) -> Finding:
    if table.is_empty():
        return _no_gain(cases)
    counts = [int((table["regime"].cast(pl.String) == regime).sum()) for regime in REGIMES]
    numbers = ", ".join(f"{count} {regime}" for count, regime in zip(counts, REGIMES, strict=True))
    return judged(counts[0] > max(counts[1:]), numbers)


def _spatter(table: pl.DataFrame, cases: int, *, present: bool) -> Finding:
    if not present:
        return not_applicable("spatter is not a corruption of this run")
    if table.is_empty():
        return _no_gain(cases)
    counts = dict(table["corruption"].value_counts().sort("corruption").rows())
    ours, other = counts.pop(FREQUENT, 0), max(counts, key=lambda name: counts[name], default=None)
    rival = f", next {other.replace('_', ' ')} {counts[other]}" if other else ""
    return judged(ours > max(counts.values(), default=0), f"gains: spatter {ours}{rival}")


def _no_gain(cases: int) -> Finding:
    return not_applicable("no case gains") if cases else _no_severity()


def _no_severity() -> Finding:
    return not_applicable(f"severity {SUBTLE} is not in this run")


SEVERITY = (
    Claim(
        "6.3",
        "Accuracy declines as severity grows",
        "mean ΔAcc over models and corruptions falls at every step of severity",
        "no numbers",
        lambda run: _declines(run.cells, "delta_acc"),
    ),
    Claim(
        "6.3",
        "The prediction structure of every model degrades as severity grows",
        "every model's mean RAS over corruptions falls at every step of severity",
        "no numbers",
        lambda run: _all_decline(run.cells),
    ),
)
GAINS = (
    Claim(
        "6.3",
        "Some corruptions raise accuracy at severity 1",
        "at least one case (model, corruption) gains",
        CHECKED,
        lambda run: _some(run.table3, run.subtle_cases),
    ),
    Claim(
        "6.3",
        "Spatter at severity 1 raises the accuracy of Idefics3-Llama3",
        "ΔAcc > 0 in that case",
        "0.560 to 0.567 (its Table 3: from 0.561, +0.007)",
        lambda run: _example(run.cells),
    ),
    Claim(
        "6.3, 9.3",
        "Most gains come with a degraded or overconfident prediction structure",
        "more than half of the gains are of these two regimes",
        CHECKED,
        lambda run: _mostly_bad(run.table3, run.subtle_cases),
    ),
    Claim(
        "6.3, 9.3",
        "RAS is negative in all cases that gain",
        "mean RAS < 0 in every one",
        CHECKED,
        lambda run: _negative(run.table3, run.subtle_cases),
    ),
    Claim(
        "9.3",
        "Degraded is the most frequent regime of the gains",
        "it has more gains than any other regime",
        CHECKED,
        lambda run: _most_degraded(run.table3, run.subtle_cases),
    ),
    Claim(
        "9.3",
        "Spatter raises accuracy more often than other corruptions",
        "it has more gains than any other corruption",
        CHECKED,
        lambda run: _spatter(run.table3, run.subtle_cases, present=FREQUENT in set(run.cells["corruption"])),
    ),
)
