"""Choose single predictions that illustrate a regime, with the probabilities of the options."""

from collections.abc import Sequence

import polars as pl

from benchc.benchmarks.bench_c.metrics.ras import probabilities
from benchc.benchmarks.bench_c.schemas.scores import REGIMES
from benchc.errors import InputError, recreate
from benchc.schemas.logits import name_of, prediction
from benchc.schemas.predictions import CLEAN, KEY

# A prediction is as pronounced as the smaller of its two shifts: far from both axes of the (ΔS, ΔC) plane.
_PRONOUNCED = pl.min_horizontal(pl.col("delta_entropy").abs(), pl.col("delta_calibration").abs()).alias(
    "pronounced"
)


def case_of_each_regime(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the most pronounced prediction of every regime that occurs, in the order of REGIMES.

    ``scores`` is a SCORES table, and so is the result. A prediction is as pronounced as the smaller of |ΔS|
    and |ΔC|; ties go to the first by id, corruption and severity.
    """
    return _sorted_by_regime(_ranked(scores).group_by("regime", maintain_order=True).first(), scores)


def item_of_most_regimes(scores: pl.DataFrame) -> str:
    """Return the id of the item that best shows how differently corruptions act, for figure 5.

    The item whose predictions fall into the most regimes; of several, the one whose least pronounced regime
    (by its most pronounced prediction) is the most pronounced; ties go to the first id. Raises InputError
    where ``scores`` is empty.
    """
    if scores.is_empty():
        raise InputError(f"the target has no scores, so there is no item to show; {recreate('scores')}")
    best = _ranked(scores).group_by("id", "regime").agg(pl.col("pronounced").max())
    items = best.group_by("id").agg(pl.len().alias("regimes"), pl.col("pronounced").min())
    return str(items.sort(["regimes", "pronounced", "id"], descending=[True, True, False])["id"][0])


def cases_of_item(scores: pl.DataFrame, item: str) -> pl.DataFrame:
    """Return the item's most pronounced prediction of each regime, under different corruptions if possible.

    ``scores`` is a SCORES table, and so is the result. Raises InputError where it has no row of the item.
    """
    rows = _ranked(scores.filter(pl.col("id") == item))
    if rows.is_empty():
        raise InputError(
            f"item {item!r} has no scores; name an item of the benchmark that has all predictions"
        )
    chosen: list[pl.DataFrame] = []
    shown: list[str] = []
    for regime in REGIMES:
        members = rows.filter(pl.col("regime") == regime)
        fresh = members.filter(~pl.col("corruption").is_in(shown))
        chosen.append((fresh if fresh.height else members).head(1))
        shown += chosen[-1]["corruption"].to_list()
    return _sorted_by_regime(pl.concat(chosen), scores)


def named_cases(scores: pl.DataFrame, item: str, predictions: Sequence[tuple[str, int]]) -> pl.DataFrame:
    """Return the item's rows of ``scores`` for each (corruption, severity), in the order of ``predictions``.

    Raises InputError where one is missing.
    """
    rows = {row[1:3]: number for number, row in enumerate(scores.select(*KEY).rows()) if row[0] == item}
    for corruption, severity in predictions:
        if (corruption, severity) not in rows:
            raise InputError(
                f"item {item!r} has no scores for {corruption} at severity {severity}; name an item of the "
                "benchmark, and a corruption and severity of the run"
            )
    return scores[[rows[key] for key in predictions]]


def with_probabilities(cases: pl.DataFrame, predictions: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Return ``cases`` with the columns probabilities, probabilities_clean, answer and options.

    ``cases``: rows of a SCORES table; ``predictions``: id, corruption, severity, logits of the same target,
    clean (severity 0) among them; ``items``: id, answer (0-based), options (texts). The probabilities are
    list[float64] over the item's options, softmax of the logits. Raises InputError where a prediction or an
    item is missing, or where predictions and scores are from different runs.
    """
    clean = pl.DataFrame({"id": cases["id"].unique(), "corruption": CLEAN, "severity": 0})
    wanted = pl.concat([cases.select(*KEY), clean.cast({"severity": pl.Int64})])
    logits = {
        row[:3]: row[3] for row in predictions.join(wanted, on=KEY, how="semi").select(*KEY, "logits").rows()
    }
    corrupted: list[list[float]] = []
    uncorrupted: list[list[float]] = []
    for number, case in enumerate(cases.iter_rows(named=True)):
        for key, predicted, found in (
            ((case["id"], case["corruption"], case["severity"]), case["prediction"], corrupted),
            ((case["id"], CLEAN, 0), case["prediction_clean"], uncorrupted),
        ):
            if key not in logits or int(prediction(logits[key])) != predicted:
                raise InputError(
                    f"{name_of(cases, number)}: predictions and scores are from different runs; "
                    f"{recreate('scores')}"
                )
            found.append(probabilities(logits[key]).tolist())
    joined = cases.with_columns(
        pl.Series("probabilities", corrupted, dtype=pl.List(pl.Float64)),
        pl.Series("probabilities_clean", uncorrupted, dtype=pl.List(pl.Float64)),
    ).join(items.select("id", "answer", "options"), on="id", how="left", maintain_order="left")
    wrong = joined.filter(pl.col("options").list.len().ne_missing(pl.col("probabilities").list.len()))
    if wrong.height:
        raise InputError(
            f"{name_of(wrong, 0)}: the pool has no such item with so many options; pool and predictions are "
            f"from different runs; {recreate('predictions')}"
        )
    return joined


def _ranked(scores: pl.DataFrame) -> pl.DataFrame:
    return scores.with_columns(_PRONOUNCED).sort("pronounced", *KEY, descending=[True, False, False, False])


def _sorted_by_regime(rows: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    return rows.sort(pl.col("regime").to_physical()).select(scores.columns)
