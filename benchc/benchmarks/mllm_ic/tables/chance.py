"""Which models are above chance, by their overall accuracy on clean images."""

from typing import Annotated

import numpy as np
import polars as pl

from benchc.benchmarks.mllm_ic.metrics.averages import rule_weights
from benchc.benchmarks.mllm_ic.run_outcomes import RunFiles, RunOutcomes, check_models, few_pictures
from benchc.benchmarks.mllm_ic.tables.frames import of_pictures, per_cent
from benchc.command_line import PositiveInt
from benchc.errors import InputError
from benchc.letters import LETTERS
from benchc.rendering.chance import printed_standings
from benchc.rendering.output import Table, parquet
from benchc.schemas.parquet import REMAKE
from benchc.schemas.pool import POOL
from benchc.statistics.chance import Chance, standings
from benchc.statistics.resampling import Floats

MEASURE = "overall accuracy on clean images"


def chance(
    run: RunFiles,
    labels: dict[str, str],
    pool: Annotated[pl.DataFrame, parquet(POOL, "id", "options", "answer")],
    draws: PositiveInt,
    seed: int,
    rank_below_chance: bool,
) -> Table:
    """Return for every model whether it is above chance and has a rank.

    Chance is a random option, and the letter that is best for all questions, both averaged as the accuracy.
    """
    check_models(run, labels)
    weights = _weights(run)
    drawn = run.average(run.draws([*labels], {"clean": run.columns()["clean"]}, draws, seed)[:, :, 0])
    frame = standings(
        [*labels.values()],
        MEASURE,
        drawn,
        _units(run, weights),
        [_chance(run, pool, weights)] * len(labels),
        [None] * len(labels),
        least_label_mass=0,
        rank_below_chance=rank_below_chance,
    )
    return printed_standings(
        frame,
        of_pictures(run, draws),
        rank_below_chance=rank_below_chance,
        digits=1,
        shown=per_cent(frame),
        note=few_pictures(run),
    )


def _weights(run: RunOutcomes) -> Floats:
    """Return the weight of each question in an overall accuracy, float64[items]; their sum is 1."""
    of_capability = rule_weights("overall", run.capabilities, run.questions) / run.questions
    return np.asarray(of_capability[run.capability])


def _units(run: RunOutcomes, weights: Floats) -> int:
    """Return the effective number of pictures (Kish 1965): what is resampled has unequal weights."""
    _, cluster = np.unique(np.stack([run.capability, run.picture]), axis=1, return_inverse=True)
    return max(1, int(1 / (np.bincount(cluster, weights) ** 2).sum()))


def _chance(run: RunOutcomes, pool: pl.DataFrame, weights: Floats) -> Chance:
    known = run.items.select("id").join(pool, on="id", how="left", maintain_order="left")
    if absent := known.filter(pl.col("answer").is_null())["id"].to_list():
        raise InputError(f"item {absent[0]} of the outcomes is not in the pool; {REMAKE}")
    constant = np.bincount(known["answer"].to_numpy(), weights)
    guessing = float((weights / known["options"].list.len().to_numpy()).sum())
    best = int(np.round(constant, 9).argmax())
    return Chance(guessing, float(constant[best]), LETTERS[best])
