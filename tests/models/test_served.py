"""Scores over a server are those of the same model in the process, and what fails is one sentence."""

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchc.closure import module_file, source_closure
from benchc.endpoint.client import Endpoint, EndpointError, EndpointSettings
from benchc.models.cache.unit_cache import PredictionCache
from benchc.models.inference import infer, prediction_rows
from benchc.models.items import Item
from benchc.models.prediction_code import prediction_code
from benchc.models.predictor import Predictor
from benchc.models.protocol import ModelError, Scorer
from benchc.models.question import Question
from benchc.models.server.chat import CHAT, DETOKENIZE, TOKENIZE
from benchc.models.server.identity import ENTRY, served_identity
from benchc.models.server.modules import VLLM, server_modules
from benchc.models.server.served import served_scorer
from benchc.models.units import Unit
from tests.models.conftest import FAMILIES, NAME, QUESTIONS
from tests.models.vllm_like import Reply, TinyServer

ROOT = Path(__file__).resolve().parents[2]
FACTS = {"model": NAME, "revision": "1", "device": "server"}
ALL_TOKENS = 4096  # random weights may put a letter last


def client(server: TinyServer, **settings: Any) -> Endpoint:
    return Endpoint(EndpointSettings(server.url, **{"attempts": 3, "first_wait_s": 0.01, **settings}))


def scorer_of(endpoint: Endpoint, scoring: str = "letter", top: int = ALL_TOKENS) -> Scorer:
    return served_scorer(endpoint, {NAME}, FACTS, scoring, top)


def log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("token_ids", [True, False], ids=["token ids", "top"])
@pytest.mark.parametrize("family", FAMILIES)
def test_letters_over_a_server_are_those_in_the_process(serve, scorers, variants, family, token_ids):
    server = serve(family, token_ids=token_ids, max_logprobs=ALL_TOKENS)
    with client(server) as endpoint:
        served = scorer_of(endpoint)
        assert served.identity()["asked"] == ("logprob_token_ids" if token_ids else "top_logprobs")
        for question in QUESTIONS:
            expected, found = (each.score(question, variants) for each in (scorers[family, "letter"], served))
            assert found.logits.dtype == found.label_mass.dtype == np.float32
            np.testing.assert_allclose(log_softmax(found.logits), log_softmax(expected.logits), atol=1e-4)
            np.testing.assert_allclose(found.label_mass, expected.label_mass, atol=1e-5)


@pytest.mark.parametrize("scoring", ["text", "text_mean"])
@pytest.mark.parametrize("family", FAMILIES)
def test_texts_over_a_server_are_those_in_the_process(serve, scorers, variants, family, scoring):
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
    sizes = [(40, 56), (31, 31)]
    several = [[rng.integers(0, 256, (*size, 3), dtype=np.uint8) for _ in range(2)] for size in sizes]
    with client(serve()) as endpoint:
        found = scorer_of(endpoint).score(QUESTIONS[1], several)
    for row, images in enumerate(several):
        expected = scorers["llava", "letter"].score(QUESTIONS[1], [images]).logits
        np.testing.assert_allclose(log_softmax(found.logits)[[row]], log_softmax(expected), atol=1e-4)


def test_the_identity_has_what_decides_a_prediction_and_not_where_the_server_is(serve):
    with client(serve()) as endpoint, client(serve(token_ids=False, max_logprobs=ALL_TOKENS)) as other:
        one, two = (served_identity(scorer_of(each)) for each in (endpoint, other))
        third = served_identity(scorer_of(endpoint, "text"))
    assert one == {
        **FACTS,
        "server": "vllm",
        "version": "0.33.0",
        "chat_template": one["chat_template"],
        "scoring": "letter",
        "asked": "logprob_token_ids",
        "entry": ENTRY,
        "modules": VLLM["letter"],
        "code": prediction_code([VLLM["letter"]], ENTRY),
    }
    assert two == {**one, "asked": "top_logprobs"}
    of_text = {"modules": VLLM["text"], "code": prediction_code([VLLM["text"]], ENTRY)}
    assert third == {**one, "scoring": "text", "asked": "prompt_logprobs", **of_text}
    assert "127.0.0.1" not in json.dumps([one, two, third])


def test_the_chat_template_is_part_of_the_identity(serve):
    server = serve()
    with client(server) as endpoint:
        before = scorer_of(endpoint).identity()
        server.processor.chat_template = "Look. " + server.processor.chat_template
        assert scorer_of(endpoint, "text").identity()["chat_template"] != before["chat_template"]


def served_modules() -> set[str]:
    """Return the modules of all scorings over a server."""
    return {module for scoring in ("letter", "text", "text_mean") for module in server_modules(scoring)}


@pytest.mark.parametrize("edited", sorted(served_modules()))
def test_an_edit_of_a_scoring_changes_no_other(tmp_path, monkeypatch, edited):
    shutil.copytree(ROOT / "benchc", tmp_path / "benchc", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr("benchc.models.prediction_code.ROOT", tmp_path)
    before = {module: prediction_code([module], ENTRY) for module in served_modules()}
    with (tmp_path / module_file(edited)).open("a") as file:
        file.write("EDITED = True\n")
    # SGLang's modules import vLLM's, from which they differ in the requests.
    expected = {edited, edited.replace("server.", "server.sglang_")} & served_modules()
    assert {each for each in before if prediction_code([each], ENTRY) != before[each]} == expected


def test_neither_the_client_nor_bookkeeping_nor_torch_decides_a_prediction():
    files = [module_file(module) for module in (ENTRY, *served_modules())]
    code = set(source_closure(files, ROOT))
    assert module_file("benchc.models.server.chat") in code
    assert not [file for file in code if file.startswith(("benchc/endpoint/", "scripts/", "benchc/config/"))]
    modules = "sys, scripts.infer, benchc.models.job, benchc.models.over_http"
    program = f"import {modules}; print('torch' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, text=True, capture_output=True, check=True
    )
    assert done.stdout == "False\n"


# What is wrong with a server.


def replying(path: str, change: Callable[[dict[str, Any]], Any], server: TinyServer) -> Callable[..., Any]:
    """Return a fault that changes the answers to requests to ``path``."""

    def fault(asked: str, body: dict[str, Any]) -> Reply | None:
        if asked != path:
            return None
        answer = server.complete(body) if path == CHAT else server.tokenize(body)
        changed = change(answer)
        return 200, {}, json.dumps(answer if changed is None else changed)

    return fault


def first(answer: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = answer["choices"][0]["logprobs"]["content"][0]
    return content


def without_second_letter(answer: dict[str, Any]) -> None:
    first(answer)["top_logprobs"] = [first(answer)["top_logprobs"][0], first(answer)["top_logprobs"][2]]


def with_value(value: float) -> Callable[[dict[str, Any]], None]:
    def change(answer: dict[str, Any]) -> None:
        first(answer)["logprob"] = value
        for entry in first(answer)["top_logprobs"]:
            entry["logprob"] = value

    return change


def contradicted(answer: dict[str, Any]) -> None:
    again = dict(first(answer)["top_logprobs"][0])
    first(answer)["top_logprobs"].append({**again, "logprob": again["logprob"] - 0.1})


def without_logprobs(answer: dict[str, Any]) -> None:
    answer["choices"][0]["logprobs"] = None


def with_texts(answer: dict[str, Any]) -> None:
    first(answer)["token"] = " A"


WRONG_ANSWERS = {
    "a letter is missing": (without_second_letter, "the letter B is not among the 3 tokens .*--max-logprobs"),
    "NaN": (with_value(float("nan")), "of the letter A is nan, which should be finite and not above 0"),
    "minus infinity": (with_value(-9999.0), "of the letter A is -9999.0, which should be finite"),
    "logits": (with_value(3.5), "of the letter A is 3.5, .*start vLLM without --logprobs-mode"),
    "a little above 0": (with_value(0.5), "of the letter A is 0.5, which should be finite and not above 0"),
    "more than 1 in all": (
        with_value(-0.1),
        "probabilities of the letters A to C add up to 2.715, but should",
    ),
    "two values": (
        contradicted,
        r"two log-probabilities of the token \d+, -\d.* and -\d.*; start it without",
    ),
    "text": (with_value("high"), "log-probability of the letter A is high, no number"),  # type: ignore[arg-type]
    "no logprobs": (without_logprobs, "returns no log-probabilities; use a server that supports"),
    "no token ids": (with_texts, r"does not name tokens by their ids \(return_tokens_as_token_ids\)"),
    "no choices": (lambda answer: {"choices": []}, "returns no log-probabilities"),
    "a list": (lambda answer: [answer], "answer to the request is not a JSON object"),
}


@pytest.mark.parametrize("name", WRONG_ANSWERS)
def test_an_answer_without_scores_is_an_error_that_names_the_item(serve, tmp_path, name):
    change, sentence = WRONG_ANSWERS[name]
    server = serve()
    with client(server) as endpoint:
        scorer = scorer_of(endpoint)
        server.fault = replying(CHAT, change, server)
        with PredictionCache(tmp_path, served_identity(scorer), "a") as cache:
            predictor = predictor_of(scorer, cache)
            with pytest.raises(ModelError, match=f"^item s/0 under fog: {NAME}: .*{sentence}") as caught:
                infer(predictor, ITEMS, units(1), prediction_rows, at_once=4)
    assert "\n" not in str(caught.value)
    assert predictor.computed == 0 and not list(tmp_path.rglob("*.units"))


def test_a_server_with_another_model_or_without_logprobs_is_refused(serve):
    server = serve(token_ids=False, max_logprobs=5)
    with client(server) as endpoint:
        with pytest.raises(
            ModelError, match=r"^owner/large: the server serves another model, owner/tiny; start"
        ):
            served_scorer(endpoint, {"owner/large"}, FACTS, "letter", 5)
        assert scorer_of(endpoint, top=5).identity()["asked"] == "top_logprobs"
        reason = r"the 20 largest log-probabilities \(400 Requested sample .* 20, .*: 5\); start vLLM with"
        with pytest.raises(ModelError, match=reason):
            scorer_of(endpoint, top=20)

        def refuse(path: str, body: dict[str, Any]) -> Reply | None:
            error = {"error": {"message": "logprobs are not supported"}}
            return (400, {}, json.dumps(error)) if path == CHAT else None

        server.fault = refuse
        with pytest.raises(ModelError, match=r"\(400 logprobs are not supported\), nor logprob_token_ids"):
            scorer_of(endpoint)
        server.fault = lambda path, body: (404, {}, "<html>Not found</html>")
        with pytest.raises(ModelError, match=r"does not list its models \(404 <html>Not found"):
            scorer_of(endpoint)


@pytest.mark.parametrize("scoring", ["letter", "text"])
@pytest.mark.parametrize(
    ("status", "reason"), [(400, "owner/tiny is not a multimodal model"), (302, "Found"), (404, "no page")]
)
def test_a_first_question_that_is_refused_is_said(serve, scoring, status, reason):
    text = json.dumps({"error": {"message": reason}})
    server = serve(fault=lambda path, body: (status, {}, text) if path == CHAT else None)
    sentence = rf"^owner/tiny: the server refuses a question with an image \({status} {reason}\); check that"
    with client(server) as endpoint, pytest.raises(ModelError, match=sentence):
        scorer_of(endpoint, scoring)


def test_a_server_that_refuses_prompt_logprobs_is_refused(serve):
    with (
        client(serve(refuses=("prompt_logprobs",))) as endpoint,
        pytest.raises(ModelError, match=r"log-probabilities of the prompt \(400 .*'prompt_logprobs' is not"),
    ):
        scorer_of(endpoint, "text")


TOO_LONG = {
    "vllm": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
    "vllm, images": "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    "sglang": "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
}


@pytest.mark.parametrize("name", TOO_LONG)
def test_an_item_that_is_too_long_is_said(serve, variants, name):
    server = serve()
    error = json.dumps({"error": {"message": TOO_LONG[name]}})
    with client(server) as endpoint:
        scorer = scorer_of(endpoint)
        server.fault = lambda path, body: (400, {}, error) if path == CHAT else None
        with pytest.raises(
            ModelError, match=r"\): the item is longer than the model's context; .*remove the"
        ):
            scorer.score(QUESTIONS[0], variants[:1])
        server.fault = lambda path, body: (400, {}, "no") if path == CHAT else None
        with pytest.raises(ModelError, match=r"the server refuses the request \(400 no\); look at its log$"):
            scorer.score(QUESTIONS[0], variants[:1])


def listing(*entries: Any) -> Callable[..., Reply | None]:
    """Return a fault that lists other models."""
    text = json.dumps({"data": entries})
    return lambda path, body: (200, {}, text) if path == "/v1/models" else None


def test_a_model_is_known_by_the_checkpoint_that_was_loaded(serve):
    server = serve(fault=listing({"id": "alias", "root": NAME, "owned_by": "vllm"}))
    server.name = "alias"
    with client(server) as endpoint:
        scorer_of(endpoint)
    assert {body["model"] for path, body in server.answered if path == CHAT} == {"alias"}


@pytest.mark.parametrize(
    "entry", [{"id": "large", "root": ["a"]}, {"id": ["large"], "root": {}}, {"id": "l"}]
)
def test_a_model_without_a_known_name_is_another(serve, entry):
    with (
        client(serve(fault=listing(entry))) as endpoint,
        pytest.raises(ModelError, match=r"serves another model, .*; start it with this"),
    ):
        scorer_of(endpoint)


@pytest.mark.parametrize(
    ("tokens", "sentence"),
    [
        ({"tokens": [1, 2, 3]}, "the answer 'A' changes the tokens of the server's chat prompt"),
        ({"tokens": "abc"}, "the server's /tokenize returns no token ids; use vLLM"),
        # As llama.cpp answers.
        ({"tokens": []}, "the server's /tokenize returns no token ids; use vLLM"),
    ],
)
def test_what_the_server_cannot_tokenize_is_refused(serve, tokens, sentence):
    server = serve(fault=lambda path, body: (200, {}, json.dumps(tokens)) if path == TOKENIZE else None)
    with client(server) as endpoint, pytest.raises(ModelError, match=sentence):
        scorer_of(endpoint)


def test_an_answer_that_changes_the_prompt_before_it_is_refused(serve):
    def fault(path: str, body: dict[str, Any]) -> Reply | None:
        merged = [1, 9, 3] if body.get("continue_final_message") else [1, 2]
        return (200, {}, json.dumps({"tokens": merged})) if path == TOKENIZE else None

    sentence = "the answer 'A' changes the tokens of the server's chat prompt"
    with client(serve(fault=fault)) as endpoint, pytest.raises(ModelError, match=sentence):
        scorer_of(endpoint)


@pytest.mark.parametrize(
    "added", [lambda letter: [ord(letter), 8], lambda letter: [7]], ids=["two tokens", "the same token"]
)
def test_letters_that_are_not_one_distinct_token_are_refused(serve, added):
    letters = iter("AB")

    def fault(path: str, body: dict[str, Any]) -> Reply | None:
        if path == DETOKENIZE:
            return 200, {}, json.dumps({"prompt": next(letters)})
        answer = added(body["messages"][-1]["content"]) if body.get("continue_final_message") else []
        return (200, {}, json.dumps({"tokens": [1, 2, *answer]})) if path == TOKENIZE else None

    with (
        client(serve(fault=fault)) as endpoint,
        pytest.raises(
            ModelError, match=r"the letters A to B are not one distinct token each .*scoring: text"
        ),
    ):
        scorer_of(endpoint)


def impossible_texts(answer: dict[str, Any]) -> None:
    for position in answer["prompt_logprobs"][1:]:
        for entry in position.values():
            entry["logprob"] = 0.5


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda answer: answer.update(prompt_logprobs=None), "no log-probabilities of the prompt"),
        (impossible_texts, "of the option 'red' is 0.5, which should be finite and not above 0"),
        (
            lambda answer: answer["prompt_logprobs"].append({"1": {"logprob": -1.0}}),
            "do not end in the tokens of",
        ),
        (
            lambda answer: answer["prompt_logprobs"].append(None),
            "do not end in the tokens of the option 'red'",
        ),
    ],
)
def test_a_text_without_prompt_logprobs_is_refused(serve, variants, change, sentence):
    server = serve()
    with client(server) as endpoint:
        scorer = scorer_of(endpoint, "text")
        server.fault = replying(CHAT, change, server)
        with pytest.raises(ModelError, match=sentence):
            scorer.score(QUESTIONS[0], variants[:1])


def test_an_open_question_is_refused(serve, variants):
    with client(serve()) as endpoint:
        for scoring in ("letter", "text"):
            scorer = scorer_of(endpoint, scoring)
            for call in (lambda open_: scorer.prompt(open_, 1), lambda open_: scorer.score(open_, variants)):  # noqa: B023
                with pytest.raises(ModelError, match="an open-ended question has no options to score"):
                    call(Question("How many dots are there?", ()))


# Many units at once.

ITEMS = {f"s/{number}": Item(QUESTIONS[number % 2], ("k",)) for number in range(12)}


def units(count: int = len(ITEMS)) -> list[Unit]:
    rng = np.random.default_rng(1)
    return [
        Unit(id_, "fog", [1, 2], [[rng.integers(0, 256, (20, 24, 3), dtype=np.uint8)] for _ in range(2)], 1)
        for id_ in list(ITEMS)[:count]
    ]


def predictor_of(scorer: Scorer, cache: PredictionCache) -> Predictor:
    def compute(each, question, units):
        return [(each.score(question, unit.variants), False) for unit in units]

    return Predictor(scorer, cache, compute)


def images_of(server: TinyServer) -> list[str]:
    """Return the images that the server was asked about and answered, but for the first check's."""
    bodies = [body for path, body in server.answered if path == CHAT]
    urls = [body["messages"][0]["content"][0]["image_url"]["url"] for body in bodies]
    return urls[1:]


def test_units_at_once_are_those_one_by_one_in_the_order_of_the_items(serve, tmp_path, scorers):
    server = serve()
    with client(server, concurrency=4) as endpoint:
        scorer = scorer_of(endpoint)
        with PredictionCache(tmp_path, served_identity(scorer), "a") as cache:
            predictor = predictor_of(scorer, cache)
            rows = infer(predictor, ITEMS, units(), prediction_rows, at_once=5)
    assert (predictor.computed, predictor.cached) == (24, 0)
    assert [(row["id"], row["severity"]) for row in rows] == [
        (id_, level) for id_ in ITEMS for level in (1, 2)
    ]
    assert len(images_of(server)) == len(set(images_of(server))) == 24
    for unit in units():
        expected = scorers["llava", "letter"].score(ITEMS[unit.item].question, unit.variants).logits
        found = np.array([row["logits"] for row in rows if row["id"] == unit.item])
        np.testing.assert_allclose(log_softmax(found), log_softmax(expected), atol=1e-4)


def test_a_server_that_dies_half_way_loses_and_repeats_nothing(serve, tmp_path, capsys):
    server = serve()
    answered = threading.Semaphore(9)

    def die(path: str, body: dict[str, Any]) -> None:
        if path == CHAT and not answered.acquire(blocking=False):
            raise ConnectionAbortedError

    with client(server, concurrency=3) as endpoint:
        scorer = scorer_of(endpoint)
        server.fault = die
        with PredictionCache(tmp_path, served_identity(scorer), "a") as cache:
            predictor = predictor_of(scorer, cache)
            with pytest.raises(EndpointError, match=r"the connection broke \(.*\) after 3 attempts; look at"):
                infer(predictor, ITEMS, units(), prediction_rows, at_once=3)
    kept = predictor.computed
    assert 0 < kept <= 9 and kept % 2 == 0
    assert "attempt 2 of 3 in" in capsys.readouterr().err
    before = len(images_of(server))
    assert before == 9
    # It comes back, at another address.
    again = serve()
    with client(again, concurrency=3) as endpoint:
        scorer = scorer_of(endpoint)
        with PredictionCache(tmp_path, served_identity(scorer), "b") as cache:
            predictor = predictor_of(scorer, cache)
            rows = infer(predictor, ITEMS, units(), prediction_rows, at_once=3)
    assert (predictor.cached, predictor.computed) == (kept, 24 - kept)
    assert len(images_of(again)) == len(set(images_of(again))) == 24 - kept
    assert len({(row["id"], row["severity"]) for row in rows}) == len(rows) == 24


def test_a_server_that_comes_back_in_time_is_waited_for(serve, tmp_path):
    server = serve()
    refusals = threading.Semaphore(4)

    def restarting(path: str, body: dict[str, Any]) -> Reply | None:
        if path == CHAT and refusals.acquire(blocking=False):
            return 503, {}, "starting"
        return None

    with client(server, concurrency=2, attempts=6) as endpoint:
        scorer = scorer_of(endpoint)
        server.fault = restarting
        with PredictionCache(tmp_path, served_identity(scorer), "a") as cache:
            predictor = predictor_of(scorer, cache)
            infer(predictor, ITEMS, units(3), prediction_rows, at_once=2)
    assert predictor.computed == 6 == len(set(images_of(server)))


def test_the_prompt_hash_depends_on_question_options_and_number_of_images(serve):
    with client(serve()) as endpoint:
        scorer = scorer_of(endpoint)
    prompts = {scorer.prompt(question, count) for question in QUESTIONS for count in (1, 2)}
    prompts.add(scorer.prompt(replace(QUESTIONS[0], hint="Look."), 1))
    assert len(prompts) == 2 * len(QUESTIONS) + 1
