"""Accuracy on questions about colours and on others, clean and on greyscale images."""

import polars as pl

from benchc.benchmarks.vqa_robustness import colour_questions as found
from benchc.benchmarks.vqa_robustness.grades import Grade, Graded
from benchc.benchmarks.vqa_robustness.inputs import PoolQuestions, References
from benchc.benchmarks.vqa_robustness.mispredictions import with_references
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

CAPTION = (
    "Accuracy on questions that ask for a colour and on all others, clean and on greyscale images, and the "
    "drop; last column: the share of answers about greyscale images that name a hue. With 95 % percentile "
    "intervals from {resamples} of the images."
)
HEADERS = {"clean": "Clean", "greyscale": "Greyscale", "drop": "Drop", "hue": "Names a hue"}


def colour_questions(
    graded: Graded,
    pool: PoolQuestions,
    references: References,
    labels: dict[str, str],
    grade: Grade,
    draws: PositiveInt,
    seed: int,
    corruption: str | None = None,
) -> Table:
    """Return one row per model and kind of question; see :func:`found.colour_questions`.

    ``corruption``: by which images are greyscale; None, of a run without such, returns a table without rows.
    """
    names = [f"{name}{ending}" for name in found.VALUES for ending in ("", "_low", "_high")]
    frame = pl.DataFrame(
        schema={"model": pl.String, "questions": pl.String, "n": pl.Int64} | dict.fromkeys(names, pl.Float64)
    )
    caption = found.NO_GREYSCALE
    if corruption is not None:
        questions = with_references(pool, references)
        frame = found.colour_questions(graded, pool, questions, labels, corruption, grade, draws, seed)
        caption = CAPTION.format(resamples=pluralize(draws, "resample"))
        if not frame.filter(questions="colour")["n"].sum():
            caption += f" {found.NO_QUESTION}"
    return printed(
        frame,
        [
            Column("model", "Model"),
            Column("questions", "Questions"),
            Column("n", "n"),
            *(
                Column(name, HEADERS[name], interval=True, signed=name == "drop", digits=2)
                for name in found.VALUES
            ),
        ],
        caption=caption,
        label="vre-colour",
        small=True,
    )
