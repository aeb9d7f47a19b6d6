"""Which models are above chance: by their scores on reference images, of the tasks that have one answer."""

from typing import Annotated

import numpy as np
import polars as pl

from benchc.benchmarks.r_bench.scored import ScoreFiles, scored_of
from benchc.benchmarks.r_bench.tasks import TASK_LABELS, TASKS
from benchc.command_line import PositiveInt
from benchc.judges.constant_answer import best_constant
from benchc.pluralize import pluralize
from benchc.rendering.chance import printed_standings
from benchc.rendering.output import Table, parquet
from benchc.rendering.printing import Column
from benchc.schemas.pool import POOL
from benchc.schemas.references import REFERENCES
from benchc.statistics.chance import STANDINGS, Chance, option_chance, standings
from benchc.statistics.resampling import drawn_means, item_counts, on_grid

MEASURE = "score on reference images"


def chance(
    scores: ScoreFiles,
    labels: dict[str, str],
    pool: Annotated[pl.DataFrame, parquet(POOL, "id", "options", "answer")],
    references: Annotated[pl.DataFrame, parquet(REFERENCES)],
    draws: PositiveInt,
    seed: int,
    rank_below_chance: bool,
) -> Table:
    """Return whether each model is above chance in MCQ and in VQA, and whether it has a rank.

    A model has a rank if it is above chance in one of these tasks, and where the run has neither. Chance of
    MCQ is a random option and the best constant letter, of VQA the best constant answer by equal words; the
    score of a constant caption would depend on the judge.
    """
    scored = scored_of(scores, labels)
    items = scored.rows.with_row_index("row").unique("id", keep="first", maintain_order=True)
    frames = []
    for task in TASKS[:2]:
        chosen = items.filter(task=task)
        if chosen.is_empty():
            continue
        ref = on_grid(scored.ref[:, chosen["row"].to_numpy()].T, chosen.height * draws)
        counts = item_counts(chosen.height, draws, seed)
        drawn = drawn_means(counts, ref, np.ones(chosen.height))
        of_task = _chance(task, pool.join(chosen, on="id", how="semi"), references)
        frames.append(
            standings(
                scored.models,
                MEASURE,
                drawn,
                chosen.height,
                [of_task] * len(scored.models),
                [None] * len(scored.models),
                least_label_mass=0,
                rank_below_chance=rank_below_chance,
            ).with_columns(task=pl.lit(task))
        )
    frame = pl.concat(frames) if frames else pl.DataFrame(schema=STANDINGS | {"task": pl.String})
    frame = frame.with_columns(pl.col("ranked").any().over("model"))
    return printed_standings(
        frame,
        f"{pluralize(draws, 'resample')} of the items",
        rank_below_chance=rank_below_chance,
        header=MEASURE,
        further=(Column("task", "Task"),),
        shown=frame.with_columns(pl.col("task").replace(TASK_LABELS)),
        unranked=" A model that is above chance in none of the tasks is marked in tables, and has no rank.",
    )


def _chance(task: str, items: pl.DataFrame, references: pl.DataFrame) -> Chance:
    if task == "mcq":
        return option_chance(items["answer"].to_numpy(), items["options"].list.len().to_numpy())
    answer, value = best_constant(references.join(items, on="id", how="semi"), "normalised")
    return Chance(None, value, answer)
