"""The effect of the order of the options, as Markdown and LaTeX."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchc.benchmarks.bench_c.inputs import ModelNames, PoolOptions
from benchc.benchmarks.bench_c.metrics import option_order as metrics
from benchc.benchmarks.bench_c.schemas.orders import ORDERS
from benchc.benchmarks.bench_c.targets import excluded_note
from benchc.command_line import PositiveInt
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.rendering.chance import ORDER, ChanceTable, Standings
from benchc.rendering.numbers import MISSING
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.predictions import CLEAN, KEY
from benchc.schemas.predictions_of_model import MAY_DIFFER, read_predictions

COLUMNS = (
    Column("label", "Model"),
    Column("images", "Images"),
    Column("entropy", "S"),
    Column("entropy_orders", "mean S"),
    Column("order_part", "Order part", interval=True),
    Column("changed", "Changed"),
    Column("same_place", "Letter"),
    Column("accuracy", "Acc"),
    Column("accuracy_circular", "Circular"),
    Column("spearman", "ρ", signed=True),
)

CAPTION = (
    "Effect of the order of the options. {items} of the benchmark {were} evaluated in all K circular orders "
    "of the options, clean and under {corruptions} at severity {severity}. S: entropy (eq. 6) in the given "
    "order; mean S: over all circular orders; order part: entropy of the mean distribution minus mean S, a "
    "Jensen-Shannon divergence divided by log K, the uncertainty that no single order shows; changed: share "
    "of the other circular orders whose prediction differs from the given order's; letter: share of them "
    "whose predicted letter is the given order's; Acc: accuracy in the given order; circular: share that is "
    "right in all circular orders (MMBench's CircularEval); ρ: Spearman's rank correlation of S and changed. "
    "All but ρ are in [0, 1] and unweighted means, not weighted by κ. Brackets: 95 % bootstrap intervals "
    "from {draws} of the items, the same for all models and conditional on the selected set. The csv file "
    "has more intervals, and every corruption." + ORDER
)
BLIND = (
    " {labels} {verb} scored by the options' texts, which {whose} prompt does not list: order part, changed "
    "and letter are 0 by construction, up to rounding."
)
UNDEFINED = " {missing}: undefined, the csv file says why."


def option_order(
    predictions: list[Path],
    orders: list[Path],
    models: ModelNames,
    pool: PoolOptions,
    chance: ChanceTable,
    draws: PositiveInt,
    seed: int,
    allow_missing: bool,
) -> Table:
    """Return the effect of the order of the options on the targets' answers.

    ``predictions``: selected/{model}/{part}.parquet of all targets; ``orders``: {model}.parquet of all.
    ``allow_missing`` excludes the items of which a target lacks a prediction, instead of refusing.
    """
    items = pool.select("id", "answer", pl.col("options").list.len().cast(pl.Int64))
    labels = {id_: model.label for id_, model in models.models.items()}
    given = _predictions_of(predictions, list(labels))
    reordered = {path.stem: path for path in orders}
    if reordered.keys() != set(labels):
        raise InputError(
            f"orders: the files are of {', '.join(sorted(reordered))}; give one {{model}}.parquet "
            "for each of "
            f"{', '.join(labels)}"
        )
    in_all_orders, scorings, sampled = {}, {}, {}
    for model, label in track(labels.items(), label="option orders", unit="targets"):
        _check_footers(given[model], reordered[model])
        same_order = read_predictions(given[model], [*KEY, "logits"])
        in_all_orders[label] = metrics.all_orders(same_order, read_table(reordered[model], ORDERS))
        footer = read_footer(reordered[model])
        scorings[label] = str(footer.get("scoring", "unknown"))
        sampled[label] = int(str(footer.get("items", 0)))
    excluded = 0
    if allow_missing:
        in_all_orders, excluded = metrics.complete_items(in_all_orders, items, max(sampled.values()))
    measures = {}
    for label, part in in_all_orders.items():
        try:
            measures[label] = metrics.measure_predictions(part, items)
        except InputError as error:
            raise InputError(f"{label}: {error}") from error
    table = metrics.option_order(measures, scorings, draws, seed)
    count = int(table["items"][0])
    note = excluded_note(count, excluded)
    total = sum(part.height for part in in_all_orders.values())
    summary = (
        f"{pluralize(len(labels), 'target')}, {pluralize(total, 'prediction')} of "
        f"{pluralize(count, 'item')} in all circular orders of the options"
    )
    return printed_option_order(table, chance, draws, note, summary)


def _predictions_of(paths: Sequence[Path], models: Sequence[str]) -> dict[str, list[Path]]:
    """Return the files of each model, which are in a folder of its name."""
    found: dict[str, list[Path]] = {model: [] for model in models}
    for path in paths:
        found.setdefault(path.parent.name, []).append(path)
    wrong = [model for model, files in found.items() if (model in models) != bool(files)]
    if wrong:
        raise InputError(
            f"predictions: the files do not match the models, see {wrong[0]}; give all files of each "
            "model, predictions/selected/{model}/{part}.parquet"
        )
    return found


def _check_footers(given: Sequence[Path], orders: Path) -> None:
    """Raise InputError where the given and the other orders were not predicted in the same way."""
    own = {"items", *MAY_DIFFER}
    first, second = (
        {key: value for key, value in read_footer(path).items() if key not in own}
        for path in (given[0], orders)
    )
    for key in sorted(first.keys() | second.keys()):
        if first.get(key) != second.get(key):
            raise InputError(
                f"{orders}: its {key} is {second.get(key)}, that of {given[0]} is {first.get(key)}; delete "
                "the older of the two and rerun"
            )


def printed_option_order(
    table: pl.DataFrame, chance: Standings, draws: int, note: str = "", summary: str = ""
) -> Table:
    """Return the clean and overall rows of ``metrics.option_order`` as printed; ``note`` ends the caption."""
    standings = chance.called("Acc(o) of Table 1")
    clean, shown = pl.col("corruption").eq_missing(CLEAN), _shown(table)
    return printed(
        table,
        COLUMNS,
        caption=_caption(table, draws) + standings.note + note,
        label="bench-c-option-order",
        shown=shown.with_columns(
            label=pl.when(clean).then(standings.marked(shown["label"])).otherwise(pl.lit("")),
            images=pl.when(clean).then(pl.lit(CLEAN)).otherwise(pl.lit("corrupted")),
        ),
        small=True,
        summary=summary,
    )


def _shown(table: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of clean predictions and of all corruptions together."""
    return table.filter((pl.col("corruption") == CLEAN) | pl.col("corruption").is_null())


def _caption(table: pl.DataFrame, draws: int) -> str:
    shown = _shown(table)
    corrupted = shown.filter(pl.col("corruption").is_null()).row(0, named=True)
    count = corrupted["predictions"] // corrupted["items"]
    caption = CAPTION.format(
        items=pluralize(corrupted["items"], "item"),
        were="was" if corrupted["items"] == 1 else "were",
        corruptions=pluralize(count, "corruption"),
        severity=corrupted["severity"],
        draws=pluralize(draws, "resample"),
    )
    blind = table.filter(pl.col("scoring").str.starts_with("text"))["label"].unique(maintain_order=True)
    if len(blind):
        verb, whose = ("is", "its") if len(blind) == 1 else ("are", "their")
        caption += BLIND.format(labels=_listed(blind.to_list()), verb=verb, whose=whose)
    if shown["spearman"].null_count() or shown["order_part_low"].null_count():
        caption += UNDEFINED.format(missing=MISSING)
    return caption


def _listed(names: list[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
