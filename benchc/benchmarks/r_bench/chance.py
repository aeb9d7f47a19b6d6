"""What other tables and figures show of the table chance: marks of models, ranks, and rows of chance."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import polars as pl

from benchc.benchmarks.r_bench.tasks import TASKS
from benchc.rendering.chance import GUESSING, Standings, read_standings
from benchc.rendering.output import File


@dataclass(frozen=True)
class TaskChance:
    """The table chance: rows of ``STANDINGS`` for each task that has a chance level, with the column task."""

    frame: pl.DataFrame

    @property
    def models(self) -> Standings:
        """Return one row for each model: above chance if it is so in a task."""
        over = self.frame.with_columns(pl.col("above_chance").any().over("model"))
        return Standings(over.unique("model", keep="first", maintain_order=True))

    def ranked(self, models: pl.Series) -> pl.Series:
        """Return whether each model has a rank: all have, where no task of the run has a chance level."""
        if self.frame.is_empty():
            return pl.Series([True] * len(models), dtype=pl.Boolean)
        return models.is_in(self.models.ranked)

    def rows(self, *, guessing: bool) -> list[dict[str, str | float | None]]:
        """Return rows of chance, columns model and tasks: guessing, and the best constant answers.

        ``guessing``: also the row of random options, where the run has MCQ.
        """
        first = {row["task"]: row for row in self.frame.unique("task", keep="first").rows(named=True)}
        tasks = [task for task in TASKS if task in first]
        if not tasks:
            return []
        names = ", ".join(first[task]["constant_answer"] for task in tasks)
        rows = [{"model": f"Always {names}"} | {task: first[task]["constant"] for task in tasks}]
        if guessing and "mcq" in first:
            rows.insert(0, {"model": GUESSING, "mcq": first["mcq"]["guessing"]})
        return rows


def read_chance(path: Path) -> TaskChance:
    """Return the table chance of a run. Raises InputError where it has not the columns ``STANDINGS``."""
    return TaskChance(read_standings(path).frame)


ChanceTable = Annotated[TaskChance, File(read_chance)]
