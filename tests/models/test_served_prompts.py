"""What a server passes through the model is what transformers makes of the same messages.

The expected tokens and scores come from transformers alone: its chat template, its tokenization, its model.
"""

import json
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchc.endpoint.client import Endpoint, EndpointSettings
from benchc.models.generation import Generation
from benchc.models.letter import LetterScorer
from benchc.models.load import load_scorer
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.question import Question, letter_prompt, text_prompt
from benchc.models.server.chat import DETOKENIZE
from benchc.models.server.generate import served_generator
from benchc.models.server.served import served_scorer
from benchc.models.text import TextScorer
from tests.models.alone import Alone
from tests.models.bos import ORIGINS, save_with_bos
from tests.models.conftest import NAME, QUESTIONS, SERVERS
from tests.models.test_served import FACTS, log_softmax
from tests.models.vllm_like import TinyServer

QUESTION = QUESTIONS[0]
# As templates of Qwen3: before an answer that is given, but not before one that is generated.
THOUGHT = "<think>\n\n</think>\n\n"


@pytest.fixture(scope="module")
def folders(checkpoints: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return one checkpoint with each tokenizer and chat template."""
    return {
        name: save_with_bos(checkpoints["llava"], tmp_path_factory.mktemp("bos"), origin)
        for name, origin in ORIGINS.items()
    }


@pytest.fixture
def image() -> np.ndarray:
    return np.random.default_rng(5).integers(0, 256, (40, 56, 3), dtype=np.uint8)


def client(server: TinyServer) -> Endpoint:
    return Endpoint(EndpointSettings(server.url, attempts=1))


@pytest.mark.parametrize("name", ORIGINS)
def test_a_prompt_has_the_special_tokens_that_transformers_gives_it(folders, start, image, name):
    """A job and the servers pass the tokens of transformers through the model, and give its scores."""
    alone, chat = (
        Alone(folders[name]),
        load_scorer("llava", "letter", CheckpointSource(str(folders[name]))).chat,
    )
    bos = alone.processor.tokenizer.bos_token_id
    letters, texts = letter_prompt(QUESTION), text_prompt(QUESTION)
    prompt = alone.tokens(letters, image)
    assert prompt.count(bos) == ORIGINS[name].count
    options = sorted(alone.tokens(texts, image, option) for option in QUESTION.texts)
    each = [alone.log_probabilities(letters, image, letter) for letter in QUESTION.letters]
    assert {len(logs) for logs in each} == {1}
    sums = [sum(alone.log_probabilities(texts, image, option)) for option in QUESTION.texts]
    job = [scorer(chat).score(QUESTION, [[image]]) for scorer in (LetterScorer, TextScorer)]
    for kind in SERVERS:
        server = start(folders[name], kind)
        with client(server) as endpoint:
            of_letters = served_scorer(endpoint, {NAME}, FACTS, "letter", 20).score(QUESTION, [[image]])
            assert server.prompts[-1] == prompt
            of_texts = served_scorer(endpoint, {NAME}, FACTS, "text", 20).score(QUESTION, [[image]])
            assert sorted(server.prompts[-len(options) :]) == options
            if kind == "vllm":
                served_generator(endpoint, {NAME}, FACTS, Generation(3)).replies(QUESTION, [[image]])
                assert server.prompts[-1] == prompt
        np.testing.assert_allclose(of_letters.logits[0], np.ravel(each), atol=1e-4)
        np.testing.assert_allclose(of_texts.logits[0], sums, atol=1e-4)
        for found, expected in zip((of_letters, of_texts), job, strict=True):
            np.testing.assert_allclose(log_softmax(found.logits), log_softmax(expected.logits), atol=1e-4)
            np.testing.assert_allclose(found.label_mass, expected.label_mass, atol=1e-5)


@pytest.mark.parametrize("bos", [0, 2])
@pytest.mark.parametrize("name", ["by tokenizer", "by both"])
@pytest.mark.parametrize("kind", SERVERS)
def test_a_prompt_with_another_number_of_bos_in_the_server_is_refused(folders, start, kind, name, bos):
    server = start(folders[name], kind, bos=bos)
    sentence = (
        rf"^{NAME}: of its tokenizer's special tokens \[1\], a prompt in the server begins with {bos}, and "
        "one of transformers with 1; update"
    )
    with client(server) as endpoint:
        for scoring in ("letter", "text"):
            with pytest.raises(ModelError, match=sentence):
                served_scorer(endpoint, {NAME}, FACTS, scoring, 20)
        if kind == "vllm":
            with pytest.raises(ModelError, match=sentence):
                served_generator(endpoint, {NAME}, FACTS, Generation(3))


def test_the_origin_of_bos_is_in_the_identity(folders, start):
    templates = set()
    for folder in folders.values():
        with client(start(folder)) as endpoint:
            of_answers = served_generator(endpoint, {NAME}, FACTS, Generation(3)).identity()
            of_letters = served_scorer(endpoint, {NAME}, FACTS, "letter", 20).identity()
        assert of_answers["chat_template"] == of_letters["chat_template"]
        templates.add(of_letters["chat_template"])
    # A prompt with BOS, and one without.
    assert len(templates) == 2


def written(template: str, before: str, prompt: str = "") -> str:
    """Return a chat template that writes ``before`` a given answer, and ``prompt`` before a generated one."""
    role, end = "{{ message['role'].upper() }}: ", "{% if add_generation_prompt %}ASSISTANT:"
    assert template.count(role) == template.count(end) == 1
    given = "{% if message['role'] == 'assistant' %}" + before + "{% endif %}"
    return template.replace(role, role + given).replace(end, f"{end} {prompt}" if prompt else end)


@pytest.mark.parametrize("scoring", ["letter", "text", "text_mean"])
def test_a_chat_template_that_writes_a_thought_before_an_answer_is_refused(checkpoints, start, scoring):
    server = start(checkpoints["llava"])
    server.processor.chat_template = written(server.processor.chat_template, THOUGHT)
    sentence = (
        rf"^{NAME}: the server's chat template turns the answer '(A|this)' into ' <think>\\n\\n</think>\\n\\n"
        r"(A|this)'; start the server with one that .*--default-chat-template-kwargs\)$"
    )
    with client(server) as endpoint, pytest.raises(ModelError, match=sentence):
        served_scorer(endpoint, {NAME}, FACTS, scoring, 20)


def test_a_thought_of_the_prompt_is_not_scored(checkpoints, folders, start, image):
    server, alone = start(checkpoints["llava"]), Alone(checkpoints["llava"])
    template = written(server.processor.chat_template, THOUGHT, THOUGHT)
    server.processor.chat_template = alone.processor.chat_template = template
    with client(server) as endpoint:
        found = served_scorer(endpoint, {NAME}, FACTS, "text_mean", 20).score(QUESTION, [[image]])
    logs = [alone.log_probabilities(text_prompt(QUESTION), image, option) for option in QUESTION.texts]
    np.testing.assert_allclose(found.logits[0], [np.mean(each) for each in logs], atol=1e-4)


@pytest.mark.parametrize("form", ["NFKC", "NFKD"])
@pytest.mark.parametrize("options", [("cafe\u0301 .", "don 't"), ("天坛", " \ufb01ne"), ("caf\u00e9", "tea")])
def test_an_option_that_a_tokenizer_writes_otherwise_is_scored(checkpoints, start, image, options, form):
    server = start(checkpoints["llava"])
    decode = server.processor.tokenizer.decode

    def cleaned(tokens: list[int], **settings: Any) -> str:
        """Decode as tokenizers with a normal form and clean_up_tokenization_spaces do."""
        text = unicodedata.normalize(form, decode(tokens, **settings))
        return text.replace(" .", ".").replace(" 't", "'t").strip()

    server.processor.tokenizer.decode = cleaned
    with client(server) as endpoint:
        scorer = served_scorer(endpoint, {NAME}, FACTS, "text", 20)
        scores = scorer.score(Question("Which one?", options), [[image]])
    assert np.isfinite(scores.logits).all()


@pytest.mark.parametrize("scoring", ["letter", "text"])
@pytest.mark.parametrize("kind", SERVERS)
def test_penalties_of_the_checkpoint_change_no_score(checkpoints, start, image, kind, scoring):
    found = []
    for penalty in (1.0, 3.0):
        with client(start(checkpoints["llava"], kind, penalty=penalty)) as endpoint:
            scorer = served_scorer(endpoint, {NAME}, FACTS, scoring, 20)
            found.append(scorer.score(QUESTION, [[image]]).logits)
    assert np.array_equal(*found)


@pytest.mark.parametrize("scoring", ["letter", "text"])
def test_a_template_of_texts_gives_the_prompt_of_one_of_parts(checkpoints, start, image, scoring):
    prompts = []
    for string_content in (False, True):
        server = start(checkpoints["llava"], string_content=string_content)
        if string_content:
            server.processor.chat_template = (
                "{% for message in messages %}{{ message['role'].upper() }}: {{ message['content'] }} "
                "{% endfor %}{% if add_generation_prompt %}ASSISTANT:{% endif %}"
            )
        with client(server) as endpoint:
            served_scorer(endpoint, {NAME}, FACTS, scoring, 20).score(QUESTION, [[image]])
        prompts.append(sorted(server.prompts))
    assert prompts[0] == prompts[1]


def test_a_server_without_detokenize_is_refused(checkpoints, start):
    gone = json.dumps({"detail": "Not Found"})
    server = start(
        checkpoints["llava"], fault=lambda path, body: (404, {}, gone) if path == DETOKENIZE else None
    )
    with (
        client(server) as endpoint,
        pytest.raises(ModelError, match=r"refuses /detokenize \(404 .*Not Found"),
    ):
        served_scorer(endpoint, {NAME}, FACTS, "text", 20)
