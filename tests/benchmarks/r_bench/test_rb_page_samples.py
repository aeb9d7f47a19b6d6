"""The samples of the results page, from hand-made scores and judgements."""

from pathlib import Path

import polars as pl

from benchc.benchmarks.r_bench.page_samples import page_samples
from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES, JudgeScoresFooter
from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.benchmarks.r_bench.schemas.tasks import TASK_TABLE
from benchc.schemas.answers import ANSWERS
from benchc.schemas.footer import ImageFooter
from benchc.schemas.models import Models
from benchc.schemas.parquet import write_table
from benchc.schemas.predictions import ModelFooter
from tests.rendering.results_page.run_files import write_items, write_references

JUDGED = JudgeScoresFooter(pool="x", label="m", judge="llm", judgements=4)


def test_the_clean_reply_has_the_score_of_the_reference_image(tmp_path: Path) -> None:
    chosen, pool = write_items(tmp_path, [["a cat", "a dog"], []], answers=[1, None])
    references = write_references(tmp_path, ["a dog", "red"], [[], []])
    frames = {
        "tasks": (TASK_TABLE, ImageFooter(pool="x"), [("s/0", "mcq"), ("s/1", "vqa")]),
        # s_dis, s_ref, s_com, absolute, relative
        "scores": (SCORES, JUDGED, [("s/0", "mcq", "jpeg", 2, 0.0, 1.0, 0.25, 0.0, 0.25)]),
        "judged": (
            JUDGE_SCORES,
            JUDGED,
            [
                ("s/0", "mcq", "clean", 0, "ref", 0, 0, "letter", 1.0, True, None),
                ("s/0", "mcq", "jpeg", 2, "dis", 0, 0, "llm", 0.0, True, "k"),
                ("s/0", "mcq", "jpeg", 2, "com", 0, 0, "llm", 0.5, True, "k"),
                ("s/0", "mcq", "jpeg", 2, "com", 0, 1, "llm", 0.0, False, "k"),
            ],
        ),
        "answers": (
            ANSWERS,
            ModelFooter(pool="x", label="m", identity={}, oom_splits=0),
            [
                ("s/0", "clean", 0, "B", "stop", 1, "p", "i"),
                ("s/0", "jpeg", 2, "a cat", "stop", 2, "p", "j"),
            ],
        ),
    }
    paths = {}
    for name, (table, footer, rows) in frames.items():
        paths[name] = tmp_path / f"{name}.parquet"
        write_table(pl.DataFrame(rows, schema=dict(table.columns), orient="row"), paths[name], table, footer)
    result = page_samples(
        chosen,
        pool,
        Models("b", {}),
        paths["tasks"],
        references,
        [paths["answers"]],
        [paths["judged"]],
        [paths["scores"]],
        {"m": "M"},
        {"jpeg": "compression"},
        [1, 2],
    )
    # A question with options shows these, any other its reference answer.
    assert result.questions.select("options", "truths").rows() == [(["a cat", "a dog"], []), ([], ["red"])]
    columns = ["corruption", "severity", "grade", "agreement", "relative", "reply", "note"]
    assert result.answers("m").select(columns).rows() == [
        ("clean", 0, 1.0, None, None, "B", "against the truth 1 by its letter"),
        (
            "jpeg",
            2,
            0.0,
            0.25,
            0.25,
            "a cat",
            "against the truth 0 by the judge llm; "
            "against the reply to the reference 0.5, not readable by the judge llm",
        ),
    ]
