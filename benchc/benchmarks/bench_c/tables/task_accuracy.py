"""Accuracy of every target by task type, with bootstrap intervals. Beyond the paper."""

import polars as pl

from benchc.benchmarks.bench_c.inputs import PoolQuestions
from benchc.benchmarks.bench_c.metrics import task_accuracy as metrics
from benchc.benchmarks.bench_c.targets import TargetScores
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, ChanceTable
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

CAPTION = (
    "Accuracy by task type on clean images, Acc(o), under corruption, Acc(c), and their difference: plain "
    "means over a task's items, and over all corruptions and severities. Brackets: 95 % bootstrap intervals "
    "from {draws} of the items, the same for all models; conditional on the selected set; one item "
    "has no interval. Guessing: the expected accuracy of random answers." + ORDER + "{note}"
)
COLUMNS = (
    Column("label", "Model"),
    Column("task", "Task"),
    Column("items", "Items"),
    Column("guessing", "Guessing"),
    Column("acc_clean", "Acc(o)", interval=True),
    Column("acc_corrupted", "Acc(c)", interval=True),
    Column("delta_acc", "ΔAcc", signed=True, interval=True),
)


def task_accuracy(
    targets: TargetScores, pool: PoolQuestions, chance: ChanceTable, draws: PositiveInt, seed: int
) -> Table:
    """Return the accuracy of every target by task type."""
    tasks = dict(pool.select("id", "task").rows())
    cube = targets.cube
    scored = pool.filter(pl.col("id").is_in(cube.items))
    guessing = scored.group_by("task").agg((1 / pl.col("options").list.len()).mean().alias("guessing"))
    table = metrics.task_accuracy(cube, tasks, draws, seed)
    table = table.join(guessing, on="task", maintain_order="left")
    table = table.insert_column(0, table["model"].replace_strict(targets.labels).alias("label"))
    caption = CAPTION.format(draws=pluralize(draws, "resample"), note=chance.note + targets.note)
    shown = table.with_columns(chance.marked(table["label"]))
    return printed(table, COLUMNS, caption=caption, label="bench-c-task-accuracy", shown=shown)
