"""The numbers of Table 1: one row per target, with ranks and the best value of every column."""

from collections.abc import Container, Sequence

import polars as pl

from benchc.benchmarks.bench_c.metrics.aggregate import DELTA_ACCURACY, clean_means, overall_means
from benchc.errors import InputError, recreate
from benchc.schemas.models import Model
from benchc.schemas.predictions import KEY
from benchc.statistics.rounding import tied_series

# The arrows of Table 1.
HIGHER_IS_BETTER = {
    "acc_clean": True,
    "delta_acc": True,
    "ras": True,
    "entropy_clean": False,
    "entropy_clean_weighted": False,
    "delta_entropy": False,
    "calibration_clean": False,
    "calibration_clean_weighted": False,
    "delta_calibration": False,
}
RANKED = ("delta_acc", "ras")

TABLE1 = {
    "model": pl.String,
    "label": pl.String,
    "year": pl.Int64,  # null where unknown
    "parameters_b": pl.Float64,  # 10^9 parameters; null where unknown
    "items": pl.Int64,
    "acc_clean": pl.Float64,  # unweighted mean, in [0, 1]
    "delta_acc": pl.Float64,  # eq. 11, in [-1, 1]
    "rank_delta_acc": pl.Int64,  # 1 is best
    "ras": pl.Float64,  # eq. 11, in [-2, 1]
    "rank_ras": pl.Int64,
    "entropy_clean": pl.Float64,  # unweighted mean, in [0, 1]
    "entropy_clean_weighted": pl.Float64,  # weighted by kappa as in eq. 11
    "delta_entropy": pl.Float64,  # eq. 11, in [-1, 1]
    "calibration_clean": pl.Float64,  # unweighted mean, in [0, 1]
    "calibration_clean_weighted": pl.Float64,
    "delta_calibration": pl.Float64,  # eq. 11, in [-1, 1]
}


def table1(
    targets: Sequence[Model],
    scores: Sequence[pl.DataFrame],
    weights: pl.DataFrame,
    *,
    excluded: int = 0,
    ranked: Container[str] | None = None,
) -> pl.DataFrame:
    """Return Table 1 with the columns of ``TABLE1``, in the order of ``targets``.

    ``scores[i]`` is the SCORES table of ``targets[i]``; ``weights`` has the columns id and kappa, one row per
    item of the benchmark; ``excluded`` of these have no scores, since predictions are missing. ``ranked``:
    the labels of the targets that have a rank; None for all. Weighted means are null where all weights are 0.
    Raises InputError where there is no target, one occurs twice, targets were scored on different items,
    corruptions or severities, or these items are not those of ``weights``.
    """
    if not targets or len(targets) != len(scores):
        raise InputError(
            f"table 1 needs one table of scores per target: {len(targets)} targets, {len(scores)} tables"
        )
    names = [target.id for target in targets]
    if len(set(names)) != len(names):
        raise InputError(f"a target occurs twice: {', '.join(names)}")
    _check_same_predictions(targets, scores)
    _check_items(scores[0], weights, excluded)
    rows = []
    for target, frame in zip(targets, scores, strict=True):
        shifts = overall_means(
            frame,
            [
                DELTA_ACCURACY.alias("delta_acc"),
                pl.col("ras"),
                pl.col("delta_entropy"),
                pl.col("delta_calibration"),
            ],
            weights,
        )
        weighted = clean_means(frame, weights)
        rows.append(
            {
                "model": target.id,
                "label": target.label,
                "year": target.year,
                "parameters_b": target.parameters_b,
                "items": frame["id"].n_unique(),
                "entropy_clean_weighted": weighted["entropy_clean"],
                "calibration_clean_weighted": weighted["calibration_clean"],
                **clean_means(frame),
                **shifts,
            }
        )
    table = pl.DataFrame(rows, schema_overrides=TABLE1)
    others = [ranked is not None and target.label not in ranked for target in targets]
    table = table.with_columns(
        rank(table[name].set(pl.Series(others), None)).alias(f"rank_{name}") for name in RANKED
    )
    return table.select(*TABLE1)


def rank(values: pl.Series) -> pl.Series:
    """Return the rank of every value, Int64: 1 for the largest; ties share the smaller rank, null stays.

    Values that agree to ``rounding.DIGITS`` decimals are equal.
    """
    return tied_series(values).rank("min", descending=True).cast(pl.Int64)


def best_rows(table: pl.DataFrame, ranked: Container[str] | None = None) -> dict[str, set[int]]:
    """Return for every column of ``HIGHER_IS_BETTER`` the rows with its best value, several on a tie.

    ``ranked``: the labels of the rows among which the best are; None for all.
    """
    best = {}
    if ranked is not None:
        others = pl.Series([label not in ranked for label in table["label"]])
        table = table.with_columns(table[name].set(others, None) for name in HIGHER_IS_BETTER)
    for name, higher in HIGHER_IS_BETTER.items():
        column = tied_series(table[name])
        target = column.max() if higher else column.min()
        best[name] = {row for row, value in enumerate(column) if value is not None and value == target}
    return best


def _check_same_predictions(targets: Sequence[Model], scores: Sequence[pl.DataFrame]) -> None:
    first = scores[0].select(KEY)
    for target, frame in zip(targets, scores, strict=True):
        predictions = frame.select(KEY)
        # Scores of one run usually share one order; sorting costs more than the rest of the table.
        same = predictions.equals(first) or predictions.sort(KEY).equals(first.sort(KEY))
        if predictions.is_empty() or not same:
            odd = pl.concat(
                [predictions.join(first, on=KEY, how="anti"), first.join(predictions, on=KEY, how="anti")]
            )
            example = f", first {odd.sort(KEY).row(0)}" if odd.height else ""
            raise InputError(
                f"{target.id} has {predictions.height:,} scores, {targets[0].id} has {first.height:,}, and "
                f"{odd.height:,} of them differ{example}: targets can only be compared on the same "
                f"predictions; {recreate('scores')}"
            )


def _check_items(scores: pl.DataFrame, weights: pl.DataFrame, excluded: int) -> None:
    scored, selected = set(scores["id"].unique()), set(weights["id"])
    if scored - selected or len(selected - scored) != excluded:
        odd = sorted(scored ^ selected)
        example = f", first {odd[0]}" if odd else f" where {excluded:,} should have no scores"
        raise InputError(
            f"{len(scored):,} items were scored, {len(selected):,} are selected, and {len(odd):,} of them "
            f"differ{example}: scores and selection are from different runs; {recreate('scores')}"
        )
