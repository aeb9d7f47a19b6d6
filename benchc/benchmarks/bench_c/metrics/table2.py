"""The numbers of Table 2: is RAS more sensitive to a step of severity than accuracy?

The paper gives the symbols E[|z_RAS|], E[|z_ΔAcc|] and a one-sided paired t-test over corruption types
(sections 6.2 and 9.2). Its printed p values are those of 18 degrees of freedom, so the pairs are the 19
corruptions; its means of 0.3 to 0.6 are too small for z over few aggregates, so z is taken over items.
"""

import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import stats

from benchc.benchmarks.bench_c.metrics.aggregate import DELTA_ACCURACY
from benchc.pluralize import pluralize

METRICS = ("ras", "delta_acc")
# A smaller spread is rounding: the metrics are differences of numbers in [0, 1].
NO_SPREAD = 1e-12

SENSITIVITY = {
    "corruption": pl.String,
    "steps": pl.Int64,  # adjacent severities with a z of both metrics
    "steps_excluded": pl.Int64,  # steps at which a metric shifts by the same amount on all items
    "mean_abs_z_ras": pl.Float64,  # null where no step is left
    "mean_abs_z_delta_acc": pl.Float64,
}
TABLE2 = {
    "label": pl.String,
    "pairs": pl.Int64,  # corruptions in the test; degrees of freedom + 1
    "mean_abs_z_ras": pl.Float64,  # null where no corruption is left
    "mean_abs_z_delta_acc": pl.Float64,
    "t": pl.Float64,  # null where undefined: the note says why
    "p": pl.Float64,  # one-sided: RAS is not more sensitive
    "steps_excluded": pl.Int64,
    "note": pl.String,  # "" where everything is defined
}


def sensitivity(scores: pl.DataFrame, *, centred: bool = False) -> pl.DataFrame:
    """Return the mean |z| of RAS and ΔAcc of one model per corruption, columns ``SENSITIVITY``, sorted.

    ``scores`` is a SCORES table. At a step from one severity m of the table to the next, m', an item has
    z = (Φ_m' - Φ_m) / SD, with the SD (of the population) of these differences over the items of the step;
    ``centred`` subtracts their mean first. |z| is averaged over items, then over steps. A step at which
    either metric has no spread (SD 0, z undefined) is excluded for both, so that they stay paired; so are
    items without scores at both severities.
    """
    shifts = scores.select("id", "corruption", "severity", "ras", DELTA_ACCURACY.alias("delta_acc"))
    severities = shifts["severity"].unique().sort().to_list()
    means: dict[str, dict[str, list[float]]] = {
        corruption: {metric: [] for metric in METRICS} for corruption in shifts["corruption"].unique().sort()
    }
    for before, after in pairwise(severities):
        step = shifts.filter(pl.col("severity") == before).join(
            shifts.filter(pl.col("severity") == after), on=("id", "corruption"), suffix="_after"
        )
        for (corruption,), items in step.group_by("corruption"):
            z = [
                _mean_abs_z((items[f"{metric}_after"] - items[metric]).to_numpy(), centred)
                for metric in METRICS
            ]
            if None not in z:
                for metric, value in zip(METRICS, z, strict=True):
                    means[str(corruption)][metric].append(value)  # type: ignore[arg-type]
    steps = len(severities) - 1
    return pl.DataFrame(
        [
            {
                "corruption": corruption,
                "steps": len(found["ras"]),
                "steps_excluded": steps - len(found["ras"]),
                **{f"mean_abs_z_{metric}": _mean(found[metric]) for metric in METRICS},
            }
            for corruption, found in means.items()
        ],
        schema=SENSITIVITY,
    )


def table2(sensitivities: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return Table 2 (section 9.2), columns ``TABLE2``, one row per model in the order given.

    ``sensitivities`` gives each model's table of :func:`sensitivity` by its label. t and p are those of the
    paired t-test over corruptions of H0: E|z_RAS| <= E|z_ΔAcc|. They are null, with the reason in ``note``,
    for fewer than two corruptions, or where all differences are equal.
    """
    rows = [{"label": label, **_row(table)} for label, table in sensitivities.items()]
    return pl.DataFrame(rows, schema=TABLE2)


def p_of_t(t: float, pairs: int) -> float:
    """Return the one-sided p value of a paired t statistic, in [0, 1]: the upper tail at pairs - 1."""
    return float(stats.t.sf(t, pairs - 1))


def _row(table: pl.DataFrame) -> dict[str, object]:
    defined = table.filter(pl.col("steps") > 0)
    ras, delta_acc = (defined[f"mean_abs_z_{metric}"].to_list() for metric in METRICS)
    excluded = int(table["steps_excluded"].sum())
    t, why = _paired_t([a - b for a, b in zip(ras, delta_acc, strict=True)])
    notes = []
    if table["steps"].sum() + excluded == 0:
        notes.append("one severity: there is no step between severities")
    elif excluded:
        steps = "step" if excluded == 1 else "steps"
        notes.append(f"z undefined at {excluded} {steps}, where a metric shifts equally on all items")
    if t is None:
        notes.append(f"t and p undefined: {why}")
    return {
        "pairs": defined.height,
        "mean_abs_z_ras": _mean(ras),
        "mean_abs_z_delta_acc": _mean(delta_acc),
        "t": t,
        "p": None if t is None else p_of_t(t, defined.height),
        "steps_excluded": excluded,
        "note": "; ".join(notes),
    }


def _paired_t(differences: list[float]) -> tuple[float | None, str]:
    """Return t, or None and why there is none."""
    pairs = len(differences)
    if pairs < 2:
        return None, f"{pluralize(pairs, 'corruption')} with a z, and two are needed"
    mean = math.fsum(differences) / pairs
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in differences) / (pairs - 1))
    if spread < NO_SPREAD:
        return None, "the difference is the same under every corruption"
    return mean / (spread / math.sqrt(pairs)), ""


def _mean_abs_z(shift: npt.NDArray[np.float64], centred: bool) -> float | None:
    mean = math.fsum(shift) / len(shift)
    spread = math.sqrt(math.fsum((shift - mean) ** 2) / len(shift))
    if spread < NO_SPREAD:
        return None
    return math.fsum(np.abs(shift - mean if centred else shift)) / len(shift) / spread


def _mean(values: list[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None
