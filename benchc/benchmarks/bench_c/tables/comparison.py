"""The differences of two runs as Markdown."""

from collections.abc import Sequence
from itertools import chain

import polars as pl

from benchc.benchmarks.bench_c.metrics.bootstrap import KAPPA, PLAIN
from benchc.pluralize import pluralize
from benchc.rendering.markdown import captioned, markdown
from benchc.rendering.numbers import interval_text, number_text

METRICS = (("delta_acc", "ΔAcc"), ("ras", "RAS"))
# Of single scores: logits in float32 differ by rounding between machines and versions of libraries.
ROUNDING = 1e-5
ALL = "all"
CAPTION = (
    "Means over the {items}, and the models, corruptions and severities, that both runs have: over all "
    "corruptions weighted by each run's own κ, as in Table 1 (eq. 11); Acc(o) and single corruptions "
    "unweighted. In brackets: 95 % bootstrap intervals ({draws} of the items, the same for both runs and "
    "all models; conditional on the selected sets); *: the interval excludes 0, and differences up to "
    "{rounding:g}, which rounding may cause; [–]: all resamples give "
    "one value. Intervals are not corrected for multiple comparisons."
)


def comparison_markdown(
    differences: pl.DataFrame,
    settings: Sequence[str],
    inputs: Sequence[dict[str, str]],
    names: tuple[str, str],
    draws: int,
    largest: float,
    note: str = "",
) -> str:
    """Return the settings and inputs in which runs differ, and the differences of ``metrics.comparison``.

    One sentence where nothing differs; no table of differences where no score does.

    ``settings``: lines; ``inputs``: rows with the keys input, fact, a, b; ``names``: of the runs;
    ``largest``: the largest absolute difference of two scores; ``note`` ends the caption.
    """
    clean = differences.filter(metric="acc_clean", weighting=PLAIN)
    compared = f"{pluralize(clean.height, 'model')} on {pluralize(clean['items'][0], 'item')}"
    identical = largest == 0 and (differences["difference"].drop_nulls() == 0).all()
    if identical and not (settings or inputs):
        return (
            f"{names[0]} and {names[1]}: no setting and no input differs, and all scores of {compared} are "
            f"identical.{note}\n"
        )
    parts = [f"A = {names[0]}, B = {names[1]}\n"]
    parts.append("\n".join(f"- {line}" for line in settings or ["no setting differs"]) + "\n")
    if inputs:
        rows = [[row["input"], row["fact"], row["a"], row["b"]] for row in inputs]
        parts.append(markdown(["Input", "Fact", "A", "B"], rows, text_columns=4))
    else:
        parts.append("No input differs.\n")
    if identical:
        return "\n".join([*parts, f"All scores that both runs have, of {compared}, are identical.{note}\n"])
    if largest <= ROUNDING:
        most = f"equal up to rounding: no two differ by more than {largest:.1e}" if largest else "identical"
        parts.append(
            f"All scores that both runs have are {most}. Differences below, if any, come from the weights "
            "κ.\n"
        )
    rows = [[row["model"], *_cells(row, signed=False)] for row in clean.iter_rows(named=True)]
    header = ["Model", "Acc(o) A", "B", "B − A"]
    parts.append(markdown(header, rows))
    rows = []
    # As Table 1: all corruptions weighted, which single ones are in no table.
    shown = pl.when(pl.col("corruption").is_null()).then(pl.lit(KAPPA)).otherwise(pl.lit(PLAIN))
    for (model, corruption), group in differences.filter(
        pl.col("metric").is_in([metric for metric, _ in METRICS]), weighting=shown
    ).group_by("model", "corruption", maintain_order=True):
        cells = [_cells(group.filter(metric=metric).row(0, named=True), signed=True) for metric, _ in METRICS]
        rows.append([str(model), ALL if corruption is None else str(corruption), *chain(*cells)])
    header = [name for _, metric in METRICS for name in (f"{metric} A", "B", "B − A")]
    items, resamples = pluralize(clean["items"][0], "item"), pluralize(draws, "resample")
    caption = CAPTION.format(items=items, draws=resamples, rounding=ROUNDING) + note
    parts.append(captioned(["Model", "Corruption", *header], rows, caption, text_columns=2))
    return "\n".join(parts)


def _cells(row: dict[str, float | None], signed: bool) -> list[str]:
    low, high = row["low"], row["high"]
    significant = low is not None and high is not None and (low > ROUNDING or high < -ROUNDING)
    difference = number_text(row["difference"], signed=True)
    interval = interval_text(low, high, signed=True)
    return [
        number_text(row["a"], signed),
        number_text(row["b"], signed),
        f"{difference} {interval}{'*' if significant else ''}",
    ]
