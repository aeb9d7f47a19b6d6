"""The samples of the results page: groups with four answers, from hand-made scores."""

from pathlib import Path

import polars as pl

from benchc.benchmarks.naturalbench.page_samples import page_samples
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS, GroupsFooter
from benchc.benchmarks.naturalbench.schemas.scores import SCORES, ScoresFooter
from benchc.schemas.answers import ANSWERS
from benchc.schemas.models import Model, Models
from benchc.schemas.parquet import write_table
from benchc.schemas.predictions import PREDICTIONS, ModelFooter
from tests.rendering.results_page.run_files import write_items

PLACES = [(0, 0), (0, 1), (1, 0), (1, 1)]
MODEL = ModelFooter(pool="x", label="m", identity={}, oom_splits=0)


def test_each_answer_has_the_grade_of_its_question_and_image(tmp_path: Path) -> None:
    chosen, pool = write_items(tmp_path, [["Yes", "No"]] * 4, answers=[0, 1, 1, 0], groups=["g"] * 4)
    members = [
        (f"s/{n}", "g", q, i, "Drawn", "yes_no", "English", "mined") for n, (q, i) in enumerate(PLACES)
    ]
    # p00, p01, p10, p11, c00, ...: question 1 is right on both images, question 2 on the second one.
    cells = (0, 1, 0, 0, True, True, False, True, True, False, False, True, False)
    other = (1, 1, 1, 1, *(False,) * 9)
    scores = [("g", "clean", 0, "decoding", *cells), ("g", "clean", 0, "deterministic", *other)]
    replies = [(f"s/{n}", "clean", 0, f"reply {n}", "stop", 2, "p", "i") for n in range(4)]
    logits = [(f"s/{n}", "clean", 0, [0.0, 1.0986123], 0.9, "p", "i") for n in range(4)]
    written = {
        "groups": (GROUPS, GroupsFooter(pool="x"), members),
        "scores": (
            SCORES,
            ScoresFooter(pool="x", label="m", scoring="letter", extraction="strict", unavailable={}, taus=[]),
            scores,
        ),
        "answers": (ANSWERS, MODEL, replies),
        "predictions": (PREDICTIONS, MODEL, logits),
    }
    paths = {}
    for name, (table, footer, rows) in written.items():
        paths[name] = tmp_path / f"{name}.parquet"
        write_table(pl.DataFrame(rows, schema=dict(table.columns), orient="row"), paths[name], table, footer)

    def found(reading: str) -> tuple[pl.DataFrame, pl.DataFrame]:
        result = page_samples(
            chosen,
            pool,
            Models("b", {"m": Model("m", "M")}),
            paths["groups"],
            [paths["scores"]],
            [paths["predictions"]],
            [paths["answers"]],
            reading,
            {},
            [],
        )
        return result.questions, result.answers("m").sort("id")

    questions, answers = found("decoding")
    assert questions["sample"].to_list() == ["g"] * 4
    assert questions["name"].to_list()[1:3] == ["question 1, image 2", "question 2, image 1"]
    assert answers["grade"].to_list() == [1.0, 1.0, 0.0, 1.0]
    assert answers["reply"].to_list() == [f"reply {n}" for n in range(4)]
    assert answers["note"].to_list()[:2] == ["read as A. Yes", "read as B. No"]
    _, answers = found("deterministic")
    assert answers["grade"].to_list() == [0.0] * 4
    assert [round(value, 6) for value in answers["probabilities"][0]] == [0.25, 0.75]
