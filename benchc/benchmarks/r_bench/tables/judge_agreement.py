"""How reliable the judge is: agreement of repeats, of judge and letter, and of two judges."""

from typing import NamedTuple

import numpy as np
import polars as pl

from benchc.benchmarks.r_bench.judged import Judgements
from benchc.benchmarks.r_bench.metrics.item_scores import REPLY
from benchc.benchmarks.r_bench.metrics.judges import agreements, repeated, with_letters
from benchc.benchmarks.r_bench.scored import ROW, ScoreFile, ScoreFiles
from benchc.benchmarks.r_bench.tasks import KINDS, TASK_LABELS, TASKS
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.estimates import frame_of
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.statistics.resampling import Floats

KIND_LABELS = {
    "dis": "dis, truth",
    "ref": "ref, truth",
    "com": "dis, ref",
}
REPEATS, LETTERS, OTHER = "repeats", "letter", "other judge"
# These judge equal replies equally, and always give a score.
FIXED = ("letter", "rule")
NOTHING = " No reply of this run has been judged by a language model, by people, or by two judges."
CAPTION = (
    "Reliability of the judges (not in the paper). Judged are replies to distorted (dis) and reference "
    "(ref) images with the truth, and with each other. Repeats: judgements of one reply; letter: the judge's "
    "majority and the letter of a reply that has one; other judge: the scores of the same replies by two "
    "judges. Agreement: the share of replies that all judge equally; kappa: Cohen's of two, Fleiss' of more; "
    "both are undefined (–) of single judgements, and kappa where all are one. Unreadable: the share of "
    "judgements without a score, which are 0. In brackets: 95 % percentile intervals from {draws} of the "
    "items."
)


class Compared(NamedTuple):
    """A row of the table; ``values``: float64[1 + draws, 2], agreement and kappa, the sample first."""

    model: str
    compared: str
    task: str
    kind: str
    replies: int
    judgements: int
    unreadable: float | None
    values: Floats


def judge_agreement(
    judgements: Judgements,
    scores: ScoreFiles,
    labels: dict[str, str],
    same_replies: list[list[str]],
    draws: PositiveInt,
    seed: int,
) -> Table:
    """Return the agreement by model, task and what is compared with what.

    ``same_replies``: pairs of ids of models whose replies are the same, and whose judges differ.
    """
    rows = []
    for id_, label in labels.items():
        if id_ in judgements:
            rows += _of_model(label, judgements[id_], draws, seed)
    for one, other in same_replies:
        rows += _of_judges(f"{labels[one]}, {labels[other]}", scores[one], scores[other], draws, seed)
    schema = ("model", "compared", "task", "kind", "replies", "judgements", "unreadable")
    types = {"replies": pl.Int64, "judgements": pl.Int64, "unreadable": pl.Float64}
    frame = pl.DataFrame(
        [row[:-1] for row in rows],
        schema={name: types.get(name, pl.String) for name in schema},
        orient="row",
    )
    values = np.stack([row.values for row in rows], axis=1) if rows else np.empty((1 + draws, 0, 2))
    estimated = frame_of([""] * len(rows), ["agreement", "kappa"], values).drop("model")
    frame = pl.concat([frame, estimated], how="horizontal")
    return printed(
        frame,
        [
            Column("model", "Model"),
            Column("compared", "Compared"),
            Column("task", "Task"),
            Column("kind", "Judged"),
            Column("replies", "Replies"),
            Column("judgements", "Raters"),
            Column("unreadable", "Unreadable"),
            Column("agreement", "Agreement", interval=True),
            Column("kappa", "Kappa", interval=True),
        ],
        caption=CAPTION.format(draws=pluralize(draws, "resample")) + ("" if rows else NOTHING),
        label="r-bench-judge-agreement",
        shown=frame.with_columns(pl.col("task").replace(TASK_LABELS), pl.col("kind").replace(KIND_LABELS)),
        small=True,
        summary=pluralize(frame.height, "comparison"),
    )


def _of_model(label: str, judgements: pl.DataFrame, draws: int, seed: int) -> list[Compared]:
    rows = []
    for task in TASKS:
        for kind in KINDS:
            table = judgements.filter(task=task, kind=kind)
            judged = table.filter(~pl.col("judge").is_in(FIXED))
            if judged.height:
                wide = repeated(judged)
                raters = [name for name in wide.columns if name not in REPLY]
                rows.append(
                    Compared(
                        label,
                        REPEATS,
                        task,
                        kind,
                        judged.select(REPLY).n_unique(),
                        max(1, len(raters)),
                        1 - float(judged["readable"].mean() or 0),  # type: ignore[arg-type]
                        agreements(wide, raters, draws, seed),
                    )
                )
            if (both := with_letters(table)).height:
                found = agreements(both, ["letter", "judge"], draws, seed)
                rows.append(Compared(label, LETTERS, task, kind, both.height, 2, None, found))
    return rows


def _of_judges(label: str, one: ScoreFile, other: ScoreFile, draws: int, seed: int) -> list[Compared]:
    both = one.table.join(other.table, on=ROW, suffix="_other", maintain_order="left")
    rows = []
    for task in TASKS:
        for kind in KINDS:
            table = both.filter(task=task)
            if table.height:
                found = agreements(table, [f"s_{kind}", f"s_{kind}_other"], draws, seed)
                rows.append(Compared(label, OTHER, task, kind, table.height, 2, None, found))
    return rows
