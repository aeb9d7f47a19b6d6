"""Claims about what RAS measures (sections 6.2, 9.1 and 9.2): figure 4's plane, and Table 2."""

import polars as pl

from benchc.benchmarks.bench_c.claims.claim import CHECKED, Claim, Finding, judged, not_applicable
from benchc.benchmarks.bench_c.claims.evidence import Example
from benchc.benchmarks.bench_c.claims.numbers import listed, means_by, signed
from benchc.pluralize import pluralize

TEST = "one-sided paired t-test over corruptions"


def _regimes(example: Example, predictions: pl.DataFrame) -> Finding:
    means = _by_regime(predictions)
    if len(means) < 4:
        return _too_few(example, predictions, means)
    order = sorted(means, key=lambda regime: means[regime])
    return judged(order[0] == "overconfident" and order[-1] == "stable", f"mean RAS: {listed(means)}")


def _unchanged(example: Example, predictions: pl.DataFrame) -> Finding:
    means = _by_regime(predictions)
    if len(means) < 2:
        return _too_few(example, predictions, means)
    low, high = min(means.values()), max(means.values())
    return judged(
        low < 0 < high, f"mean RAS {signed(low)} to {signed(high)} ({pluralize(predictions.height, 'item')})"
    )


def _changed(example: Example, predictions: pl.DataFrame) -> Finding:
    means = _by_regime(predictions)
    if len(means) < 2 or "overconfident" not in means:
        return _too_few(example, predictions, means)
    return judged(
        min(means, key=lambda regime: means[regime]) == "overconfident",
        f"mean RAS: {listed(means)} ({pluralize(predictions.height, 'item')})",
    )


def _accuracy_or_ras(example: Example, predictions: pl.DataFrame) -> Finding:
    means = _by_regime(predictions)
    if not {"degraded", "overconfident"} <= set(means):
        return _too_few(example, predictions, means)
    shifts = predictions.with_columns(
        delta_acc=pl.col("correct").cast(pl.Float64) - pl.col("correct_clean").cast(pl.Float64)
    )
    accuracy = means_by(shifts.sort("regime", "id"), "regime", "delta_acc")
    return judged(
        abs(accuracy["degraded"]) > abs(accuracy["overconfident"])
        and means["overconfident"] < means["degraded"],
        f"ΔAcc degraded {signed(accuracy['degraded'])}, overconfident {signed(accuracy['overconfident'])}; "
        f"RAS {signed(means['degraded'])}, {signed(means['overconfident'])}",
    )


def _by_regime(predictions: pl.DataFrame) -> dict[str, float]:
    return means_by(predictions.sort("regime", "id"), "regime", "ras")


def _too_few(example: Example, predictions: pl.DataFrame, means: dict[str, float]) -> Finding:
    if example.predictions.is_empty():
        return not_applicable("the cell of figure 4 is not in this run, or its target is not ranked")
    regimes = ", ".join(means) or "none"
    return not_applicable(f"too few regimes among its {pluralize(predictions.height, 'item')}: {regimes}")


def _every_case(table: pl.DataFrame) -> Finding:
    cases = table.filter(pl.col("steps") > 0)
    if cases.is_empty():
        return not_applicable("z is defined nowhere: one severity, or shifts that are the same on all items")
    larger = int((cases["mean_abs_z_ras"] > cases["mean_abs_z_delta_acc"]).sum())
    return judged(larger == cases.height, f"{larger} of {pluralize(cases.height, 'case')}")


def _exceeds(table: pl.DataFrame) -> Finding:
    rows = table.drop_nulls(["mean_abs_z_ras", "mean_abs_z_delta_acc"])
    if rows.is_empty():
        return not_applicable("z is defined for no model")
    difference = rows["mean_abs_z_ras"] - rows["mean_abs_z_delta_acc"]
    larger = int((difference > 0).sum())
    return judged(
        larger == rows.height,
        f"{larger} of {pluralize(rows.height, 'model')}; differences {_range(difference, 3)}",
    )


def _significant(table: pl.DataFrame, level: float) -> Finding:
    rows = table.drop_nulls("p")
    if rows.is_empty():
        return not_applicable("the test is defined for no model; see the notes of Table 2")
    below = int((rows["p"] < level).sum())
    return judged(
        below == rows.height,
        f"{below} of {pluralize(rows.height, 'model')}; largest p {max(rows['p'].to_list()):.1e}",
    )


def _large_t(table: pl.DataFrame) -> Finding:
    rows = table.drop_nulls("t")
    if rows.is_empty():
        return not_applicable("the test is defined for no model; see the notes of Table 2")
    return judged(min(rows["t"].to_list()) >= 35, f"t {_range(rows['t'], 1)}")


def _range(values: pl.Series, digits: int) -> str:
    found = values.to_list()
    return f"{min(found):.{digits}f} to {max(found):.{digits}f}"


PLANE = (
    Claim(
        "6.2",
        "Overconfident items lose most RAS, stable ones least (figure 4 a)",
        "of the four regimes, overconfident has the lowest mean RAS and stable the highest; {example}",
        "a figure, without numbers (mPLUG-Owl3, snow, severity 5)",
        lambda run: _regimes(run.example, run.example.predictions),
    ),
    Claim(
        "6.2",
        "RAS varies where predictions stay the same (figure 4 b)",
        "among unchanged predictions, some regimes have a mean RAS above 0, others below; {example}",
        "-0.128 to +0.071 (mPLUG-Owl3, snow, severity 5)",
        lambda run: _unchanged(run.example, run.example.unchanged),
    ),
    Claim(
        "6.2",
        "Of changed predictions, the overconfident ones lose most RAS (figure 4 c)",
        "no other regime has as low a mean RAS among changed predictions; {example}",
        "a figure, without numbers (mPLUG-Owl3, snow, severity 5)",
        lambda run: _changed(run.example, run.example.changed),
    ),
    Claim(
        "6.2",
        "Degraded items shift more in accuracy than overconfident ones, which have the lower RAS",
        "|ΔAcc| is larger in degraded, RAS lower in overconfident, among changed predictions; {example}",
        "a figure, without numbers (mPLUG-Owl3, snow, severity 5)",
        lambda run: _accuracy_or_ras(run.example, run.example.changed),
    ),
    Claim(
        "6.2",
        "One item under defocus blur, brightness and spatter shows three behaviours (figure 5)",
        "the same item and model",
        "a figure of DeepSeek-VL2-Small",
        lambda _: not_applicable("the paper does not identify the item"),
    ),
)
SENSITIVITY = (
    Claim(
        "6.2",
        "For every model and corruption, RAS is more sensitive to a step of severity than accuracy",
        "E|z| of RAS is the larger in every case (model, corruption)",
        "all cases, without numbers",
        lambda run: _every_case(run.sensitivity),
    ),
    Claim(
        "6.2",
        "For every model, the difference is significant, p < 0.01",
        f"{TEST}: p < 0.01 for every model",
        CHECKED,
        lambda run: _significant(run.table2, 0.01),
    ),
    Claim(
        "9.2",
        "For every model, E|z| of RAS exceeds that of accuracy",
        "the difference is above 0 for every model",
        CHECKED,
        lambda run: _exceeds(run.table2),
    ),
    Claim(
        "9.2",
        "For every model, p < 0.001",
        f"{TEST}: p < 0.001 for every model",
        CHECKED,
        lambda run: _significant(run.table2, 0.001),
    ),
    Claim(
        "9.2",
        "t is between 35.7 and 70.7, because differences vary little between corruptions",
        "every model's t is 35 or more",
        f"{CHECKED} in its Table 2",
        lambda run: _large_t(run.table2),
    ),
    Claim(
        "9.1",
        "Text similarity orders models as accuracy does",
        "equal order of similarity scores and accuracy",
        "a derivation, without numbers",
        lambda _: not_applicable(
            "an identity where all wrong answers are equally similar; models are scored by the "
            "probabilities of the options, so there are no answer texts to compare"
        ),
    ),
)
