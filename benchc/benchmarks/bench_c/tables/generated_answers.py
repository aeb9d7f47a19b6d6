"""Answers in the models' own words, beside their predictions from logits. Beyond the paper."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchc.benchmarks.bench_c.inputs import PoolOptions
from benchc.benchmarks.bench_c.metrics import generated_answers as metrics
from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, ChanceTable
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.schemas.judgements import JUDGEMENTS
from benchc.schemas.parquet import read_table
from benchc.schemas.predictions import CLEAN

CAPTION = (
    "Answers in the models' own words, from which an option is extracted by rules. Acc(o): accuracy on clean "
    "images; Acc(c): under corruption; ΔAcc: their difference; agreement: share of the answers whose option "
    "is the one with the largest logit, of targets only; no option: share of the answers that choose none, "
    "which count as wrong; cut off: share that has the most tokens allowed. Unweighted means over the items, "
    "and over all corruptions and severities. Brackets: 95 % bootstrap intervals from {draws} of the items, "
    "conditional on the selected set." + ORDER
)
COLUMNS = (
    Column("label", "Model"),
    Column("items", "Items"),
    Column("acc_clean", "Acc(o)", interval=True),
    Column("acc_corrupted", "Acc(c)", interval=True),
    Column("delta_acc", "ΔAcc", signed=True, interval=True),
    Column("agreement", "Agreement", interval=True),
    Column("no_option", "No option"),
    Column("cut_off", "Cut off"),
)


def generated_answers(
    judgements: list[Path],
    scores: list[Path],
    pool: PoolOptions,
    chance: ChanceTable,
    labels: dict[str, str],
    draws: PositiveInt,
    seed: int,
) -> Table:
    """Return the accuracy of generated answers, and their agreement with predictions from logits.

    ``judgements``: selected/{model}.parquet of each model in ``labels``, its printed names by id;
    ``scores``: {model}.parquet of those that are targets.
    """
    table = metrics.generated_answers(
        {path.stem: read_table(path, JUDGEMENTS) for path in judgements},
        _predictions(scores),
        dict(pool.select("id", "answer").iter_rows()),
        draws,
        seed,
    )
    table = table.insert_column(0, table["model"].replace_strict(labels).alias("label"))
    first = chance.references("label", "acc_clean").with_columns(acc_corrupted="acc_clean", delta_acc=0.0)
    answers, without = int(table["answers"].sum()), float((table["no_option"] * table["answers"]).sum())
    return printed(
        table,
        COLUMNS,
        caption=CAPTION.format(draws=pluralize(draws, "resample")) + chance.rows_note,
        label="bench-c-generated-answers",
        shown=pl.concat([first, table], how="diagonal_relaxed").select(table.columns),
        references=first.height,
        summary=f"{pluralize(table.height, 'model')}, {pluralize(answers, 'answer')}, "
        f"{round(without):,} without an option",
    )


def _predictions(scores: Sequence[Path]) -> dict[str, pl.DataFrame]:
    """Return KEY and prediction of each target, clean and corrupted."""
    found = {}
    for path in scores:
        table = read_table(path, SCORES, ["id", "corruption", "severity", "prediction", "prediction_clean"])
        clean = table.select(
            "id", pl.lit(CLEAN).alias("corruption"), pl.lit(0, pl.Int64).alias("severity"), "prediction_clean"
        ).unique()
        found[path.stem] = pl.concat(
            [table.drop("prediction_clean"), clean.rename({"prediction_clean": "prediction"})]
        )
    return found
