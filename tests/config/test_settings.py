"""What the settings that benchmarks share say to the jobs that ask models."""

from typing import Any

import pytest

from benchc.config.settings import (
    Bootstrap,
    LabelPrompt,
    OpenAnswers,
    RunSettings,
    TemplatedAnswers,
    default_severities,
    default_types,
)
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.recipe import imported_recipe


def test_an_instruction_is_after_the_question_unless_it_is_before() -> None:
    given: dict[str, Any] = {"max_new_tokens": 5, "instruction": "One word."}
    assert OpenAnswers(**given).generation() == given | {"lists_options": False}
    before = OpenAnswers(**given, instruction_place="before").generation()
    assert before == given | {"lists_options": False, "instruction_first": True}


def test_a_prompt_has_known_places_alone() -> None:
    prompt = "{question}\n{options}{option_lines} { question } {}"
    assert TemplatedAnswers(prompt=prompt, max_new_tokens=7).generation() == {"max_new_tokens": 7}
    with pytest.raises(ValueError, match=r"has \{answer\}, but the places of a prompt are \{question\}, \{"):
        TemplatedAnswers(prompt="{question} {answer} {other}", max_new_tokens=7)


def test_the_last_sentence_of_a_prompt_is_by_the_kind_of_its_options() -> None:
    given: dict[str, Any] = {"yes_no": "Yes or No?", "multiple_choice": "Which?", "max_new_tokens": 9}
    sentences = {"yes_no": "Yes or No?", "others": "Which?"}
    assert LabelPrompt(**given).arguments() == sentences | {"separator": " "}
    none = LabelPrompt(**given, separator="none", labels="texts").arguments()
    assert none == sentences | {"separator": "", "by_text": True}


@pytest.mark.parametrize("suite", ["none", 3, None])
def test_an_unknown_suite_has_no_types_and_severities(suite: object) -> None:
    assert default_types({"suite": suite}) == default_severities({"suite": suite}) == []
    assert default_severities({}) == [1, 2, 3, 4, 5] and len(default_types({})) == 19


def test_intervals_are_of_2000_resamples_with_one_seed() -> None:
    assert (Bootstrap().draws, Bootstrap().seed) == (2000, 0)


class Imported(RunSettings):
    @property
    def imported_images(self) -> str:
        return "images.parquet"


class Open(RunSettings):
    @property
    def open_answers(self) -> OpenAnswers:
        return OpenAnswers(max_new_tokens=1, instruction="")


class Subsets(RunSettings):
    @property
    def subset_answers(self) -> dict[str, TemplatedAnswers]:
        return {"a": TemplatedAnswers(prompt="{question}", max_new_tokens=1)}


def test_imported_images_are_in_files_and_have_no_parameters() -> None:
    raw: dict[str, Any] = {"benchmark": "toy", "name": "a", "sources": ["s"]}
    raw |= {"corruptions": {"types": ["fog"], "severities": [1, 3]}}
    own, imported = RunSettings(**raw), Imported(**raw)
    assert (own.corrupted, imported.corrupted) == ("on_the_fly", "files")
    suite = suite_with("imagenet-c", [])
    assert own.recipe("fog", suite) == own.corruptions.recipe("fog", suite)
    assert imported.recipe("fog", suite) == imported_recipe("fog", [1, 3])
    assert imported.recipe("brightness", suite) == imported_recipe("brightness", [1, 3])
    assert imported.recipe("clean", suite) == own.recipe("clean", suite)
    rules = [kind(**raw).asking_rule for kind in (RunSettings, Open, Subsets)]
    assert rules == ["infer", "answer", "answer"]
    # Of a benchmark that says nothing of its own.
    assert (own.label_prompt, own.made_sources, own.encoder_gpus) == (None, (), 0)
