"""The settings of the judge, and which of them decide its judgements."""

from typing import Any

import pytest
from pydantic import ValidationError

from benchc.benchmarks.r_bench.judging.options import JudgeOptions
from benchc.benchmarks.r_bench.settings import Judge, Settings


def test_what_a_judge_does_not_use_is_no_option_of_it() -> None:
    llm = {"model": "gpt", "temperature": 0.5, "repeats": 3, "reading": "last_char"}
    found = Judge.model_validate({"kind": "llm", "encoder": "e", "always": True, **llm})
    assert found.options == JudgeOptions(always=True, **llm)  # type: ignore[arg-type]
    rule = Judge.model_validate({"kind": "rule", "encoder": "e", **llm})
    assert rule.options == JudgeOptions(kind="rule", encoder="e")
    human = Judge.model_validate({"kind": "human", "scores": "s.csv", "url": "http://x", **llm})
    assert human.options == JudgeOptions(kind="human")


def test_how_a_judge_is_reached_decides_nothing() -> None:
    judge = Judge.model_validate({"mode": "replay", "url": "http://x", "concurrency": 2, "recordings": "r"})
    assert judge.options == Judge().options == JudgeOptions()


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
