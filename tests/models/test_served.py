"""Scores over a server are those of the same model in the process, and what fails is one sentence."""

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchc.closure import module_file, source_closure
from benchc.endpoint.answer import Answer
from benchc.endpoint.client import Endpoint, EndpointError, EndpointSettings
from benchc.models.cache.unit_cache import PredictionCache
from benchc.models.generation import Generation
from benchc.models.inference import infer, prediction_rows
from benchc.models.items import Item
from benchc.models.prediction_code import prediction_code
from benchc.models.predictor import Predictor
from benchc.models.protocol import ModelError, OptionScores, Scorer
from benchc.models.question import Question
from benchc.models.server.chat import CHAT, DETOKENIZE, TOKENIZE, ServedChat, data_url
from benchc.models.server.generate import served_generator
from benchc.models.server.identity import ENTRY, served_identity
from benchc.models.server.letter import ServedLetterScorer
from benchc.models.server.modules import VLLM, server_modules
from benchc.models.server.probe import PROBE_IMAGE
from benchc.models.server.served import OtherModelError, served_model, served_scorer, template_digest
from benchc.models.server.text import ServedTextScorer
from benchc.models.special_tokens import SpecialTokens
from benchc.models.units import Unit
from benchc.pixels import Pixels
from tests.models.conftest import FAMILIES, NAME, QUESTIONS
from tests.models.vllm_like import Fault, Reply, TinyServer, answering, refusing

ROOT = Path(__file__).resolve().parents[2]
FACTS = {"model": NAME, "revision": "1", "device": "server"}
ALL_TOKENS = 4096  # random weights may put a letter last


def client(server: TinyServer, **settings: Any) -> Endpoint:
    return Endpoint(EndpointSettings(server.url, **{"attempts": 3, "first_wait_s": 0.01, **settings}))


def scorer_of(endpoint: Endpoint, scoring: str = "letter", top: int = ALL_TOKENS) -> Scorer:
    return served_scorer(endpoint, {NAME}, FACTS, scoring, top)


@contextmanager
def asking(server: TinyServer, scoring: str = "letter", **settings: Any) -> Iterator[Scorer]:
    with client(server, **settings) as endpoint:
        yield scorer_of(endpoint, scoring)


def refused(server: TinyServer, sentence: str, scoring: str = "letter", top: int = ALL_TOKENS) -> None:
    with client(server) as endpoint, pytest.raises(ModelError, match=f"^{NAME}: .*{sentence}") as caught:
        scorer_of(endpoint, scoring, top)
    assert "\n" not in str(caught.value)


def close(found: OptionScores, expected: OptionScores) -> None:
    np.testing.assert_allclose(log_softmax(found.logits), log_softmax(expected.logits), atol=1e-4)
    np.testing.assert_allclose(found.label_mass, expected.label_mass, atol=1e-5)


def log_softmax(logits: np.ndarray) -> np.ndarray:
    shifted = logits.astype(np.float64) - logits.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("token_ids", [True, False], ids=["token ids", "top"])
@pytest.mark.parametrize("family", FAMILIES)
def test_letters_over_a_server_are_those_in_the_process(serve, scorers, variants, family, token_ids):
    with asking(serve(family, token_ids=token_ids, max_logprobs=ALL_TOKENS)) as served:
        assert served.identity()["asked"] == ("logprob_token_ids" if token_ids else "top_logprobs")
        letters_are_those_in_the_process(served, scorers[family, "letter"], variants)


def letters_are_those_in_the_process(served: Scorer, scorer: Scorer, variants: list[list[Pixels]]) -> None:
    for question in QUESTIONS:
        found = served.score(question, variants)
        assert found.logits.dtype == found.label_mass.dtype == np.float32
        close(found, scorer.score(question, variants))


@pytest.mark.parametrize("scoring", ["text", "text_mean"])
@pytest.mark.parametrize("family", FAMILIES)
def test_texts_over_a_server_are_those_in_the_process(serve, scorers, variants, family, scoring):
    with asking(serve(family), scoring) as served:
        for question in QUESTIONS:
            pair = scorers[family, scoring], served
            expected, found = (each.score(question, variants[:3]) for each in pair)
            np.testing.assert_allclose(found.logits, expected.logits, atol=1e-4)
            np.testing.assert_allclose(found.label_mass, expected.label_mass, atol=1e-5)
    assert served.identity()["scoring"] == scoring


def test_several_images_and_sizes(serve, scorers):
    rng = np.random.default_rng(0)
    sizes = [(40, 56), (31, 31)]
    several = [[rng.integers(0, 256, (*size, 3), dtype=np.uint8) for _ in range(2)] for size in sizes]
    with asking(serve()) as served:
        found = served.score(QUESTIONS[1], several)
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
    server = serve()
    server.processor.chat_template = "Look. " + server.processor.chat_template
    with asking(server, "text") as other:
        assert other.identity()["chat_template"] != one["chat_template"]
    # Predictions that were cached before are found.
    assert template_digest([1, 2]) == "7716bd895af807332f40868fc19b227a"


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
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=True)
    assert done.stdout == "False\n"


# What is wrong with a server.


def replying(path: str, change: Callable[[dict[str, Any]], Any], server: TinyServer) -> Fault:
    """Return a fault that changes the answers to requests to ``path``, or gives others."""
    answers = {CHAT: "complete", TOKENIZE: "tokenize", DETOKENIZE: "detokenize", "/generate": "generate"}

    def fault(asked: str, body: dict[str, Any]) -> Reply | None:
        if asked != path:
            return None
        answer = getattr(server, answers[path])(body)
        changed = change(answer)
        return 200, {}, json.dumps(answer if changed is None else changed)

    return fault


def first(answer: dict[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = answer["choices"][0]["logprobs"]["content"][0]
    return content


def letters(answer: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = first(answer)["top_logprobs"]
    return found


def with_value(value: object) -> Callable[[dict[str, Any]], None]:
    def change(answer: dict[str, Any]) -> None:
        for entry in (first(answer), *letters(answer)):
            entry["logprob"] = value

    return change


WRONG_ANSWERS = {
    "a letter is missing": (
        lambda answer: letters(answer).remove(letters(answer)[1]),
        "the letter B is not among the 3 tokens .*--max-logprobs",
    ),
    "NaN": (with_value(float("nan")), "of the letter A is nan, which should be finite and not above 0"),
    "minus infinity": (with_value(-9999.0), "of the letter A is -9999.0, which should be finite"),
    "logits": (with_value(3.5), "of the letter A is 3.5, .*start vLLM without --logprobs-mode"),
    "a little above 0": (with_value(0.5), "of the letter A is 0.5, which should be finite and not above 0"),
    "more than 1 in all": (with_value(-0.1), "probabilities of the letters A to C add up to 2.715, but"),
    "two values": (
        lambda answer: letters(answer).append({**letters(answer)[0], "logprob": -0.1}),
        r"two log-probabilities of the token \d+, -\d.* and -0.1; start it without",
    ),
    "text": (with_value("high"), "log-probability of the letter A is high, no number"),
    # A number for Python, that of a certain letter.
    "no": (with_value(False), "log-probability of the letter A is False, no number"),
    "no logprobs": (
        lambda answer: answer["choices"][0].update(logprobs=None),
        "returns no log-probabilities; use a server that supports",
    ),
    "no token ids": (lambda answer: first(answer).update(token=" A"), "does not name tokens by their ids"),
    "no choices": (lambda answer: {"choices": []}, "returns no log-probabilities"),
    "a list": (lambda answer: [answer], "answer to the request is not a JSON object"),
}


@pytest.mark.parametrize("name", WRONG_ANSWERS)
def test_an_answer_without_scores_is_an_error_that_names_the_item(serve, tmp_path, name):
    change, sentence = WRONG_ANSWERS[name]
    server = serve()
    with asking(server) as scorer, predicting(scorer, tmp_path) as predictor:
        server.fault = replying(CHAT, change, server)
        with pytest.raises(ModelError, match=f"^item s/0 under fog: {NAME}: .*{sentence}") as caught:
            infer(predictor, ITEMS, units(1), prediction_rows, at_once=4)
    assert "\n" not in str(caught.value)
    assert predictor.computed == 0 and not list(tmp_path.rglob("*.units"))


def test_a_server_with_another_model_or_without_logprobs_is_refused(serve):
    server = serve(token_ids=False, max_logprobs=5)
    with client(server) as endpoint:
        sentence = r"^owner/large: the server serves another model, owner/tiny; start"
        with pytest.raises(ModelError, match=sentence):
            served_scorer(endpoint, {"owner/large"}, FACTS, "letter", 5)
        assert scorer_of(endpoint, top=5).identity()["asked"] == "top_logprobs"
    reason = r"the 20 largest log-probabilities \(400 Requested sample .* 20, .*: 5\); start vLLM with"
    refused(server, reason, top=20)
    server.fault = refusing(CHAT, "logprobs are not supported")
    refused(server, r"\(400 logprobs are not supported\), nor logprob_token_ids")
    server.fault = lambda path, body: (404, {}, "<html>Not found</html>")
    refused(server, r"does not list its models \(404 <html>Not found")
    sentence = r"log-probabilities of the prompt \(400 .*'prompt_logprobs' is not"
    refused(serve(refuses=("prompt_logprobs",)), sentence, "text")


@pytest.mark.parametrize("scoring", ["letter", "text"])
@pytest.mark.parametrize(("status", "reason"), [(400, "owner/tiny is no multimodal model"), (404, "no page")])
def test_a_first_question_that_is_refused_is_said(serve, scoring, status, reason):
    sentence = rf"the server refuses a question with an image \({status} {reason}\); check that"
    refused(serve(fault=refusing(CHAT, reason, status)), sentence, scoring)


TOO_LONG = {
    "vllm": "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
    "vllm, images": "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    "sglang": "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
}


@pytest.mark.parametrize("name", TOO_LONG)
def test_an_item_that_is_too_long_is_said(serve, variants, name):
    server = serve()
    with asking(server) as scorer:
        server.fault = refusing(CHAT, TOO_LONG[name])
        with pytest.raises(ModelError, match=r"\): the item is longer than the model's context; .*remove"):
            scorer.score(QUESTIONS[0], variants[:1])
        server.fault = lambda path, body: (400, {}, "no") if path == CHAT else None
        with pytest.raises(ModelError, match=r"the server refuses the request \(400 no\); look at its log$"):
            scorer.score(QUESTIONS[0], variants[:1])


def test_a_model_is_known_by_the_checkpoint_that_was_loaded(serve):
    # Of vLLM, whoever owns it.
    entry = {"id": "alias", "root": NAME, "owned_by": "me"}
    server = serve(fault=answering("/v1/models", {"data": [entry]}))
    server.name = "alias"
    with asking(server) as scorer:
        served_generator(scorer.chat.client, {NAME}, FACTS, Generation(1))
    asked = [body for path, body in server.answered if path == CHAT]
    assert {(body["model"], body["add_special_tokens"]) for body in asked} == {("alias", False)}


@pytest.mark.parametrize(
    "entry", [{"id": "large", "root": ["a"]}, {"id": ["large"], "root": {}}, {"id": "l"}]
)
def test_a_model_without_a_known_name_is_another(serve, entry):
    server = serve(fault=answering("/v1/models", {"data": [entry]}))
    refused(server, r"serves another model, .*; start it with this")


CHANGED = "the answer 'A' changes the tokens of the server's chat prompt"
NO_IDS = "the server's /tokenize returns no token ids; use vLLM"


@pytest.mark.parametrize(
    ("prompt", "answered", "sentence"),
    [
        ([1, 2, 3], [1, 2, 3], CHANGED),
        ([1, 2], [1, 9, 3], CHANGED),
        ([1, 2], [1, 1, 3], CHANGED),
        ("abc", "abc", NO_IDS),
        (["abc"], ["abc"], NO_IDS),
        ([], [], NO_IDS),  # as llama.cpp answers
    ],
)
def test_what_the_server_cannot_tokenize_is_refused(serve, prompt, answered, sentence):
    def fault(path: str, body: dict[str, Any]) -> Reply | None:
        tokens = answered if body.get("continue_final_message") else prompt
        return (200, {}, json.dumps({"tokens": tokens})) if path == TOKENIZE else None

    refused(serve(fault=fault), sentence)


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

    refused(serve(fault=fault), r"the letters A to B are not one distinct token each .*scoring: text")


def texts_with_value(value: float) -> Callable[[dict[str, Any]], None]:
    def change(answer: dict[str, Any]) -> None:
        for position in answer["prompt_logprobs"][1:]:
            for entry in position.values():
                entry["logprob"] = value

    return change


def another_end(entry: object) -> Callable[[dict[str, Any]], None]:
    return lambda answer: answer["prompt_logprobs"].append(entry)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda answer: answer.update(prompt_logprobs=None), "no log-probabilities of the prompt"),
        (texts_with_value(0.5), "of the option 'red' is 0.5, which should be finite and not above 0"),
        (another_end({"1": {"logprob": -1.0}}), "do not end in the tokens of the option 'red'"),
        (another_end(None), "do not end in the tokens of the option 'red'"),
    ],
)
def test_a_text_without_prompt_logprobs_is_refused(serve, variants, change, sentence):
    server = serve()
    with asking(server, "text") as scorer:
        server.fault = replying(CHAT, change, server)
        with pytest.raises(ModelError, match=sentence):
            scorer.score(QUESTIONS[0], variants[:1])


def test_the_mass_of_texts_is_at_most_1(serve, variants):
    server = serve()
    with asking(server, "text") as scorer:
        server.fault = replying(CHAT, texts_with_value(0), server)
        assert scorer.score(QUESTIONS[0], variants[:1]).label_mass.tolist() == [1]


@pytest.mark.parametrize("scoring", ["letter", "text"])
def test_an_open_question_is_refused(serve, variants, scoring):
    open_ = Question("How many dots are there" + " of black" * 9 + "?", ())
    # Of a long question, the beginning is shown.
    sentence = f"^an open-ended question has no options to score: '{open_.question[:80]}'; remove it"
    with asking(serve(), scoring) as scorer:
        for call in (lambda: scorer.prompt(open_, 1), lambda: scorer.score(open_, variants)):
            with pytest.raises(ModelError, match=sentence):
                call()


class Listing:
    """A server that answers one of two paths: its models, and its version."""

    def __init__(self, models: str, version: str = "[]", status: int = 200) -> None:
        self.models, self.version = Answer(status, models), Answer(200, version)

    def get(self, path: str) -> Answer:
        assert path == "/v1/models"
        return self.models

    def optional(self, path: str, body: object = None) -> Answer:
        self.asked = path
        return self.version


@pytest.mark.parametrize(
    ("owner", "version", "found"),
    [
        ("vllm", '{"version": "0.9"}', ("/version", "vllm", "0.9")),
        ("sglang", '{"version": "0.5"}', ("/server_info", "sglang", "0.5")),
        ("me", '{"version": "1"}', ("/version", "me", "1")),
        (None, '{"version": ""}', ("/version", "unknown", "unknown")),
        ("vllm", "[]", ("/version", "vllm", "unknown")),
    ],
)
def test_what_a_server_is_or_that_it_does_not_tell(owner, version, found):
    entry = {"id": "alias", "root": "o/m"} | ({} if owner is None else {"owned_by": owner})
    server: Any = Listing(json.dumps({"data": [{"id": "another"}, entry, {"id": "o/m"}]}), version)
    name, facts = served_model(server, {"m", "o/m"})
    assert (name, server.asked, facts["server"], facts["version"]) == ("alias", *found)


@pytest.mark.parametrize(
    ("models", "status"),
    [*((text, 200) for text in ("no", "[]", "{}", '{"data": null}', '{"data": [{}]}')), ("{}", 404)],
)
def test_a_server_that_lists_no_models_is_refused(models, status):
    server: Any = Listing(models, status=status)
    with pytest.raises(ModelError, match=rf"^a: the server does not list its models \({status} .*\); give"):
        served_model(server, {"b", "a"})


def test_another_model_is_told_by_the_first_name_and_those_that_are_served():
    server: Any = Listing('{"data": [{"id": "c"}, {"id": "d", "root": "e"}]}')
    with pytest.raises(
        OtherModelError, match=r"^a: the server serves another model, c and d; start it"
    ) as told:
        served_model(server, {"b", "a"})
    assert (told.value.name, [*told.value.served]) == ("a", ["c", "d"])


def test_an_answer_to_detokenize_without_a_text_is_refused():
    for text in ('{"prompt": 3}', "{}"):
        server: Any = SimpleNamespace(post=lambda path, body, text=text: Answer(200, text))
        with pytest.raises(
            ModelError, match=r"^m: the server's /detokenize returns no text; use vLLM or SGL"
        ):
            ServedChat(server, "m", {}).text_of([1, 2])


@pytest.mark.parametrize(
    ("text", "status", "tokens"),
    [
        ('{"prompt_token_ids": [1, 2]}', 200, [1, 2]),
        ('{"prompt_token_ids": [1, "a"]}', 200, []),
        ('{"prompt_token_ids": null}', 200, []),
        ('{"prompt_token_ids": 3}', 200, []),
        ('{"prompt_token_ids": [1, 2]}', 400, []),
    ],
)
def test_a_server_need_not_tell_the_tokens_of_a_prompt(text, status, tokens):
    server: Any = SimpleNamespace(post=lambda path, body: Answer(status, text))
    assert ServedChat(server, "m", {}).first_tokens() == tokens


def test_the_log_probabilities_of_a_prompt_are_by_token():
    scorer = ServedTextScorer(ServedChat(None, "m", {}), length_normalised=False)  # type: ignore[arg-type]
    # Of the first token there are none; other forms are those of no token.
    values = {"5": {"logprob": -1.0}, "6": {"logprob": -2.0}}
    forms = [None, values, {"x": {"logprob": -1.0}}, {"5": {}}, {"5": -1.0}, [3]]
    found = scorer.positions(Answer(200, json.dumps({"prompt_logprobs": forms})))
    assert found == [{}, {5: -1.0, 6: -2.0}, {}, {}, {}, {}]
    assert scorer.positions(Answer(200, '{"prompt_logprobs": 3}')) is None
    # Without a prompt before it.
    alone = Answer(200, '{"prompt_logprobs": [{"5": {"logprob": -1.0}}]}')
    assert scorer._log_likelihood(alone, [5], "a") == -1.0


def test_a_log_probability_may_be_rounded():
    """By 0.001; -9999 is vLLM's minus infinity."""
    chat = ServedChat(None, "m", {})  # type: ignore[arg-type]
    assert [chat.log_probability(value, "a") for value in (1e-3, 0, -9998.5)] == [0.0, 0.0, -9998.5]
    for value in (1.1e-3, -9999.0, -(10.0**5), float("nan")):
        with pytest.raises(ModelError, match=f"log-probability of a is {value}, which should be finite"):
            chat.log_probability(value, "a")
    # Of a token that is there twice, the first counts.
    assert chat.by_token([(1, -1.0), (2, -5.0), (1, -1.0005)]) == {1: -1.0, 2: -5.0}
    assert chat.by_token([(1, 0.0), (1, -1e-3)]) == {1: 0.0}
    assert chat.by_token([(1, "high"), (1, -1.0)]) == {1: "high"}  # which is refused later
    for other in (-1.1, -0.9):
        with pytest.raises(
            ModelError, match=rf"two log-probabilities of the token 1, -1.0 and {other}; start"
        ):
            chat.by_token([(1, -1.0), (1, other)])


@pytest.mark.parametrize(("tokens", "reaches"), [([1, 2], True), ([3, 2], True), ([2, 2], False)])
def test_a_system_prompt_reaches_the_model_where_it_changes_the_tokens(tokens, reaches):
    def post(path: str, body: dict[str, Any]) -> Answer:
        has_it = body["messages"][0]["role"] == "system"
        return Answer(200, json.dumps({"tokens": tokens if has_it else [2, 2]}))

    server: Any = SimpleNamespace(post=post)
    chat = ServedChat(server, "m", {"system_prompt": "Be brief."})
    with nullcontext() if reaches else pytest.raises(ModelError, match="has no place for a system prompt"):
        chat.require_system_prompt("Which?")


@pytest.mark.parametrize(
    ("special", "are_added"),
    [
        (None, False),
        (SpecialTokens([1], [], are_added=False, prompt=[1, 2]), False),
        (SpecialTokens([1], [], are_added=True, prompt=[1, 2]), True),
    ],
)
def test_a_prompt_has_the_special_tokens_that_transformers_adds(special, are_added):
    server: Any = SimpleNamespace(
        post=lambda path, body: Answer(
            200, json.dumps({"tokens": [1, 2] if body["add_special_tokens"] else [2]})
        )
    )
    chat = ServedChat(server, "m", {}, special)
    assert chat.prompt_tokens("Which?") == ([1, 2] if are_added else [2])
    assert chat.tokens(text="Which?") == [2]


@pytest.mark.parametrize(("text", "is_answer"), [(" A\n", True), ("<A", False), ("~A", False)])
def test_a_chat_template_writes_the_answer_alone(text, is_answer):
    def post(path: str, body: dict[str, Any]) -> Answer:
        if path == DETOKENIZE:
            return Answer(200, json.dumps({"prompt": text}))
        return Answer(200, json.dumps({"tokens": [1, 2] if body["continue_final_message"] else [1]}))

    server: Any = SimpleNamespace(post=post)
    raises = pytest.raises(ModelError, match=f"turns the answer 'A' into {text!r}; start")
    with nullcontext() if is_answer else raises:
        assert ServedChat(server, "m", {}).tokens_after("Which?", ["A"]) == [[2]]


def test_the_sampled_token_is_among_the_returned_ones():
    def returned(content: list[dict[str, Any]]) -> Any:
        # Of several answers, the first counts.
        text = json.dumps({"choices": [{"logprobs": {"content": content}}, {"logprobs": None}]})
        return ServedLetterScorer(ServedChat(None, "m", {})).returned(Answer(200, text))  # type: ignore[arg-type]

    first = {"token": "token_id:3", "logprob": -1.0, "top_logprobs": None}
    assert returned([first, {"token": "token_id:9", "logprob": -2.0, "top_logprobs": []}]) == {3: -1.0}
    others = [{"token": "token_id:4", "logprob": -2.0}, {"token": "token_id:5", "logprob": -3.0}]
    assert returned([first | {"top_logprobs": others}]) == {3: -1.0, 4: -2.0, 5: -3.0}
    for name in ("4", "token_id:4 ", "xtoken_id:4"):
        with pytest.raises(ModelError, match="does not name tokens by their ids"):
            returned([first | {"top_logprobs": [{"token": name, "logprob": -2.0}]}])
    # More digits than Python reads.
    with pytest.raises(ModelError, match="returns no log-probabilities; use a server that supports"):
        returned([first | {"token": f"token_id:{'9' * 5000}"}])


# Many units at once.

ITEMS = {f"s/{number}": Item(QUESTIONS[number % 2], ("k",)) for number in range(12)}


def units(count: int = len(ITEMS)) -> list[Unit]:
    rng = np.random.default_rng(1)
    return [
        Unit(id_, "fog", [1, 2], [[rng.integers(0, 256, (20, 24, 3), dtype=np.uint8)] for _ in range(2)], 1)
        for id_ in list(ITEMS)[:count]
    ]


@contextmanager
def predicting(scorer: Scorer, folder: Path, name: str = "a") -> Iterator[Predictor]:
    def compute(each, question, units):
        return [(each.score(question, unit.variants), False) for unit in units]

    with PredictionCache(folder, served_identity(scorer), name) as cache:
        yield Predictor(scorer, cache, compute)


def images_of(server: TinyServer) -> list[str]:
    """Return the images that the server was asked about and answered, but for the first check's."""
    bodies = [body for path, body in server.answered if path in (CHAT, "/generate")]
    return [str(body.get("image_data") or body["messages"][0]["content"][0]) for body in bodies][1:]


def test_units_at_once_are_those_one_by_one_in_the_order_of_the_items(serve, tmp_path, scorers):
    server = serve()
    with asking(server, concurrency=4) as scorer, predicting(scorer, tmp_path) as predictor:
        rows = infer(predictor, ITEMS, units(), prediction_rows, at_once=5)
    assert (predictor.computed, predictor.cached) == (24, 0)
    assert [(row["id"], row["severity"]) for row in rows] == [(id_, n) for id_ in ITEMS for n in (1, 2)]
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

    with asking(server, concurrency=3) as scorer, predicting(scorer, tmp_path) as predictor:
        server.fault = die
        with pytest.raises(EndpointError, match=r"the connection broke \(.*\) after 3 attempts; look at"):
            infer(predictor, ITEMS, units(), prediction_rows, at_once=3)
    kept = predictor.computed
    assert 0 < kept <= 9 and kept % 2 == 0
    assert "attempt 2 of 3 in" in capsys.readouterr().err
    assert len(images_of(server)) == 9
    # It comes back, at another address.
    again = serve()
    with asking(again, concurrency=3) as scorer, predicting(scorer, tmp_path, "b") as predictor:
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

    asked = asking(server, concurrency=2, attempts=6)
    with asked as scorer, predicting(scorer, tmp_path) as predictor:
        server.fault = restarting
        infer(predictor, ITEMS, units(3), prediction_rows, at_once=2)
    assert predictor.computed == 6 == len(set(images_of(server)))


def test_the_prompt_hash_depends_on_question_options_and_number_of_images(serve):
    with asking(serve()) as scorer:
        pass
    prompts = {scorer.prompt(question, count) for question in QUESTIONS for count in (1, 2)}
    prompts.add(scorer.prompt(replace(QUESTIONS[0], hint="Look."), 1))
    assert len(prompts) == 2 * len(QUESTIONS) + 1


def test_a_picture_is_sent_compressed():
    assert len(data_url(PROBE_IMAGE)) < PROBE_IMAGE.nbytes / 10
    # Of another one, recordings have no answer.
    assert PROBE_IMAGE.shape == (224, 224, 3) and (PROBE_IMAGE == 128).all()
