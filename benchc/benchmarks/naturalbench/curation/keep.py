"""Which pairs and questions the annotators keep."""

import polars as pl

from benchc.benchmarks.naturalbench.curation.questions import SLOT
from benchc.benchmarks.naturalbench.schemas.kept import KEPT

UNANSWERABLE = 2  # the number of the choice


def kept_pairs(pairs: pl.DataFrame, reviewed: pl.DataFrame) -> pl.DataFrame:
    """Return those of ``pairs`` (type PAIRS) of which all annotators say that no caption fits both images."""
    verdicts = reviewed.group_by("pair").agg(kept=(pl.col("answer") == pl.col("expected")).all())
    return pairs.join(verdicts.filter("kept"), on="pair", how="semi", maintain_order="left")


def kept_questions(questions: pl.DataFrame, reviewed: pl.DataFrame) -> pl.DataFrame:
    """Return whether each question of a round is kept, of type KEPT in the order of ``questions``.

    A question is kept if all annotators choose the expected answer on both images (paper, section 3). Else,
    the reason is the first that holds: ``no_question``, the reply was not usable; ``disagreement``, the
    annotators differ on one of the images; ``unanswerable``, they agree that it is on one of them;
    ``wrong_answer``, they agree on another answer than the expected one.
    """
    images = reviewed.group_by(*SLOT, "i_idx").agg(
        right=(pl.col("answer") == pl.col("expected")).all(),
        agreed=pl.col("answer").n_unique() == 1,
        unanswerable=(pl.col("answer") == UNANSWERABLE).all(),
    )
    verdicts = images.group_by(SLOT).agg(
        kept=pl.col("right").all(), agreed=pl.col("agreed").all(), unanswerable=pl.col("unanswerable").any()
    )
    reason = (
        pl.when("kept")
        .then(None)
        .when(~pl.col("ok"))
        .then(pl.lit("no_question"))
        .when(~pl.col("agreed"))
        .then(pl.lit("disagreement"))
        .when("unanswerable")
        .then(pl.lit("unanswerable"))
        .otherwise(pl.lit("wrong_answer"))
    )
    found = questions.join(verdicts, on=SLOT, how="left", maintain_order="left")
    return (
        found.with_columns(pl.col("kept").fill_null(value=False))
        .with_columns(reason=reason)
        .select(*KEPT.columns)
    )
