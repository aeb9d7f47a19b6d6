"""Scores over an SGLang server are those of the same model in the process, and what fails is one sentence."""

import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from benchc.endpoint.answer import Answer
from benchc.models.prediction_code import prediction_code
from benchc.models.protocol import ModelError
from benchc.models.question import letter_prompt
from benchc.models.server.chat import DETOKENIZE, TOKENIZE
from benchc.models.server.identity import ENTRY, served_identity
from benchc.models.server.modules import SGLANG
from benchc.models.server.probe import PROBE
from benchc.models.server.sglang import GENERATE, SglangChat, entries
from benchc.models.server.sglang_letter import SglangLetterScorer
from tests.models.conftest import FAMILIES, Start
from tests.models.sglang_like import SglangLikeServer
from tests.models.test_served import (
    FACTS,
    asking,
    client,
    letters_are_those_in_the_process,
    refused,
    replying,
    scorer_of,
    # The same of this server:
    test_several_images_and_sizes,  # noqa: F401
    test_texts_over_a_server_are_those_in_the_process,  # noqa: F401
    test_units_at_once_are_those_one_by_one_in_the_order_of_the_items,  # noqa: F401
)
from tests.models.vllm_like import answering

Serve = Callable[..., SglangLikeServer]


@pytest.fixture
def serve(checkpoints: dict[str, Path], start: Start) -> Serve:
    return lambda family="llava", **settings: start(checkpoints[family], "sglang", **settings)


@pytest.mark.parametrize("family", FAMILIES)
def test_letters_are_those_in_the_process(serve, scorers, variants, family):
    with asking(serve(family)) as served:
        letters_are_those_in_the_process(served, scorers[family, "letter"], variants)


def test_the_identity_names_server_version_and_what_it_is_asked_for(serve, start, checkpoints):
    with client(serve()) as endpoint, client(start(checkpoints["llava"])) as vllm:
        one, two = (served_identity(scorer_of(endpoint, scoring)) for scoring in ("letter", "text"))
        template = scorer_of(vllm).identity()["chat_template"]
    assert one == {
        **FACTS,
        "server": "sglang",
        "version": "0.5.23",
        "chat_template": template,  # of the same text, without an image
        "scoring": "letter",
        "asked": "token_ids_logprob",
        "entry": ENTRY,
        "modules": SGLANG["letter"],
        "code": prediction_code([SGLANG["letter"]], ENTRY),
    }
    of_text = {"modules": SGLANG["text"], "code": prediction_code([SGLANG["text"]], ENTRY)}
    assert two == {**one, "scoring": "text", "asked": "input_token_logprobs", **of_text}
    assert "127.0.0.1" not in json.dumps([one, two])


@pytest.mark.parametrize(
    ("position", "found"),
    [
        ([[-1.0, 5, None], [None, 6, " a"]], [(5, -1.0), (6, None)]),
        (None, []),
        (3, []),
        ([[-1.0, 5]], []),
        ([[-1.0, "five", None]], []),
        ([[-1.0, float("inf"), None]], []),
    ],
)
def test_a_position_has_values_by_token_or_is_none(position, found):
    assert entries(position) == found


def test_the_log_probabilities_of_letters_are_those_of_the_first_position():
    scorer = SglangLetterScorer(SglangChat(None, "m", {}))  # type: ignore[arg-type]
    positions = [[[-1.0, 5, None]], [[-2.0, 5, None]]]
    answer = {"meta_info": {"output_token_ids_logprobs": positions}}
    assert scorer.returned(Answer(200, json.dumps(answer))) == {5: -1.0}


@pytest.mark.parametrize(("prompt", "has_place"), [("<image>Which?", True), ("[IMG]W", True), ("W", False)])
def test_a_prompt_with_an_image_has_a_place_for_it(prompt, has_place):
    text = letter_prompt(PROBE)
    chat = SglangChat(None, "m", {}, _prompts={(text, 1): prompt, (text, 0): "W"})  # type: ignore[arg-type]
    with nullcontext() if has_place else pytest.raises(ModelError, match="has no place for an image"):
        chat.require_place_for_image()


# What is wrong with a server.


def letters(answer: dict[str, Any]) -> list[list[Any]]:
    found: list[list[Any]] = answer["meta_info"]["output_token_ids_logprobs"][0]
    return found


def with_value(value: float | None) -> Callable[[dict[str, Any]], None]:
    def change(answer: dict[str, Any]) -> None:
        for entry in letters(answer):
            entry[0] = value

    return change


NONE = "returns no log-probabilities; use SGLang"
WRONG_LETTERS = {
    "a letter is missing": (
        lambda answer: letters(answer).remove(letters(answer)[1]),
        "the letter B is not among the 1 tokens whose .* returns; use SGLang 0.5.23",
    ),
    "minus infinity": (with_value(None), "log-probability of the letter A is None, no number"),
    "NaN": (with_value(float("nan")), "of the letter A is nan, which should be finite"),
    "logits": (with_value(3.5), "of the letter A is 3.5, which should be finite and not above 0"),
    "more than 1 in all": (with_value(-0.1), "probabilities of the letters A to B add up to 1.81, but shoul"),
    "two values": (
        lambda answer: letters(answer).append([-0.1, *letters(answer)[0][1:]]),
        r"returns two log-probabilities of the token \d+, -\d.* and -0.1; start it without",
    ),
    "no letters": (lambda answer: answer["meta_info"].update(output_token_ids_logprobs=[None]), NONE),
    "no list": (lambda answer: answer["meta_info"].update(output_token_ids_logprobs={"A": -0.1}), NONE),
    "an old server": (lambda answer: answer.update(meta_info={}), NONE),
    "no meta_info": (lambda answer: {"text": ""}, NONE),
}


@pytest.mark.parametrize("name", WRONG_LETTERS)
def test_a_server_without_log_probabilities_of_letters_is_refused(serve, name):
    change, sentence = WRONG_LETTERS[name]
    server = serve()
    server.fault = replying(GENERATE, change, server)
    refused(server, sentence)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda facts: facts.update(input_token_logprobs=None), r"of the prompt \(input_token_logprobs"),
        (lambda facts: facts["input_token_logprobs"].clear(), r"of the prompt \(input_token_logprobs\); use"),
        (lambda facts: facts["input_token_logprobs"].append([-1.0, 1, None]), "of the option 'this'; use `s"),
        (lambda facts: facts["input_token_logprobs"].append(None), "do not end in the tokens of the option"),
    ],
    ids=["none", "empty", "another token at the end", "no entry"],
)
def test_a_server_without_log_probabilities_of_the_prompt_is_refused(serve, change, sentence):
    server = serve()
    server.fault = replying(GENERATE, lambda answer: change(answer["meta_info"]), server)
    refused(server, sentence, "text")


def test_a_chat_prompt_that_cannot_be_sent_is_refused(serve):
    server = serve()
    for change in (lambda text: text + " ", lambda text: text.rpartition(" ")[0]):
        server.fault = replying(
            DETOKENIZE,
            lambda answer, change=change: answer.update(text=change(answer["text"])),
            server,
        )
        refused(server, "/detokenize does not return the text of its chat prompt, which /generate needs")
    server = serve()
    template = server.processor.chat_template
    server.processor.chat_template = template.replace(server.processor.image_token, "")
    assert server.processor.chat_template != template
    refused(server, "chat prompt has no place for an image; start SGLang with a chat template that")
    reason = "Model only supports text input"
    server = serve(fault=answering(TOKENIZE, {"object": "error", "message": reason, "code": 400}, 400))
    refused(server, rf"the server refuses /tokenize \(400 {reason}\)")
