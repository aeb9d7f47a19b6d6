"""The rule judge: thresholds, empty replies, and captions by the real text encoder."""

from typing import Any

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.r_bench.judging.comparisons import Comparison, Item
from benchc.benchmarks.r_bench.judging.rule import rule_judge, token_f1
from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.schemas.parquet import read_footer, read_table
from tests.benchmarks.r_bench.judging.replied import written
from tests.stages import call_stage


def scores(task: Any, *pairs: tuple[str, str], kind: Any = "dis", encode: Any = None) -> list[float]:
    item = Item("s/1", task, "?", ("a dog", "a cat") if task == "mcq" else (), ("B",))
    found = [Comparison(item, "jpeg", 1, kind, 0, reply, against) for reply, against in pairs]
    return [one[0].score for one in rule_judge(found, encode)]


def test_open_answers() -> None:
    found = scores("vqa", ("The table!", "a table"), ("red car", "red bus"), ("red", "blue"), ("", "red"))
    assert found == [2, 1, 0, 0]
    # 2 of 3 and 2 of 6 words: 2 * 2 / 9 is below a half; each word counts once.
    assert token_f1("on left side", "it is on dark left wall") == pytest.approx(4 / 9)
    assert token_f1("red red", "red") == pytest.approx(2 / 3)


def test_options_by_their_text() -> None:
    assert scores("mcq", ("cat", "B"), ("a dog", "B"), ("", "B")) == [1, 0, 0]
    assert scores("mcq", ("cat", "a cat"), ("dog", "a cat"), kind="com") == [1, 0]
    # A model may answer with a letter to one image, and with the option's text to the other.
    assert scores("mcq", ("A", "dog"), ("a cat", "B."), ("cat", "A"), kind="com") == [1, 1, 0]


def test_captions_by_cosine() -> None:
    angles = {"a": 0.0, "same": np.arccos(0.7501), "near": np.arccos(0.7499), "far": np.arccos(0.4999)}

    def encode(texts: list[str]) -> np.ndarray:
        # Lengths other than 1 must not matter.
        return np.array([[7 * np.cos(angles[t]), 7 * np.sin(angles[t])] for t in texts], dtype=np.float32)

    assert scores("cap", ("same", "a"), ("near", "a"), ("far", "a"), ("", "a"), encode=encode) == [2, 1, 0, 0]
    # Models that say nothing do not agree.
    assert scores("cap", ("", ""), (" \n", " "), kind="com", encode=encode) == [0, 0]


def test_the_stage_judges_with_the_encoder_and_says_that_it_did(tmp_path) -> None:
    call_stage(
        "r_bench.judge",
        **written(tmp_path),
        **{"judge.kind": "rule"},
        output=tmp_path / "judged.parquet",
    )
    table = read_table(tmp_path / "judged.parquet", JUDGE_SCORES)
    found = {
        (id_, kind, reference): (score, judge)
        for id_, kind, reference, score, judge in table.select(
            "id", "kind", "reference", "score", "judge"
        ).iter_rows()
    }
    assert found["s/a", "dis", 0] == (1, "letter") and found["s/a", "ref", 0] == (0, "letter")
    # "It looks red." is not the text of an option.
    assert found["s/b", "dis", 0] == (0, "rule") and found["s/b", "ref", 0] == (1, "letter")
    assert found["s/c", "dis", 0] == (2, "rule")
    # 2 of 6 and of 2 words: an F1 of exactly a half.
    assert found["s/c", "ref", 0][0] == 1
    assert found["s/d", "dis", 1][0] > found["s/d", "ref", 1][0]
    assert len(found) == table.height == 3 * 3 + 5
    assert table.filter(pl.col("kind") == "ref")["corruption"].unique().to_list() == ["clean"]
    footer = read_footer(tmp_path / "judged.parquet")
    assert footer["judge"] == "rule" and footer["encoder"] == "all-MiniLM-L6-v2"
    assert (
        footer["judgements"] == table.filter(pl.col("judge") != "letter").height
        and "unreadable" not in footer
    )
