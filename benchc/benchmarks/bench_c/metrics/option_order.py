"""The effect of the order of the options on predictions and on uncertainty.

Every item is evaluated in all K circular orders of its options, clean and under each corruption. With p_s the
option probabilities under order s, H the entropy divided by log K (eq. 6) and means over orders, the
uncertainty of the mean distribution has two parts:

    H(mean p_s) = mean H(p_s) + [H(mean p_s) - mean H(p_s)].

The second, a Jensen-Shannon divergence divided by log K, is the mutual information between the order and the
answer, which the entropy in a single order does not show. The given order was predicted in a batch with other
severities, the other orders were not, so their logits also differ by rounding. Not in the paper; circular
accuracy is MMBench's CircularEval (Liu et al. 2024).
"""

import sys
from collections.abc import Mapping

import numpy as np
import polars as pl
from scipy import stats

from benchc.benchmarks.bench_c.metrics.ras import entropy, probabilities
from benchc.errors import InputError, recreate
from benchc.pluralize import pluralize
from benchc.schemas.logits import Floats, logit_blocks, prediction
from benchc.schemas.predictions import CLEAN, KEY
from benchc.statistics.resampling import drawn_means, item_counts, on_grid, percentile_interval
from benchc.statistics.rounding import rounded

DRAWS = 2_000
ENTROPY_DIGITS = 5  # of an entropy that count in ranks

# Of one prediction; each in [0, 1].
MEASURES = (
    "entropy",  # eq. 6 in the given order
    "entropy_orders",  # mean over all orders
    "order_part",  # entropy_total - entropy_orders
    "entropy_total",  # of the mean distribution
    "changed",  # share of the K - 1 other orders whose prediction differs from the given order's
    "same_place",  # share of the K - 1 other orders whose prediction has the given order's letter
    "any_changed",  # 1 unless the prediction is the same in all K orders
    "accuracy",  # in the given order
    "accuracy_orders",  # mean over all orders
    "accuracy_circular",  # 1 where the answer is predicted in all K orders
)
INTERVALS = ("entropy", "order_part", "changed", "accuracy_circular")

OPTION_ORDER = {
    "label": pl.String,  # of the model
    "scoring": pl.String,  # letter, text or text_mean; the prompt of the last two does not list the options
    "corruption": pl.String,  # `clean`; null: all corruptions together
    "severity": pl.Int64,  # 0 for clean
    "items": pl.Int64,
    "predictions": pl.Int64,  # items times corruptions
    **{
        name: pl.Float64  # mean over predictions, and the ends of its 95 % percentile interval
        for measure in MEASURES
        for name in (measure, *((f"{measure}_low", f"{measure}_high") if measure in INTERVALS else ()))
    },
    "spearman": pl.Float64,  # of entropy and changed over predictions, in [-1, 1]; null where undefined
    "note": pl.String,  # why numbers are null; null otherwise
}

EXCLUDE = ", or set scores.allow_missing to true to exclude the items that lack a prediction"


def all_orders(given: pl.DataFrame, orders: pl.DataFrame) -> pl.DataFrame:
    """Return one target's predictions in every order: KEY, order (0: the given one), logits.

    ``given``: predictions of the target as in PREDICTIONS; those without others in ``orders``, an ORDERS
    table, are dropped. Logits are in the items' own order.
    """
    same_order = given.join(orders.select(KEY).unique(), on=KEY, how="semi").select(
        *KEY, pl.lit(0, pl.Int64).alias("order"), "logits"
    )
    return pl.concat([same_order, orders.select(*KEY, "order", "logits")])


def missing_predictions(predictions: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Return KEY and order of every missing prediction, sorted.

    ``predictions``: from :func:`all_orders`; ``items``: id, answer (0-based), options (their number). An item
    needs every order of its options, clean and under every corruption that occurs.
    """
    cells = predictions.select("corruption", "severity").unique()
    wanted = items.join(predictions.select("id").unique(), on="id", how="semi").join(cells, how="cross")
    wanted = wanted.with_columns(order=pl.int_ranges(pl.col("options"))).explode("order")
    return wanted.select(*KEY, "order").join(predictions, on=[*KEY, "order"], how="anti").sort(pl.all())


def complete_items(
    predictions: dict[str, pl.DataFrame], items: pl.DataFrame, sampled: int
) -> tuple[dict[str, pl.DataFrame], int]:
    """Return the predictions of the items for which no target lacks any, and the number of other items.

    ``sampled``: the number of items on which the targets were evaluated in other orders.
    """
    lacking: set[str] = set()
    every = set().union(*(part["id"] for part in predictions.values()))
    sampled = max(sampled, len(every))
    for label, part in predictions.items():
        lacks = set(missing_predictions(part, items)["id"]) | (every - set(part["id"]))
        count = len(lacks) + sampled - len(every)
        if count:
            print(f"{label}: {count:,} of {sampled:,} items lack a prediction, excluded", file=sys.stderr)
        lacking |= lacks
    if lacking == every:
        raise InputError(
            f"none of the {sampled:,} items evaluated in other orders has all predictions of "
            f"{', '.join(predictions)}; {recreate('predictions/selected', 'orders')}"
        )
    kept = {label: part.filter(~pl.col("id").is_in(list(lacking))) for label, part in predictions.items()}
    return kept, sampled - len(every - lacking)


def measure_predictions(predictions: pl.DataFrame, items: pl.DataFrame) -> pl.DataFrame:
    """Return KEY and ``MEASURES`` of every prediction, one row per item and corruption, sorted by KEY.

    Arguments as for :func:`missing_predictions`. Raises InputError, naming a prediction, where one is
    missing, occurs twice, is of an unknown item, or does not have one logit per option.
    """
    predictions = predictions.sort(*KEY, "order").join(items, on="id", how="left", maintain_order="left")
    _check(predictions, items)
    parts = []
    for rows, logits in logit_blocks(predictions):
        options = logits.shape[1]
        # A prediction's orders follow each other: [predictions, orders, options].
        by_order = logits.reshape(-1, options, options)
        firsts = rows[::options]
        values = _measures(by_order, predictions["answer"].gather(firsts).to_numpy())
        keys = predictions.select(KEY)[firsts]
        parts.append(keys.with_columns(pl.Series(name, values[name]) for name in MEASURES))
    return pl.concat(parts).sort(KEY)


def option_order(
    measures: Mapping[str, pl.DataFrame], scorings: Mapping[str, str], draws: int = DRAWS, seed: int = 0
) -> pl.DataFrame:
    """Return means over predictions for every model, columns as ``OPTION_ORDER``.

    ``measures``: a table of :func:`measure_predictions` for each model, by its label; ``scorings``: how each
    is scored. Rows by model, in the order given: clean, all corruptions together, each corruption by name.
    Intervals resample the items with the predictions of all models. Raises InputError
    where there is no model, one has no clean or no corrupted predictions, or two were evaluated on different
    items or corruptions; ValueError where ``draws`` is not positive.
    """
    if draws < 1:
        raise ValueError(f"draws must be at least 1, not {draws}")
    if not measures:
        raise InputError("there are no predictions in other orders of the options; give one table per model")
    first = next(iter(measures))
    keys = measures[first].select(KEY).sort(KEY)
    for model, table in measures.items():
        if not table.select(KEY).sort(KEY).equals(keys):
            raise InputError(
                f"{model} and {first} were evaluated on different items or under different corruptions: they "
                f"can only be compared on the same predictions; {recreate('predictions/selected', 'orders')}"
            )
    items = keys["id"].n_unique()
    conditions = _conditions(keys)
    counts = item_counts(items, draws, seed)
    rows = []
    for model, table in measures.items():
        table = table.sort(KEY)
        for corruption, severity, condition in conditions:
            part = table.filter(condition)
            cells = part.height // items
            values = part.select(MEASURES).to_numpy().reshape(items, cells, len(MEASURES))
            sums = on_grid(np.ascontiguousarray(values), items * cells).sum(axis=1)
            drawn = drawn_means(counts, sums, np.full(items, float(cells)))
            names = {"label": model, "scoring": scorings[model], "corruption": corruption}
            sizes = {"severity": severity, "items": items, "predictions": part.height}
            rows.append({**names, **sizes, **_numbers(drawn, items, part)})
    return pl.DataFrame(rows, schema=OPTION_ORDER)


def _measures(logits: Floats, answers: np.ndarray) -> dict[str, Floats]:
    """Return ``MEASURES`` of predictions; ``logits``: float64[predictions, orders, options]."""
    uncertainty = entropy(logits)  # [predictions, orders]
    mean = probabilities(logits).mean(axis=1)
    with np.errstate(divide="ignore"):  # an option of probability 0 has the logit -inf
        total = entropy(np.log(mean))
    options = logits.shape[2]
    shifts = np.arange(options)
    # Order s has option (j + s) mod K in place j. Ties go to the first place, as in a prediction.
    by_place = np.take_along_axis(logits, (shifts + shifts[:, np.newaxis])[np.newaxis] % options, axis=2)
    places = prediction(by_place)
    chosen = (places + shifts) % options
    right = chosen == answers[:, np.newaxis]
    others = chosen[:, 1:] != chosen[:, :1]
    mean_uncertainty = uncertainty.mean(axis=1)
    values = {
        "entropy": uncertainty[:, 0],
        "entropy_orders": mean_uncertainty,
        # Not negative (Jensen), but for rounding.
        "order_part": np.maximum(total - mean_uncertainty, 0.0),
        "entropy_total": total,
        "changed": others.mean(axis=1),
        "same_place": (places[:, 1:] == places[:, :1]).mean(axis=1),
        "any_changed": others.any(axis=1),
        "accuracy": right[:, 0],
        "accuracy_orders": right.mean(axis=1),
        "accuracy_circular": right.all(axis=1),
    }
    return {name: np.asarray(value, dtype=np.float64) for name, value in values.items()}


def _conditions(keys: pl.DataFrame) -> list[tuple[str | None, int, pl.Expr]]:
    """Return corruption, severity and filter of every condition; a corruption has one severity."""
    cells = keys.select("corruption", "severity").unique().sort(pl.all())
    corrupted = cells.filter(pl.col("corruption") != CLEAN)
    severities = corrupted["severity"].unique()
    if cells.height == corrupted.height or len(severities) != 1:
        found = ", ".join(f"{name} {severity}" for name, severity in cells.rows())
        raise InputError(
            "predictions in other orders of the options are needed clean and under corruptions at one "
            f"severity, not {found}; {recreate('orders')}"
        )
    severity = int(severities[0])
    is_clean = pl.col("corruption") == CLEAN
    each = [(name, severity, pl.col("corruption") == name) for name in corrupted["corruption"]]
    return [(CLEAN, 0, is_clean), (None, severity, ~is_clean), *each]


def _numbers(drawn: Floats, items: int, part: pl.DataFrame) -> dict[str, object]:
    estimates = rounded(drawn[0])
    low, high = (rounded(end) for end in percentile_interval(drawn[1:]))
    numbers: dict[str, object] = {}
    notes = ["intervals undefined: one item"] if items == 1 else []
    for column, measure in enumerate(MEASURES):
        numbers[measure] = estimates[column]
        if measure in INTERVALS:
            numbers[f"{measure}_low"] = low[column] if items > 1 else None
            numbers[f"{measure}_high"] = high[column] if items > 1 else None
    # Logits are float32: what differs by less in entropy is equal.
    part = part.with_columns(pl.col("entropy").round(ENTROPY_DIGITS))
    names = {
        "entropy": "entropy is the same in all predictions",
        "changed": "changed is the same in all predictions",
    }
    constant = [reason for name, reason in names.items() if part[name].n_unique() < 2]
    if constant:
        numbers["spearman"] = None
        notes.append(f"spearman undefined: {' and '.join(constant)}")
    else:
        correlation = stats.spearmanr(part["entropy"].to_numpy(), part["changed"].to_numpy()).statistic
        numbers["spearman"] = rounded(np.array([correlation]))[0]
    return {**numbers, "note": "; ".join(notes) or None}


def _check(predictions: pl.DataFrame, items: pl.DataFrame) -> None:
    """Refuse predictions, joined with their items, that are not every order of every item once."""
    if predictions.is_empty():
        raise InputError(f"there are no predictions in other orders of the options; {recreate('orders')}")
    missing = missing_predictions(predictions, items)
    for wrong, what in (
        (predictions.filter(pl.col("options").is_null()), "is of an item that the pool lacks"),
        (predictions.filter(pl.struct(*KEY, "order").is_duplicated()), "occurs twice"),
        (
            predictions.filter(pl.col("order") >= pl.col("options")),
            "is in an order that its item does not have",
        ),
        (
            predictions.filter(pl.col("logits").list.len() != pl.col("options")),
            "does not have one logit per option",
        ),
        (missing, "is missing"),
    ):
        if wrong.height:
            key = ", ".join(map(str, wrong.select(*KEY).row(0)))
            raise InputError(
                f"the prediction ({key}) in order {wrong['order'][0]} {what} "
                f"({pluralize(wrong.height, 'prediction')} like this): predictions/selected and orders/ must "
                "be from one run; "
                f"{recreate('predictions/selected', 'orders')}{EXCLUDE if wrong is missing else ''}"
            )
