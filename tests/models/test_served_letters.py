"""What is asked of a server for the letters' scores, and which of its answers are read how."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from benchc.endpoint.client import Endpoint, EndpointSettings
from benchc.models.protocol import ModelError, Scorer
from benchc.models.question import Question
from benchc.models.server.chat import CHAT, TOKENIZE
from benchc.models.server.served import served_scorer
from benchc.models.server.sglang import GENERATE
from tests.models.conftest import NAME, QUESTIONS
from tests.models.test_served import first
from tests.models.vllm_like import Reply, TinyServer

ALL_TOKENS = 4096  # random weights may put a letter last
# Penalties of the tokens that were generated change nothing of the first; a server may count the prompt's.
GREEDY = {"temperature": 0, "frequency_penalty": 0, "presence_penalty": 0, "repetition_penalty": 1}

Change = Callable[[dict[str, Any], dict[str, Any]], object]


@contextmanager
def asking(server: TinyServer, scoring: str = "letter") -> Iterator[Scorer]:
    with Endpoint(EndpointSettings(server.url, attempts=1, concurrency=1)) as endpoint:
        yield served_scorer(endpoint, {NAME}, {"model": NAME}, scoring, ALL_TOKENS)


def changing(server: TinyServer, change: Change) -> None:
    """Let the server answer what ``change`` makes of a request and its answer, or refuse with a text."""

    def fault(path: str, body: dict[str, Any]) -> Reply | None:
        if path != CHAT:
            return None
        answer = server.complete(body)
        refusal = change(body, answer)
        if isinstance(refusal, str):
            return 400, {}, json.dumps({"error": {"message": refusal}})
        return 200, {}, json.dumps(answer)

    server.fault = fault


@pytest.mark.parametrize("scoring", ["letter", "text"])
@pytest.mark.parametrize("kind", ["vllm", "vllm, top", "sglang"])
def test_every_request_is_for_one_greedy_token_without_penalties(checkpoints, start, variants, kind, scoring):
    top = {"token_ids": False, "max_logprobs": ALL_TOKENS} if kind == "vllm, top" else {}
    server = start(checkpoints["llava"], kind.partition(",")[0], **top)
    with asking(server, scoring) as scorer:
        scorer.score(QUESTIONS[0], variants[:1])
    if kind == "sglang":
        sent = [body["sampling_params"] for path, body in server.answered if path == GENERATE]
        assert all(settings == {**GREEDY, "max_new_tokens": 1} for settings in sent)
        # The whole prompt is returned, or nothing of it, as for letters.
        starts = {body["logprob_start_len"] for path, body in server.answered if path == GENERATE}
        assert starts <= {0, -1} and (scoring == "text" or -1 in starts)
    else:
        expected = {**GREEDY, "max_tokens": 1, "prompt_logprobs": 1 if scoring == "text" else None}
        sent = [body for path, body in server.answered if path == CHAT]
        assert all({name: body.get(name) for name in expected} == expected for body in sent)
    assert len(sent) >= 2  # the first check's, and the item's


def test_letters_are_tokenized_once(serve, variants):
    server, asked = serve(), []
    with asking(server) as scorer:
        for question in (QUESTIONS[0], Question("Which one?", ("this", "that", "none"))):
            scorer.score(question, variants[:1])
            asked.append(sum(path == TOKENIZE for path, _ in server.answered))
    assert asked[0] == asked[1]


def test_the_sampled_token_may_be_a_letter(serve, variants):
    server = serve()

    def only_sampled(body: dict[str, Any], answer: dict[str, Any]) -> None:
        letter = first(answer)["top_logprobs"].pop(0)
        first(answer).update(token=letter["token"], logprob=letter["logprob"])

    with asking(server) as scorer:
        expected = scorer.score(QUESTIONS[0], variants[:2]).logits
    changing(server, only_sampled)
    with asking(server) as scorer:
        assert scorer.identity()["asked"] == "logprob_token_ids"
        assert np.array_equal(scorer.score(QUESTIONS[0], variants[:2]).logits, expected)
        changing(server, lambda body, answer: first(answer).update(top_logprobs=None))
        with pytest.raises(ModelError, match=r"the letter [AB] is not among the 1 tokens whose"):
            scorer.score(QUESTIONS[0], variants[:1])


@pytest.mark.parametrize("name", ["7", "token_id:A", "a token_id:7", "token_id:7 "])
def test_a_token_without_its_id_is_refused(serve, variants, name):
    server = serve()
    with asking(server) as scorer:
        changing(server, lambda body, answer: first(answer)["top_logprobs"][1].update(token=name))
        with pytest.raises(ModelError, match="does not name tokens by their ids"):
            scorer.score(QUESTIONS[0], variants[:1])


def test_probabilities_may_exceed_1_by_rounding_alone(serve, variants):
    server = serve()
    scaled = iter([1.0005, 1.0005, 0.9, 1.002])

    def scale(body: dict[str, Any], answer: dict[str, Any]) -> None:
        value = np.log(next(scaled) / 3)
        for entry in (first(answer), *first(answer)["top_logprobs"]):
            entry["logprob"] = value
        # Another token than the letters.
        first(answer)["token"] = "token_id:0"

    def one_and_a_thousandth(body: dict[str, Any], answer: dict[str, Any]) -> None:
        values = (0.0, np.log(1e-3), -9998.0)
        for entry, value in zip(first(answer)["top_logprobs"], values, strict=True):
            entry["logprob"] = value
        first(answer)["token"] = "token_id:0"

    with asking(server) as scorer:
        changing(server, scale)
        assert scorer.score(QUESTIONS[0], variants[:2]).label_mass.tolist() == [1, 1]
        with pytest.raises(ModelError, match=r"add up to 1\.002, but should to at most 1"):
            scorer.score(QUESTIONS[0], variants[:2])
        assert scorer.chat.log_probability(5e-4, "the letter A") == 0  # of one that is certain
        changing(server, one_and_a_thousandth)
        assert scorer.score(QUESTIONS[0], variants[:1]).label_mass.tolist() == [1]


def test_a_server_that_ignores_token_ids_and_samples_a_letter(serve, variants):
    server = serve(token_ids=False, max_logprobs=ALL_TOKENS)

    def sample_a(body: dict[str, Any], answer: dict[str, Any]) -> None:
        if "logprob_token_ids" in body:
            first(answer)["token"] = f"token_id:{body['logprob_token_ids'][0]}"

    changing(server, sample_a)
    with asking(server) as scorer:
        assert scorer.identity()["asked"] == "top_logprobs"
        assert np.isfinite(scorer.score(QUESTIONS[0], variants[:1]).logits).all()


def test_a_server_that_refuses_token_ids_and_returns_no_log_probabilities(serve):
    server = serve(max_logprobs=ALL_TOKENS)

    def none(body: dict[str, Any], answer: dict[str, Any]) -> str | None:
        answer["choices"][0]["logprobs"] = None
        return "unknown setting" if "logprob_token_ids" in body else None

    changing(server, none)
    with pytest.raises(ModelError, match="the server returns no log-probabilities"), asking(server):
        pass


@pytest.mark.parametrize("token_ids", [True, False])
def test_a_server_that_refuses_images_alone(serve, token_ids):
    server = serve(max_logprobs=ALL_TOKENS)

    def refuse(body: dict[str, Any], answer: dict[str, Any]) -> str | None:
        if not token_ids and "logprob_token_ids" in body:
            return "unknown setting"
        return "no images" if "image_url" in json.dumps(body["messages"]) else None

    changing(server, refuse)
    sentence = r"refuses a question with an image \(400 no images\)"
    with pytest.raises(ModelError, match=sentence), asking(server):
        pass
