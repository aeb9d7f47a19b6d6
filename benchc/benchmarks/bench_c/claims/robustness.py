"""Claims about destructive and corrective robustness (section 6.4), on figure 6's matrices."""

import polars as pl

from benchc.benchmarks.bench_c.claims.claim import FIGURE, Claim, Finding, judged, not_applicable
from benchc.benchmarks.bench_c.claims.numbers import listed, means_by, signed
from benchc.pluralize import pluralize

STRONG, WEAK = "Falcon2-VLM", "Idefics3-Llama3"
NEAR_ZERO = 0.02  # of RAS, which ranges from -2 to 1


def _mostly_negative(table: pl.DataFrame) -> Finding:
    cases = table.drop_nulls("destructive")["destructive"]
    if cases.is_empty():
        return not_applicable("no model was right on any clean item")
    negative = int((cases < 0).sum())
    return judged(2 * negative > len(cases), f"{negative} of {pluralize(len(cases), 'case')}")


def _blur(table: pl.DataFrame) -> Finding:
    means = means_by(table, "group", "destructive")
    if "blur" not in means or len(means) < 2:
        return not_applicable("the run lacks blur, or has no other group")
    if len(set(means.values())) < 2:
        return not_applicable("all groups have the same mean destructive RAS")
    return judged(means["blur"] == min(means.values()), listed(means))


def _against_others(table: pl.DataFrame, label: str, *, above: bool) -> Finding:
    ours = means_by(table.filter(pl.col("label") == label), "label", "destructive")
    others = means_by(
        table.filter(pl.col("label") != label).with_columns(all=pl.lit("others")), "all", "destructive"
    )
    if not ours or not others:
        return not_applicable(
            f"{label} is not among the ranked targets, is the only one, or was right on no clean item"
        )
    difference = ours[label] - others["others"]
    holds = difference > 0 if above else difference < 0
    return judged(holds, f"{signed(ours[label])}, others {signed(others['others'])}")


def _near_zero(table: pl.DataFrame) -> Finding:
    means = means_by(table, "label", "corrective")
    if not means:
        return not_applicable("no model was wrong on any clean item")
    low = sum(mean <= NEAR_ZERO for mean in means.values())
    return judged(
        2 * low > len(means),
        f"{low} of {pluralize(len(means), 'model')}; highest {signed(max(means.values()))}",
    )


def _some_positive(table: pl.DataFrame) -> Finding:
    means = means_by(table, "label", "corrective")
    if not means:
        return not_applicable("no model was wrong on any clean item")
    positive = {label: mean for label, mean in means.items() if mean > 0}
    return judged(
        bool(positive),
        f"{len(positive)} of {pluralize(len(means), 'model')}{': ' if positive else ''}{listed(positive)}",
    )


def _always_positive(table: pl.DataFrame) -> Finding:
    cases = table.filter(pl.col("label") == WEAK).drop_nulls("corrective")["corrective"]
    if cases.is_empty():
        return not_applicable(f"{WEAK} is not among the ranked targets, or was wrong on no clean item")
    positive = int((cases > 0).sum())
    return judged(positive == len(cases), f"{positive} of {pluralize(len(cases), 'corruption')}")


ROBUSTNESS = (
    Claim(
        "6.4",
        "On items that were right, most models have negative RAS under corruption",
        "destructive RAS is below 0 in more than half of the cases (model, corruption)",
        FIGURE,
        lambda run: _mostly_negative(run.robustness),
    ),
    Claim(
        "6.4",
        "Blur hurts destructive robustness most",
        "no group has a lower mean destructive RAS",
        FIGURE,
        lambda run: _blur(run.robustness),
    ),
    Claim(
        "6.4",
        "Falcon2-VLM has comparatively strong destructive robustness",
        "its mean destructive RAS is above that of the other models together",
        FIGURE,
        lambda run: _against_others(run.robustness, STRONG, above=True),
    ),
    Claim(
        "6.4",
        "Idefics3-Llama3 has comparatively weak destructive robustness",
        "its mean destructive RAS is below that of the other models together",
        FIGURE,
        lambda run: _against_others(run.robustness, WEAK, above=False),
    ),
    Claim(
        "6.4",
        "On items that were wrong, most models have RAS near zero or negative",
        f"mean corrective RAS is {NEAR_ZERO} or less for more than half of the models",
        FIGURE,
        lambda run: _near_zero(run.robustness),
    ),
    Claim(
        "6.4",
        "Some models have slightly positive corrective RAS",
        "mean corrective RAS is above 0 for at least one model",
        FIGURE,
        lambda run: _some_positive(run.robustness),
    ),
    Claim(
        "6.4",
        "Idefics3-Llama3 has positive corrective RAS under every corruption",
        "corrective RAS > 0 in all its cases",
        FIGURE,
        lambda run: _always_positive(run.robustness),
    ),
)
