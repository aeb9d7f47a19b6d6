"""Small runs with replies: questions about few images, and grades of random replies to them."""

import random
from collections.abc import Sequence

import polars as pl

from benchc.judges.reference_grades import Reference, graded
from benchc.schemas.answers import ANSWERS
from benchc.schemas.references import REFERENCES
from tests.benchmarks.vqa_robustness.graded import pool_of

QUESTIONS = [
    ("What color is the bus?", "red", ["red", "Red.", "blue", "gray", "nothing", ""]),
    ("What color is the sky?", "blue", ["blue", "blue", "black", "dark green"]),
    ("Name the colour.", "gray", ["gray", "red", "black and white"]),
    ("How many cats are there?", "3", ["three", "3", "2", "4", "none", "cats"]),
    ("How many dogs are there?", "2", ["2", "2", "1", "dogs"]),
    ("Is it raining?", "yes", ["yes", "Yes", "no", "rain"]),
    ("Is it sunny?", "no", ["no", "yes"]),
    ("What is he doing?", "running", ["running", "sleeping", "nothing"]),
    ("Which bowl has more oranges?", "left", ["left", "right"]),
    ("What game is this?", "baseball", ["baseball", "soccer", "7"]),
    ("What number is it?", "12", ["12", "21", "a bus"]),
]
LABELS = {"m": "Model M", "n": "N, the other"}
CORRUPTIONS = ["snow", "fog"]
GREYSCALE = "grayscale"


def pool(questions: Sequence[tuple[str, str, list[str]]], images: int = 4) -> pl.DataFrame:
    """Return the pool: its questions are about ``images`` images in turn."""
    ids = [f"s/{number:02}" for number in range(len(questions))]
    keys = [[f"s://{number % images}"] for number in range(len(questions))]
    texts = pl.Series("question", [question for question, *_ in questions], dtype=pl.String)
    return pool_of(ids, images=keys).with_columns(texts)


def references(questions: Sequence[tuple[str, str, list[str]]]) -> pl.DataFrame:
    rows = [(f"s/{number:02}", truth, []) for number, (_, truth, _) in enumerate(questions)]
    return pl.DataFrame(rows, schema=dict(REFERENCES.columns), orient="row")


def grades_of(
    questions: Sequence[tuple[str, str, list[str]]], seed: int, *, always: int | None = None
) -> dict[str, pl.DataFrame]:
    """Return the GRADES of each model of LABELS: random replies, or that of the place ``always``."""
    chance = random.Random(seed)
    truths = {f"s/{number:02}": Reference(truth, []) for number, (_, truth, _) in enumerate(questions)}
    cells = [("clean", 0), *((name, level) for name in (*CORRUPTIONS, GREYSCALE) for level in range(1, 6))]
    names = ["id", "corruption", "severity", "reply", "finish"]
    schema = {name: ANSWERS.columns[name] for name in names}
    found = {}
    for model in LABELS:
        rows = [
            (id_, *cell, replies[always] if always is not None else chance.choice(replies), "stop")
            for id_, (_, _, replies) in zip(truths, questions, strict=True)
            for cell in cells
        ]
        found[model] = graded(pl.DataFrame(rows, schema=schema, orient="row"), truths)
    return found
