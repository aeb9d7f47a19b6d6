"""Scores over an SGLang server are those of the same model in the process, and what fails is one sentence."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchc.endpoint.client import Endpoint
from benchc.models.cache.unit_cache import PredictionCache
from benchc.models.inference import infer, prediction_rows
from benchc.models.prediction_code import prediction_code
from benchc.models.protocol import ModelError
from benchc.models.server.chat import DETOKENIZE, TOKENIZE
from benchc.models.server.identity import ENTRY, served_identity
from benchc.models.server.modules import SGLANG
from benchc.models.server.sglang import GENERATE
from tests.models.conftest import FAMILIES, QUESTIONS
from tests.models.sglang_like import SglangLikeServer
from tests.models.test_served import (
    FACTS,
    ITEMS,
    NAME,
    client,
    log_softmax,
    predictor_of,
    scorer_of,
    units,
)
from tests.models.vllm_like import Reply

Serve = Callable[..., SglangLikeServer]


@pytest.fixture
def serve(checkpoints: dict[str, Path]) -> Iterator[Serve]:
    """Start servers of the small checkpoints."""
    started = []

    def start(family: str = "llava", **settings: Any) -> SglangLikeServer:
        started.append(SglangLikeServer(checkpoints[family], NAME, **settings))
        started[-1].start()
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.mark.parametrize("family", FAMILIES)
def test_letters_are_those_in_the_process(serve, scorers, variants, family):
    with client(serve(family)) as endpoint:
        served = scorer_of(endpoint)
        for question in QUESTIONS:
            expected, found = (each.score(question, variants) for each in (scorers[family, "letter"], served))
            assert found.logits.dtype == found.label_mass.dtype == np.float32
            np.testing.assert_allclose(log_softmax(found.logits), log_softmax(expected.logits), atol=1e-4)
            np.testing.assert_allclose(found.label_mass, expected.label_mass, atol=1e-5)


@pytest.mark.parametrize("scoring", ["text", "text_mean"])
@pytest.mark.parametrize("family", FAMILIES)
def test_texts_are_those_in_the_process(serve, scorers, variants, family, scoring):
    with client(serve(family)) as endpoint:
        served = scorer_of(endpoint, scoring)
        for question in QUESTIONS:
            pair = scorers[family, scoring], served
            expected, found = (each.score(question, variants[:2]) for each in pair)
            np.testing.assert_allclose(found.logits, expected.logits, atol=1e-4)
            np.testing.assert_allclose(found.label_mass, expected.label_mass, atol=1e-5)
    assert served.identity()["scoring"] == scoring


def test_several_images_and_sizes(serve, scorers):
    rng = np.random.default_rng(0)
    several = [
        [rng.integers(0, 256, (*size, 3), dtype=np.uint8) for _ in range(2)] for size in [(40, 56), (31, 31)]
    ]
    with client(serve()) as endpoint:
        found = scorer_of(endpoint).score(QUESTIONS[1], several)
    for row, images in enumerate(several):
        expected = scorers["llava", "letter"].score(QUESTIONS[1], [images]).logits
        np.testing.assert_allclose(log_softmax(found.logits)[[row]], log_softmax(expected), atol=1e-4)


def test_the_identity_names_server_version_and_what_it_is_asked_for(serve):
    with client(serve()) as endpoint:
        one, two = (served_identity(scorer_of(endpoint, scoring)) for scoring in ("letter", "text"))
    assert one == {
        **FACTS,
        "server": "sglang",
        "version": "0.5.23",
        "chat_template": one["chat_template"],
        "scoring": "letter",
        "asked": "token_ids_logprob",
        "entry": ENTRY,
        "modules": SGLANG["letter"],
        "code": prediction_code([SGLANG["letter"]], ENTRY),
    }
    of_text = {"modules": SGLANG["text"], "code": prediction_code([SGLANG["text"]], ENTRY)}
    assert two == {**one, "scoring": "text", "asked": "input_token_logprobs", **of_text}
    assert "127.0.0.1" not in json.dumps([one, two])


def test_units_at_once_are_those_one_by_one(serve, tmp_path, scorers):
    with client(serve(), concurrency=4) as endpoint:
        scorer = scorer_of(endpoint)
        with PredictionCache(tmp_path, served_identity(scorer), "a") as cache:
            predictor = predictor_of(scorer, cache)
            rows = infer(predictor, ITEMS, units(6), prediction_rows, at_once=5)
    assert predictor.computed == 12
    for unit in units(6):
        expected = scorers["llava", "letter"].score(ITEMS[unit.item].question, unit.variants).logits
        found = np.array([row["logits"] for row in rows if row["id"] == unit.item])
        np.testing.assert_allclose(log_softmax(found), log_softmax(expected), atol=1e-4)


# What is wrong with a server.


def changing(server: SglangLikeServer, path: str, change: Callable[[dict[str, Any]], Any]) -> None:
    """Let the server change its answers to requests to ``path``."""
    answer = {TOKENIZE: server.tokenize, DETOKENIZE: server.detokenize, GENERATE: server.generate}[path]

    def fault(asked: str, body: dict[str, Any]) -> Reply | None:
        if asked != path:
            return None
        content = answer(body)
        change(content)
        return 200, {}, json.dumps(content)

    server.fault = fault


def letters(answer: dict[str, Any]) -> list[list[Any]]:
    found: list[list[Any]] = answer["meta_info"]["output_token_ids_logprobs"][0]
    return found


def with_value(value: float | None) -> Callable[[dict[str, Any]], None]:
    def change(answer: dict[str, Any]) -> None:
        for entry in letters(answer):
            entry[0] = value

    return change


WRONG_LETTERS = {
    "a letter is missing": (
        lambda answer: letters(answer).pop(1),
        "the letter B is not among the 1 tokens whose .* returns; use SGLang 0.5.23",
    ),
    "minus infinity": (with_value(None), "log-probability of the letter A is None, no number"),
    "NaN": (with_value(float("nan")), "of the letter A is nan, which should be finite"),
    "logits": (with_value(3.5), "of the letter A is 3.5, which should be finite and not above 0"),
    "more than 1 in all": (
        with_value(-0.1),
        "probabilities of the letters A to B add up to 1.81, but should",
    ),
    "two values": (
        lambda answer: letters(answer).append([-0.1, *letters(answer)[0][1:]]),
        r"returns two log-probabilities of the token \d+, -\d.* and -0.1; start it without",
    ),
    "no letters": (
        lambda answer: answer["meta_info"].update(output_token_ids_logprobs=[None]),
        "returns no log-probabilities; use SGLang 0.5.23",
    ),
    "an old server": (
        lambda answer: answer["meta_info"].pop("output_token_ids_logprobs"),
        "returns no log-probabilities; use SGLang 0.5.23",
    ),
    "no meta_info": (lambda answer: answer.pop("meta_info"), "returns no log-probabilities; use SGLang"),
}


def refused(endpoint: Endpoint, sentence: str, scoring: str = "letter") -> None:
    with pytest.raises(ModelError, match=f"^{NAME}: .*{sentence}") as caught:
        scorer_of(endpoint, scoring)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", WRONG_LETTERS)
def test_a_server_without_log_probabilities_of_letters_is_refused(serve, name):
    change, sentence = WRONG_LETTERS[name]
    server = serve()
    changing(server, GENERATE, change)
    with client(server) as endpoint:
        refused(endpoint, sentence)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda facts: facts.pop("input_token_logprobs"), r"of the prompt \(input_token_logprobs\); use `sc"),
        (lambda facts: facts["input_token_logprobs"].clear(), r"of the prompt \(input_token_logprobs\); use"),
        (
            lambda facts: facts["input_token_logprobs"].append([-1.0, 1, None]),
            "do not end in the tokens of the option 'this'; use `scoring: letter`",
        ),
        (
            lambda facts: facts["input_token_logprobs"].append(None),
            "do not end in the tokens of the option 'this'",
        ),
    ],
    ids=["none", "empty", "another token at the end", "no entry"],
)
def test_a_server_without_log_probabilities_of_the_prompt_is_refused(serve, change, sentence):
    server = serve()
    changing(server, GENERATE, lambda answer: change(answer["meta_info"]))
    with client(server) as endpoint:
        refused(endpoint, sentence, "text")


def test_a_chat_prompt_that_cannot_be_sent_as_text_is_refused(serve):
    server = serve()
    changing(server, DETOKENIZE, lambda answer: answer.update(text=answer["text"] + " "))
    with client(server) as endpoint:
        refused(endpoint, "/detokenize does not return the text of its chat prompt, which /generate needs")


def test_a_chat_prompt_without_a_place_for_images_is_refused(serve):
    server = serve()
    template = server.processor.chat_template
    server.processor.chat_template = template.replace(server.processor.image_token, "")
    assert server.processor.chat_template != template
    with client(server) as endpoint:
        refused(endpoint, "chat prompt has no place for an image; start SGLang with a chat template that")


def test_a_refusal_of_the_server_is_one_sentence(serve):
    error = {"object": "error", "message": "Model only supports text input", "code": 400}
    server = serve(fault=lambda path, body: (400, {}, json.dumps(error)) if path == TOKENIZE else None)
    with client(server) as endpoint:
        refused(endpoint, r"the server refuses /tokenize \(400 Model only supports text input\)")
