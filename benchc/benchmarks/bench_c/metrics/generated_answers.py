"""Accuracy of the options in models' own words, and their agreement with predictions from logits."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from benchc.errors import InputError, recreate
from benchc.schemas.answer_states import STATUSES
from benchc.schemas.predictions import CLEAN, KEY, PREDICTIONS
from benchc.statistics.resampling import drawn_means, item_counts, on_grid, percentile_interval
from benchc.statistics.rounding import rounded

METRICS = ("acc_clean", "acc_corrupted", "delta_acc", "agreement")


def generated_answers(
    judgements: Mapping[str, pl.DataFrame],
    predictions: Mapping[str, pl.DataFrame],
    answers: Mapping[str, int],
    draws: int,
    seed: int,
) -> pl.DataFrame:
    """Return one row per model: unweighted means over items, with intervals.

    An answer that chooses no option is wrong, and agrees with no prediction.

    Args:
        judgements: a JUDGEMENTS table of each model, clean and corrupted.
        predictions: KEY and prediction (the option with the largest logit) of the models that have some.
        answers: the correct option of each item.
        draws: resamples of the items, the same for models with the same number of items.
        seed: of the resamples.

    Columns: model, items, answers; acc_clean and acc_corrupted in [0, 1], corrupted minus clean (delta_acc)
    in [-1, 1], and agreement, the share of answers whose option is the prediction, in [0, 1], null for a
    model without predictions; each with the ends ``_low`` and ``_high`` of its 95 % percentile interval,
    null for one item; no_option and cut_off, the shares of all answers that choose no option and that have
    the most tokens allowed; and the number of answers of each status. Raises InputError where an item has no
    clean or no corrupted answer.
    """
    none = pl.DataFrame(schema={name: PREDICTIONS.columns[name] for name in KEY} | {"prediction": pl.Int64})
    rows = []
    for model, table in judgements.items():
        right = pl.col("option").eq_missing(pl.col("id").replace_strict(answers))
        table = table.with_columns(right.cast(pl.Float64).alias("right"))
        table = table.join(predictions.get(model, none), on=KEY, how="left", maintain_order="left")
        agrees = pl.col("option").eq(pl.col("prediction")).fill_null(False)
        table = table.with_columns(
            pl.when(pl.col("prediction").is_not_null()).then(agrees.cast(pl.Float64)).alias("agrees")
        )
        clean = pl.col("corruption") == CLEAN
        items = table.group_by("id", maintain_order=True).agg(
            pl.col("right").filter(clean).mean().alias("acc_clean"),
            pl.col("right").filter(~clean).mean().alias("acc_corrupted"),
            pl.col("agrees").mean().alias("agreement"),
        )
        incomplete = items.filter(pl.any_horizontal(pl.col("acc_clean", "acc_corrupted").is_null()))
        if incomplete.height:
            raise InputError(
                f"{model}: item {incomplete['id'][0]} has no clean, or no corrupted answer "
                f"({incomplete.height} of {items.height} items like this); {recreate('answers')}"
            )
        items = items.with_columns((pl.col("acc_corrupted") - pl.col("acc_clean")).alias("delta_acc"))
        rows.append(
            {
                "model": model,
                "items": items.height,
                "answers": table.height,
                **_intervals(items, draws, seed),
                "no_option": table["option"].is_null().mean(),
                "cut_off": (table["finish"] == "length").mean(),
                **{status: (table["status"] == status).sum() for status in STATUSES},
            }
        )
    ends = ("", "_low", "_high")
    numbers = [pl.col(f"{metric}{end}").cast(pl.Float64) for metric in METRICS for end in ends]
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(numbers)


def _intervals(items: pl.DataFrame, draws: int, seed: int) -> dict[str, float | None]:
    """Return the mean of each metric over items, and the ends of its interval; nulls are left out."""
    values = items.select(METRICS).to_numpy()  # [items, metrics]
    known = (~np.isnan(values)).astype(np.float64)
    counts = item_counts(items.height, draws, seed)
    sums = on_grid(np.nan_to_num(values), items.height)
    drawn = drawn_means(counts, sums, known)
    ends = percentile_interval(drawn[1:]) if items.height > 1 else np.full((2, len(METRICS)), np.nan)
    columns = zip(("", "_low", "_high"), (drawn[0], *ends), strict=True)
    return {
        f"{metric}{end}": value
        for end, numbers in columns
        for metric, value in zip(METRICS, rounded(np.asarray(numbers)), strict=True)
    }
