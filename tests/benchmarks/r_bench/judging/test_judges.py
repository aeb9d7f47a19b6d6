import csv
import io
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from pydantic import ValidationError

from benchc.benchmarks.r_bench.judging.comparisons import Comparison, Item
from benchc.benchmarks.r_bench.judging.judgement import Judgement, judged
from benchc.benchmarks.r_bench.judging.judges import footer_of, open_judge, report
from benchc.benchmarks.r_bench.judging.letter import letter_score, named_option
from benchc.benchmarks.r_bench.judging.options import JudgeOptions
from benchc.benchmarks.r_bench.judging.prompts import prompts_hash
from benchc.benchmarks.r_bench.judging.rule import rule_judge, token_f1
from benchc.benchmarks.r_bench.schemas.judge_scores import JUDGE_SCORES
from benchc.benchmarks.r_bench.settings import Judge, Settings
from benchc.endpoint.service import Service
from benchc.errors import InputError
from benchc.schemas.parquet import read_footer, read_table
from tests.benchmarks.made import frame_of
from tests.benchmarks.r_bench.judging.replied import written
from tests.shared_data import SHARED, needs_shared
from tests.stages import call_stage


def test_what_a_judge_does_not_use_is_no_option_of_it() -> None:
    llm = {"model": "gpt", "temperature": 0.5, "repeats": 3, "reading": "last_char"}
    found = Judge.model_validate({"kind": "llm", "encoder": "e", "always": True, **llm})
    assert found.options == JudgeOptions(always=True, **llm)  # type: ignore[arg-type]
    rule = Judge.model_validate({"kind": "rule", "encoder": "e", **llm})
    assert rule.options == JudgeOptions(kind="rule", encoder="e")
    human = Judge.model_validate({"kind": "human", "scores": "s.csv", "url": "http://x", **llm})
    assert human.options == JudgeOptions(kind="human")
    # How a judge is reached decides nothing.
    judge = Judge.model_validate({"mode": "replay", "url": "http://x", "concurrency": 2, "recordings": "r"})
    assert judge.options == Judge().options == JudgeOptions()
    reached: Any = {"url": "http://x", "api_key_env": "K", "concurrency": 2, "timeout_s": 3.0}
    for mode, folder in (("record", Path("kept")), ("replay", Path("kept")), ("live", None)):
        service = Judge.model_validate({"mode": mode, **reached}).service("kept")
        assert service == Service(mode=mode, recordings=folder, **reached)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "human"}, "has one of kind: human and scores; give both, or neither"),
        ({"kind": "rule", "scores": "s.csv"}, "has one of kind: human and scores"),
        ({"kind": "rule", "always": True}, "has always, which is of kind: llm alone; remove it"),
    ],
)
def test_settings_that_do_not_go_together(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Judge.model_validate(given)


def test_an_id_is_of_one_model() -> None:
    raw = {"models": ["a", "b"], "answers_from": {"a": {}, "c": {}}, "judgements_from": {"c": {}, "d": {}}}
    assert list(Settings.benchmark_errors(raw, "r.yaml")) == [
        'r.yaml: answers_from has "a", which is also one of models; give it another id.',
        "r.yaml: c is in answers_from and in judgements_from; give one another id.",
    ]


def table(scores: list[float], judge: str = "llm", unreadable: int = 0) -> pl.DataFrame:
    """Return judgements of captions; the last ``unreadable`` have no score."""
    cell = ("s/1", "cap", "jpeg", 1, "dis")
    readable = [True] * (len(scores) - unreadable) + [False] * unreadable
    rows = [(*cell, n, 0, judge, *each, f"k{n}") for n, each in enumerate(zip(scores, readable, strict=True))]
    return frame_of(JUDGE_SCORES, rows)


@pytest.mark.parametrize(
    ("rows", "warns"),
    [
        (table([1.0] * 20), 20),
        (table([1.0] * 21), 21),
        (table([1.0] * 19), 0),
        (table([1.0] * 19 + [2.0]), 0),
        (table([1.0] * 20 + [0.0], unreadable=1), 20),
        (table([1.0] * 20, judge="rule"), 0),
        (table([1.0] * 20, judge="human"), 0),
    ],
)
def test_a_judge_with_one_score_for_a_task_is_a_warning(rows: pl.DataFrame, warns: int, capfd: Any) -> None:
    report(rows, "a")
    line = f"warning: a: the judge gives 1 in all {warns} judgements of cap; read some in the recording\n"
    said = capfd.readouterr().err
    assert said.endswith(line) if warns else "warning" not in said


@pytest.mark.parametrize(("count", "word"), [(200, "note"), (199, "warning")])
def test_more_than_one_of_a_hundred_judgements_without_a_score_is_a_warning(
    count: int, word: str, capfd: Any
) -> None:
    judged = table([1.0, 2.0] * 100, unreadable=2).tail(count)
    report(pl.concat([judged, table([1.0] * 7, judge="letter")]), "a")
    first, second = capfd.readouterr().err.splitlines()
    assert first == f"a: {count + 7} judgements, 7 by letters"
    assert second == (
        f"{word}: a: 2 judgements (1.0%) without a readable score, counted as 0, the first in the recording "
        "k198"
    )


@pytest.mark.parametrize(
    ("options", "own"),
    [
        (
            JudgeOptions(model="gpt", temperature=0.5, reading="last_char"),
            {
                **{"judge": "llm", "judge_model": "gpt", "temperature": 0.5, "prompts": prompts_hash()},
                **{"reading": "last_char", "url": "http://x/v1"},
            },
        ),
        (JudgeOptions(kind="rule", encoder="e"), {"judge": "rule", "encoder": "e"}),
        (JudgeOptions(kind="human"), {"judge": "human"}),
    ],
)
def test_a_footer_says_what_decided_the_scores(options: JudgeOptions, own: dict[str, Any]) -> None:
    rows = pl.concat([table([1.0] * 5, judge=options.kind, unreadable=2), table([1.0], judge="letter")])
    footer = footer_of(rows, options, Service(url="http://me@x/v1"), "m", {"pool": "p"})
    assert len(prompts_hash()) == 16
    assert footer.content() == own | {"label": "m", "pool": "p", "judgements": 5, "unreadable": 2}


def test_the_scores_of_people_are_those_of_the_model(tmp_path: Path) -> None:
    (tmp_path / "s.csv").write_text(
        "model,id,corruption,severity,kind,reference,score\n"
        "n,s/1,jpeg,1,dis,0,0\nm,s/1,jpeg,1,dis,0,2\na,s/1,jpeg,1,dis,0,1\n"
    )
    item = Item("s/1", "vqa", "?", (), ("red",))
    asked = [Comparison(item, "jpeg", 1, "dis", 0, "red", "red")]
    with open_judge(JudgeOptions(kind="human"), Service(), tmp_path / "s.csv", "m", 1, asked) as judge:
        ((judgement,),) = judge(asked)
    assert judgement.score == 2


def test_scores_of_people_are_needed_for_the_judge_human() -> None:
    with (
        pytest.raises(InputError, match=r"--scores is needed by --judge\.kind=human; give the CSV file"),
        open_judge(JudgeOptions(kind="human"), Service(), None, "m", 1, ()),
    ):
        pass


OPTIONS = ["a dog", "A cat", "dog"]
FOLDER = SHARED / "data/real/r-bench"


@pytest.mark.parametrize("reply", ["B", " B\n", "B.", "B)", "B:", "B. A cat", "B: a cat.", "B A cat"])
def test_a_letter_alone_or_before_its_option(reply: str) -> None:
    assert named_option(reply, OPTIONS) == "B"


@pytest.mark.parametrize(
    "reply", ["", "b", "D", "B or C", "B. dog", "Because", "A dog", "The answer is B", "cat", "(", "B.1"]
)
def test_other_replies_need_a_judge(reply: str) -> None:
    assert named_option(reply, OPTIONS) is None

    # A reply that may be a letter or another option needs a judge.
    assert named_option("A", ["B", "a", "C"]) is None
    assert named_option("C", ["B", "a", "C"]) == "C"
    assert named_option("B", ["b", "x"]) is None
    # "An" is no letter A before the text "n".
    assert named_option("An", ["n", "m"]) is None


@pytest.mark.parametrize(
    ("reply", "against", "score"),
    [("B", "B.", 1), ("A", "B. A cat", 0), ("A cat", "B", None), ("B", "A cat", None), ("", "", None)],
)
def test_two_letters_agree_or_not(reply: str, against: str, score: float | None) -> None:
    item = Item("s/1", "mcq", "?", tuple(OPTIONS), ("B",))
    assert letter_score(Comparison(item, "jpeg", 1, "com", 0, reply, against)) == score


def test_letters_decide_multiple_choice_alone() -> None:
    for task, by in (("mcq", "letter"), ("vqa", "human"), ("cap", "human")):
        item = Item("s/1", task, "?", tuple(OPTIONS), ("B",))  # type: ignore[arg-type]
        asked = [Comparison(item, "jpeg", 1, "com", 0, "B", "B")]
        found = judged(asked, lambda left: [[Judgement(2.0)] for _ in left], "human", always=False)
        assert found["judge"].to_list() == [by]


def rows_of(name: str) -> list[dict[str, str]]:
    text = (FOLDER / f"{name}.csv").read_bytes().decode("gb18030")
    return list(csv.DictReader(io.StringIO(text, newline="")))


@needs_shared
def test_letters_of_the_released_replies_have_the_recorded_shares() -> None:
    """.4529, .4099 and .3841 of 170, 161 and 164 replies of LLaVA-1.5 are right by their letters."""
    truth = {row["name"]: row for row in rows_of("Ref_Release")}
    right: Counter[str] = Counter()
    items: Counter[str] = Counter()
    for row in rows_of("llava15_dis"):
        if row["type"] == "MCQ":
            item = truth[row["name"]]
            options = re.split(r"(?:^|;\s*)[A-E]\.", item["choice"])[1:]
            items[row["strength"]] += 1
            right[row["strength"]] += named_option(row["answer"], options) == item["answer"]
    assert items == {"1": 170, "2": 161, "3": 164}
    shares = {level: round(right[level] / items[level], 4) for level in "123"}
    assert shares == {"1": 0.4529, "2": 0.4099, "3": 0.3841}


def scores(task: Any, *pairs: tuple[str, str], kind: Any = "dis", encode: Any = None) -> list[float]:
    item = Item("s/1", task, "?", ("a dog", "a cat") if task == "mcq" else (), ("B",))
    found = [Comparison(item, "jpeg", 1, kind, 0, reply, against) for reply, against in pairs]
    return [one[0].score for one in rule_judge(found, encode)]


def test_the_rule_judges_answers_options_and_captions() -> None:
    found = scores("vqa", ("The table!", "a table"), ("red car", "red bus"), ("red", "blue"), ("", "red"))
    assert found == [2, 1, 0, 0]
    # 2 of 3 and 2 of 6 words: 2 * 2 / 9 is below a half; each word counts once.
    assert token_f1("on left side", "it is on dark left wall") == pytest.approx(4 / 9)
    assert token_f1("red red", "red") == pytest.approx(2 / 3)
    assert token_f1("the", "") == 0  # no word is left of an article
    assert scores("mcq", ("cat", "B"), ("a dog", "B"), ("", "B")) == [1, 0, 0]
    assert scores("mcq", ("cat", "a cat"), ("dog", "a cat"), kind="com") == [1, 0]
    # A model may answer with a letter to one image, and with the option's text to the other.
    assert scores("mcq", ("A", "dog"), ("a cat", "B."), ("cat", "A"), kind="com") == [1, 1, 0]
    angles = {"a": 0.0, "same": np.arccos(0.7501), "near": np.arccos(0.7499), "far": np.arccos(0.4999)}

    def encode(texts: list[str]) -> np.ndarray:
        # Lengths other than 1 must not matter.
        return np.array([[7 * np.cos(angles[t]), 7 * np.sin(angles[t])] for t in texts], dtype=np.float32)

    assert scores("cap", ("same", "a"), ("near", "a"), ("far", "a"), ("", "a"), encode=encode) == [2, 1, 0, 0]
    # Cosines of exactly 0.75 and 0.5: 3 / 4, as 9 + 4 + 1 + 1 + 1 = 16, and 1 / 2.
    vectors = {"a": [1, 0, 0, 0, 0], "three quarters": [3, 2, 1, 1, 1], "half": [1, 1, 1, 1, 0]}

    def exact(texts: list[str]) -> np.ndarray:
        return np.array([vectors[text] for text in texts], dtype=np.float32)

    assert scores("cap", ("three quarters", "a"), ("half", "a"), encode=exact) == [2, 1]
    with pytest.raises(
        InputError, match=f"the encoder of the judge gives '{40 * 'x'}' an embedding of length 0"
    ):
        scores("cap", (50 * "x", "a"), encode=lambda texts: np.array([[len(text) < 9] for text in texts]))
    # Models that say nothing do not agree.
    assert scores("cap", ("", ""), (" \n", " "), kind="com", encode=encode) == [0, 0]


def test_the_stage_judges_with_the_encoder_and_says_that_it_did(tmp_path) -> None:
    given = {"judge.kind": "rule", "output": tmp_path / "judged.parquet"}
    call_stage("r_bench.judge", **written(tmp_path), **given)
    table = read_table(tmp_path / "judged.parquet", JUDGE_SCORES)
    rows = table.select("id", "kind", "reference", "score", "judge").iter_rows()
    found = {row[:3]: row[3:] for row in rows}
    assert found["s/a", "dis", 0] == (1, "letter") and found["s/a", "ref", 0] == (0, "letter")
    # "It looks red." is not the text of an option.
    assert found["s/b", "dis", 0] == (0, "rule") and found["s/b", "ref", 0] == (1, "letter")
    assert found["s/c", "dis", 0] == (2, "rule")
    # 2 of 6 and of 2 words: an F1 of exactly a half.
    assert found["s/c", "ref", 0][0] == 1
    assert found["s/d", "dis", 1][0] > found["s/d", "ref", 1][0]
    assert len(found) == table.height == 3 * 3 + 5 and table["repeat"].unique().to_list() == [0]
    assert table.filter(pl.col("kind") == "ref")["corruption"].unique().to_list() == ["clean"]
    footer = read_footer(tmp_path / "judged.parquet")
    assert footer["judge"] == "rule" and footer["encoder"] == "all-MiniLM-L6-v2"
    assert footer["judgements"] == table.filter(pl.col("judge") != "letter").height
    assert "unreadable" not in footer
