"""Answers over a server are those of the same model in the process, and what fails is one sentence."""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchc.closure import module_file, source_closure
from benchc.endpoint.answer import Answer
from benchc.endpoint.client import Endpoint, EndpointSettings
from benchc.endpoint.process import free_port, running
from benchc.models.checkpoint import load
from benchc.models.generate import Generator
from benchc.models.generation import Generation
from benchc.models.prediction_code import prediction_code
from benchc.models.protocol import CheckpointSource, ModelError, Reply
from benchc.models.question import Question
from benchc.models.server.chat import CHAT, TOKENIZE, ServedChat
from benchc.models.server.generate import ServedGenerator, served_generator
from benchc.models.server.identity import served_identity
from benchc.models.server.served import served_scorer
from tests.models import transformers_server
from tests.models.bos import ORIGINS, save_with_bos
from tests.models.conftest import FAMILIES, NAME, QUESTIONS
from tests.models.test_served import FACTS, client
from tests.models.vllm_like import Fault, refusing
from tests.models.vllm_like import Reply as HttpReply

ROOT = Path(__file__).resolve().parents[2]
STEPS = 6
INSTRUCTION = "Answer with one word."
OPEN = Question("Which colour is the square?", (), "Count the black ones only.")


def generator_of(endpoint: Endpoint) -> ServedGenerator:
    return served_generator(endpoint, {NAME}, FACTS, Generation(STEPS, INSTRUCTION))


@pytest.mark.parametrize("question", [QUESTIONS[0], OPEN], ids=["options", "open"])
@pytest.mark.parametrize("family", FAMILIES)
def test_answers_over_a_server_are_those_in_the_process(serve, checkpoints, variants, family, question):
    expected = Generator(load(CheckpointSource(str(checkpoints[family]))), Generation(STEPS, INSTRUCTION))
    with client(serve(family)) as endpoint:
        assert generator_of(endpoint).replies(question, variants) == expected.replies(question, variants)


@pytest.mark.parametrize(
    ("refuses", "asked"),
    [
        ((), "temperature, max_tokens"),
        (("max_tokens",), "temperature, max_completion_tokens"),
        (("max_tokens", "temperature"), "max_completion_tokens (sampled)"),
    ],
)
def test_settings_that_a_provider_refuses_are_left_out(serve, variants, refuses, asked):
    server = serve(refuses=refuses)
    with client(server) as endpoint:
        generator = generator_of(endpoint)
        assert generator.identity()["asked"] == asked
        assert all(reply.tokens <= STEPS for reply in generator.replies(OPEN, variants))
    sent = [body for path, body in server.answered if path == CHAT]
    limit = "max_tokens" if not refuses else "max_completion_tokens"
    # A first question, then one a variant.
    assert [body[limit] for body in sent] == [STEPS] * (1 + len(variants))
    assert all(body.get("temperature", 0) == 0 for body in sent)


@pytest.mark.parametrize("status", [200, 401, 403, 404, 502])
def test_a_server_without_tokenize_or_version_is_enough(serve, variants, monkeypatch, status):
    monkeypatch.setattr("benchc.endpoint.client.MAX_WAIT", 0.01)

    def missing(path: str, body: dict[str, Any]) -> HttpReply | None:
        page = "<html>There is nothing here.</html>"
        return (status, {}, page) if path in (TOKENIZE, "/version") else None

    with client(serve(fault=missing)) as endpoint:
        generator = generator_of(endpoint)
        facts = generator.identity()
        assert (facts["version"], facts["chat_template"]) == ("unknown", "unknown")
        assert len(generator.replies(OPEN, variants)) == len(variants)


def test_an_answer_whose_reasoning_reaches_the_limit_is_unfinished(serve, variants):
    server = serve(reasons=True, refuses=("max_tokens", "temperature"))
    # Random weights end no answer.
    with client(server) as endpoint:
        generator = generator_of(endpoint)
        replies = generator.replies(OPEN, variants[:2])
    assert replies == [Reply("", "length", STEPS)] * 2
    assert generator.identity()["asked"] == "max_completion_tokens (sampled)"


@pytest.mark.parametrize(
    "reason",
    [
        "max_tokens is too large: 90000. This model supports at most 16384 completion tokens.",
        "Unsupported parameter: 'max_tokens' is not supported with this model.",
    ],
)
def test_another_refusal_of_a_limit_is_an_error(serve, variants, reason):
    server = serve()
    with client(server) as endpoint:
        generator = generator_of(endpoint)
        server.fault = refusing(CHAT, reason)
        with pytest.raises(ModelError, match="the server refuses the request"):
            generator.replies(OPEN, variants[:1])


def answering(tokens: object = 3, **message: Any) -> Fault:
    """Return a fault that answers all but the first question with ``message``, of so many tokens."""
    asked = []

    def fault(path: str, body: dict[str, Any]) -> HttpReply | None:
        if path != CHAT:
            return None
        asked.append(body)
        choice = {"index": 0, "message": {"role": "assistant", "content": " B. "}, "finish_reason": "stop"}
        content = {"choices": [{**choice, **message}], "usage": {"completion_tokens": tokens}}
        return None if len(asked) == 1 else (200, {}, json.dumps(content))

    return fault


UNENDED = {"message": {"content": None, "reasoning_content": "The square"}, "finish_reason": "length"}


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        ({}, Reply("B.", "stop", 3)),
        ({"finish_reason": "content_filter"}, Reply("B.", "content_filter", 3)),
        ({"message": {"content": "B \ud83d"}}, Reply("B ?", "stop", 3)),
        # A reasoning model that did not end its reasoning.
        (UNENDED, Reply("", "length", 3)),
        ({"finish_reason": "tool_calls"}, "ended with the finish_reason 'tool_calls'"),
        ({"message": None}, "has no message, finish_reason or usage"),
        ({"tokens": 0}, Reply("B.", "stop", 0)),
        ({"tokens": 2**31 - 1}, Reply("B.", "stop", 2**31 - 1)),
        ({"tokens": 2**31}, "the server counts 2,147,483,648 tokens in an answer"),
        ({"tokens": 10**23}, "the server counts 100,000,000,000,000,000,000,000 tokens in an answer"),
        ({"tokens": -1}, r"counts -1 tokens in an answer \(usage.completion_tokens\), which cannot be"),
        ({"tokens": "3"}, "has no message, finish_reason or usage"),
    ],
)
def test_what_an_answer_contains(serve, variants, message, reply):
    with client(serve(fault=answering(**message))) as endpoint:
        generator = generator_of(endpoint)
        if isinstance(reply, Reply):
            assert generator.replies(OPEN, variants[:1]) == [reply]
        else:
            with pytest.raises(ModelError, match=reply):
                generator.replies(OPEN, variants[:1])


@pytest.mark.parametrize(
    "changes",
    [
        {"choices": []},
        {"choices": [{"message": {"content": 5}, "finish_reason": "stop"}]},
        {"choices": [{"message": {"content": "B"}}]},
        {"usage": None},
        {"usage": {}},
        # As a number, True is one token.
        *({"usage": {"completion_tokens": tokens}} for tokens in (True, "3", 3.0)),
    ],
)
def test_an_answer_without_a_part_is_refused(changes):
    content = {
        # The first counts.
        "choices": [{"message": {"content": each}, "finish_reason": "stop"} for each in "BC"],
        "usage": {"completion_tokens": 3},
    }
    generator = ServedGenerator(ServedChat(None, "m", {}), Generation(STEPS), {})  # type: ignore[arg-type]
    assert generator._reply(Answer(200, json.dumps(content))) == Reply("B", "stop", 3)
    with pytest.raises(
        ModelError, match=r"^m: the server's answer has no message, finish_reason or usage; gi"
    ):
        generator._reply(Answer(200, json.dumps(content | changes)))


def test_a_server_that_takes_no_image_is_refused(serve):
    def refuses(path: str, body: dict[str, Any]) -> HttpReply | None:
        reason = f"owner/tiny is not a multimodal model, asked with {', '.join(body)}"
        return (400, {}, reason) if path == CHAT else None

    server = serve(fault=refuses)
    # The reason of the first, as the settings of the others may be unknown.
    message = "the server refuses a question with an image .*not a multimodal model, .* max_tokens,? "
    with client(server) as endpoint, pytest.raises(ModelError, match=message):
        generator_of(endpoint)


def test_the_identity_has_what_decides_an_answer(serve):
    entry = "benchc.models.server.generate"
    with client(serve()) as endpoint:
        facts = served_identity(generator_of(endpoint), entry)
        longer = served_identity(served_generator(endpoint, {NAME}, FACTS, Generation(STEPS + 1)), entry)
    assert facts["scoring"] == "generate" and facts["entry"] == entry
    assert (facts["modules"], facts["code"]) == ("", prediction_code((), entry))
    assert {name for name in facts if facts[name] != longer[name]} == {"max_new_tokens"}
    files = {Path(path).stem for path in source_closure([module_file(entry)], ROOT)}
    assert "generate" in files and not files & {"client", "unit_cache", "predictor"}


COMMIT = "0" * 40
GENERATION = Generation(STEPS, INSTRUCTION)


@pytest.fixture(scope="module")
def folders(checkpoints: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The small checkpoints, and one with each origin of BOS."""
    with_bos = {
        name.replace(" ", "-"): save_with_bos(checkpoints["llava"], tmp_path_factory.mktemp("bos"), origin)
        for name, origin in ORIGINS.items()
    }
    return checkpoints | with_bos


@pytest.fixture(scope="module")
def endpoint(folders: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Endpoint]:
    """A client of a server of all these checkpoints, as ``owner/<name>``."""
    cache = tmp_path_factory.mktemp("hub")
    for name, folder in folders.items():
        repository = cache / f"models--owner--{name}"
        shutil.copytree(folder, repository / "snapshots" / COMMIT)
        (repository / "refs").mkdir()
        (repository / "refs/main").write_text(COMMIT)
    port = free_port()
    command = [sys.executable, transformers_server.__file__, str(port)]
    variables = {"HF_HUB_CACHE": str(cache), "HF_HUB_OFFLINE": "1"}
    log = tmp_path_factory.mktemp("logs") / "server.log"
    with (
        running(command, port, log, 120.0, "transformers", variables) as url,
        Endpoint(EndpointSettings(url, concurrency=2, attempts=1)) as client,
    ):
        yield client


@pytest.mark.parametrize("name", [*FAMILIES, *(name.replace(" ", "-") for name in ORIGINS)])
def test_answers_are_those_in_the_job(endpoint, folders, variants, name):
    # The server's image processor is torchvision's.
    job = Generator(load(CheckpointSource(str(folders[name]), image_backend="torchvision")), GENERATION)
    generator = served_generator(endpoint, {f"owner/{name}"}, {}, GENERATION)
    for question in (QUESTIONS[0], OPEN):
        assert generator.replies(question, variants) == job.replies(question, variants)
    facts = generator.identity()
    assert (facts["version"], facts["chat_template"]) == ("unknown", "unknown")


@pytest.mark.parametrize("scoring", ["letter", "text"])
def test_a_server_without_log_probabilities_is_refused(endpoint, scoring):
    sentence = r"^owner/llava: the server refuses /tokenize \(404 .*\), without which options cannot be"
    with pytest.raises(ModelError, match=sentence):
        served_scorer(endpoint, {"owner/llava"}, {}, scoring, 20)
