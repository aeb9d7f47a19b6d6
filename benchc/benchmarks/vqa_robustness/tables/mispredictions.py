"""Shares of the kinds of misprediction of each model."""

import polars as pl

from benchc.benchmarks.vqa_robustness import mispredictions as found
from benchc.benchmarks.vqa_robustness.grades import Grade, Graded
from benchc.benchmarks.vqa_robustness.inputs import PoolQuestions, References
from benchc.benchmarks.vqa_robustness.metrics.mispredictions import KINDS
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

CAPTION = (
    "Kinds of misprediction: of the answers of each model that are right on the clean image and wrong under "
    "a corruption, the share of each kind, with 95 % percentile intervals from {resamples} of the images."
)


def mispredictions(
    graded: Graded,
    pool: PoolQuestions,
    references: References,
    labels: dict[str, str],
    corruptions: list[str],
    grade: Grade,
    draws: PositiveInt,
    seed: int,
) -> Table:
    """Return one row per model and kind: how many mispredictions the model has, n of the kind, the share."""
    questions = found.with_references(pool, references)
    wrong = found.mispredictions(graded, questions, labels, corruptions, grade)
    shares = found.kind_shares(wrong, pool, [[id_] for id_ in labels], draws, seed)
    counts = {(model, kind): n for model, kind, n in wrong.group_by("model", "kind").len().iter_rows()}
    frame = pl.DataFrame(
        {
            "model": [label for label in labels.values() for _ in KINDS],
            "kind": [*KINDS] * len(labels),
            "n": [counts.get((id_, kind), 0) for id_ in labels for kind in KINDS],
            "share": shares.value,
            "share_low": shares.low,
            "share_high": shares.high,
        },
        schema_overrides={"n": pl.Int64},
    ).with_columns(
        pl.col("n").sum().over("model").alias("mispredictions"), pl.selectors.float().fill_nan(None)
    )
    names = [f"{number}" for number in range(len(labels))]
    parts = [frame.filter(model=label) for label in labels.values()]
    shown = pl.DataFrame(
        {"kind": [kind.capitalize() for kind in KINDS]}
        | {
            f"{name}{ending}": part[f"share{ending}"]
            for name, part in zip(names, parts, strict=True)
            for ending in ("", "_low", "_high")
        }
    )
    return printed(
        frame,
        [
            Column("kind", "Kind"),
            *(
                Column(name, f"{label} (n = {part['mispredictions'][0]:,})", interval=True, digits=2)
                for name, label, part in zip(names, labels.values(), parts, strict=True)
            ),
        ],
        caption=CAPTION.format(resamples=pluralize(draws, "resample")),
        label="vre-mispredictions",
        shown=shown,
        small=True,
        summary=pluralize(wrong.height, "misprediction"),
    )
