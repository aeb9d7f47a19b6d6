"""How many ranks depend on the judge: the ranking by other readings of the same judgements."""

import numpy as np
import polars as pl

from benchc.benchmarks.r_bench.chance import ChanceTable
from benchc.benchmarks.r_bench.judged import Judgements
from benchc.benchmarks.r_bench.metrics.judges import AS_CONFIGURED, readings
from benchc.pluralize import pluralize
from benchc.rendering.numbers import number_text
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.statistics.ranks import ranks

CHANGED = "Changed ranks"
CAPTION = (
    "Scores (R_a + R_r) / 2, and ranks in brackets, by other readings of the judgements (not in the paper): "
    "each repeat alone; MCQ by a letter first, where a judge has read replies with one, too; and MCQ by "
    "letters alone, where a reply without one is wrong. Of a reply with one judgement, that one counts. The "
    "last row counts the models whose rank differs from the one as configured.{without}{chance}"
)
WITHOUT = " Without {models}, of which there are no single judgements."


def judge_ranks(judgements: Judgements, labels: dict[str, str], chance: ChanceTable) -> Table:
    """Return score and rank of each ranked model by each reading, and how many ranks change."""
    is_ranked = chance.ranked(pl.Series(labels.values(), dtype=pl.String))
    ranked = [id_ for id_, one in zip(labels, is_ranked, strict=True) if one]
    judged = {labels[id_]: judgements[id_] for id_ in ranked if id_ in judgements}
    columns = {}
    for name, tables in readings(judged) if judged else ():
        means = [each.select("absolute", "relative").to_numpy().mean() for each in tables.values()]
        columns[name] = (means, ranks(-np.array(means)))
    frame = pl.DataFrame(
        [
            {"reading": name, "model": model, "score": score, "rank": rank}
            for name, (scores, own) in columns.items()
            for model, score, rank in zip(judged, scores, own.tolist(), strict=True)
        ],
        schema={"reading": pl.String, "model": pl.String, "score": pl.Float64, "rank": pl.Int64},
    )
    changed = {name: int((own != columns[AS_CONFIGURED][1]).sum()) for name, (_, own) in columns.items()}
    shown = {
        name: [
            *(
                f"{number_text(score, signed=False, digits=4)} ({rank})"
                for score, rank in zip(scores, own, strict=True)
            ),
            f"{changed[name]}",
        ]
        for name, (scores, own) in columns.items()
    }
    without = ", ".join(labels[id_] for id_ in ranked if id_ not in judgements)
    return printed(
        frame,
        [
            Column("model", "Model"),
            *(Column(name, name.capitalize().replace("Mcq", "MCQ")) for name in shown),
        ],
        caption=CAPTION.format(
            without=WITHOUT.format(models=without) if without else "", chance=chance.models.left_out
        ),
        label="r-bench-judge-ranks",
        shown=pl.DataFrame({"model": [*judged, CHANGED], **shown}),
        text_columns=1,
        small=True,
        summary=f"{pluralize(len(columns), 'reading')}; changed ranks: {[*changed.values()]}",
    )
