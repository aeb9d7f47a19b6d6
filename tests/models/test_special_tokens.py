"""A prompt has the same special tokens at both ends in the job, in a server and in transformers."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers.processors import TemplateProcessing

from benchc.endpoint.client import Endpoint, EndpointSettings
from benchc.hugging_face import transformers
from benchc.models.generate import Generator
from benchc.models.generation import Generation
from benchc.models.load import load_scorer
from benchc.models.protocol import CheckpointSource, ModelError, Scorer
from benchc.models.question import letter_prompt
from benchc.models.server.chat import CHAT
from benchc.models.server.generate import served_generator
from benchc.models.server.served import served_scorer
from benchc.models.special_tokens import SpecialTokens, times_at_end, times_at_start
from benchc.models.text import TextScorer
from tests.models.alone import Alone
from tests.models.conftest import NAME, QUESTIONS, SERVERS, Start
from tests.models.test_served import log_softmax
from tests.models.vllm_like import Reply, TinyServer

QUESTION = QUESTIONS[0]
FACTS = {"model": NAME}
BOS, EOS = "<s>", "</s>"
PARTS = (
    "{% for part in message['content'] %}{{ '<image>' if part['type'] == 'image' else part['text'] }}"
    "{% endfor %}"
)
END = "{% if add_generation_prompt %}ASSISTANT:{% endif %}"
PLAIN = "{% for message in messages %}{{ message['role'].upper() }}: " + PARTS + " {% endfor %}" + END
# The user's turn ends in EOS, as of LLaVA and Mistral, and is the end of the prompt.
TURNS = (
    "{% for message in messages %}{{ '[INST]' if message['role'] == 'user' else '' }}"
    + PARTS
    + "{% if message['role'] == 'user' %}</s>{% endif %}{% endfor %}"
)
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    + PARTS
    + "{% if message['role'] == 'user' %}<|im_end|>\n{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
# The images, each of many equal tokens, then the text, as of PaliGemma.
IMAGES_FIRST = (
    "{% for message in messages %}{{ 'ASSISTANT: ' if message['role'] == 'assistant' else '' }}"
    + PARTS
    + " {% endfor %}"
    + END
)
LINE_BREAK = PLAIN.replace("ASSISTANT:", "ASSISTANT:\n").replace(
    "}}: ", "}}:{{ '\n' if message['role'] == 'assistant' else ' ' }}"
)


def saved(
    source: Path, folder: Path, template: str, single: str | None = None, **of_tokenizer: str | None
) -> Path:
    """Save a checkpoint with a chat template and a tokenizer that writes ``single``, None for the text alone.

    ``of_tokenizer``: attributes such as ``bos_token``.
    """
    processor = transformers.AutoProcessor.from_pretrained(source)
    tokenizer = processor.tokenizer
    if single is not None:
        ids = [(token, tokenizer.convert_tokens_to_ids(token)) for token in (BOS, EOS)]
        tokenizer.backend_tokenizer.post_processor = TemplateProcessing(single=single, special_tokens=ids)
    for name, value in of_tokenizer.items():
        setattr(tokenizer, name, value)
    processor.chat_template = template
    shutil.copytree(source, folder)
    processor.save_pretrained(folder)
    return folder


@pytest.fixture
def checkpoint(checkpoints: dict[str, Path], tmp_path: Path) -> Callable[..., Path]:
    """Save a small checkpoint with other special tokens."""
    return lambda *settings, **names: saved(checkpoints["llava"], tmp_path / "model", *settings, **names)


@pytest.fixture
def image() -> np.ndarray:
    return np.random.default_rng(5).integers(0, 256, (40, 56, 3), dtype=np.uint8)


def client(server: TinyServer) -> Endpoint:
    return Endpoint(EndpointSettings(server.url, attempts=1))


def scorer_of(endpoint: Endpoint, scoring: str) -> Scorer:
    return served_scorer(endpoint, {NAME}, FACTS, scoring, 20)


# Template, what the tokenizer writes, its attributes, and how many BOS and EOS are at the ends of the prompt.
RIGHT = {
    "both by tokenizer": (PLAIN, f"{BOS} $A {EOS}", {}, (1, 1)),
    "BOS by both": (BOS + PLAIN, f"{BOS} $A {EOS}", {}, (1, 0)),
    "EOS is the padding": (PLAIN, f"{BOS} $A", {"pad_token": EOS}, (1, 0)),
    "a turn ends in EOS": (TURNS, f"{BOS} $A", {"pad_token": EOS}, (1, 1)),
    "a turn ends in EOS, BOS by both": (BOS + TURNS, f"{BOS} $A {EOS}", {}, (1, 1)),
    "two EOS": (TURNS, f"{BOS} $A {EOS}", {}, (1, 2)),
    "images first": (IMAGES_FIRST, None, {}, (0, 0)),
    "BOS by tokenizer, then images": (IMAGES_FIRST, f"{BOS} $A", {}, (1, 0)),
    "a line break at the end": (LINE_BREAK, f"{BOS} $A", {}, (1, 0)),
    "Qwen": (CHATML, None, {"bos_token": None}, (0, 0)),
    "BOS by tokenizer, null": (PLAIN, f"{BOS} $A", {"bos_token": None}, (1, 0)),
    "BOS by template, null": (BOS + PLAIN, None, {"bos_token": None}, (1, 0)),
}
AFTER_EOS = ("both by tokenizer", "two EOS")


@pytest.mark.parametrize("name", RIGHT)
def test_both_ends_of_a_prompt_are_those_of_transformers(checkpoint, start: Start, image, name):
    template, single, names, (bos, eos) = RIGHT[name]
    folder = checkpoint(template, single, **names)
    expected = Alone(folder).tokens(letter_prompt(QUESTION), image)
    assert (times_at_start(expected, [1]), times_at_end(expected, [2])) == (bos, eos)
    job = load_scorer("llava", "letter", CheckpointSource(str(folder)))
    letters = job.score(QUESTION, [[image]])
    answers = Generator(job.chat, Generation(4)).replies(QUESTION, [[image]])
    texts = None if name in AFTER_EOS else TextScorer(job.chat).score(QUESTION, [[image]])
    for kind in SERVERS:
        # After a special token, SGLang's answer has a space (docs/models.md).
        is_same_answer = kind == "vllm" or template not in (TURNS, BOS + TURNS)
        server = start(folder, kind)
        with client(server) as endpoint:
            found = scorer_of(endpoint, "letter").score(QUESTION, [[image]])
            assert server.prompts[-1] == expected
            if is_same_answer:
                np.testing.assert_allclose(log_softmax(found.logits), log_softmax(letters.logits), atol=1e-4)
                generator = served_generator(endpoint, {NAME}, FACTS, Generation(4))
                replies = generator.replies(QUESTION, [[image]])
                assert server.prompts[-1] == expected
                assert replies == answers
            if texts is None:
                with pytest.raises(
                    ModelError, match=r"adds the tokens \[2\] between prompt and answer, .*letter`"
                ):
                    scorer_of(endpoint, "text")
            elif is_same_answer:
                found = scorer_of(endpoint, "text").score(QUESTION, [[image]])
                np.testing.assert_allclose(found.logits, texts.logits, atol=1e-4)


def reporting(server: TinyServer, change: Callable[[list[int]], list[int]]) -> None:
    """Let the server say that the model read other tokens."""

    def fault(path: str, body: dict[str, Any]) -> Reply | None:
        if path != CHAT:
            return None
        answer = server.complete(body)
        if answer["prompt_token_ids"] is not None:
            answer["prompt_token_ids"] = change(answer["prompt_token_ids"])
        return 200, {}, json.dumps(answer)

    server.fault = fault


def like_paligemma(tokens: list[int]) -> list[int]:
    """Return the prompt as vLLM makes it for PaliGemma 2: images, BOS, text, line break."""
    image, line_break = 3, 300
    assert tokens[0] == 1 and tokens.count(image) > 1
    return [image] * tokens.count(image) + [token for token in tokens if token != image] + [line_break]


def test_a_prompt_that_a_server_begins_with_images_and_ends_with_a_line_break(checkpoint, start: Start):
    server = start(checkpoint(PLAIN, f"{BOS} $A"))
    reporting(server, like_paligemma)
    with client(server) as endpoint:
        scorer_of(endpoint, "letter")
        served_generator(endpoint, {NAME}, FACTS, Generation(4))


def test_a_server_that_does_not_tell_its_prompt_is_not_refused(checkpoint, start: Start):
    server = start(checkpoint(PLAIN, f"{BOS} $A"))
    reporting(server, lambda tokens: [])
    with client(server) as endpoint:
        scorer_of(endpoint, "letter")
        served_generator(endpoint, {NAME}, FACTS, Generation(4))


@pytest.mark.parametrize("single", [f"{BOS} $A", f"{BOS} $A {EOS}"])
@pytest.mark.parametrize("count", [0, 2])
def test_another_number_of_bos_behind_images_is_refused(checkpoint, start: Start, single, count):
    server = start(checkpoint(PLAIN, single))
    reporting(
        server,
        lambda tokens: [3, 3] + [1] * count + [token for token in tokens if token not in (1, 3)],
    )
    with client(server) as endpoint, pytest.raises(ModelError, match=rf"\[1\], .* begins with {count}, and"):
        scorer_of(endpoint, "letter")


@pytest.mark.parametrize("kind", SERVERS)
@pytest.mark.parametrize(
    ("template", "eos", "due"), [(PLAIN, 0, 1), (PLAIN, 2, 1), (BOS + PLAIN, 1, 0), (BOS + TURNS, 2, 1)]
)
def test_another_number_of_eos_in_the_server_is_refused(checkpoint, start: Start, kind, template, eos, due):
    server = start(checkpoint(template, f"{BOS} $A {EOS}"), kind, eos=eos)
    sentence = (
        rf"^{NAME}: of its tokenizer's special tokens \[2\], a prompt in the server ends with {eos}, and one "
        rf"of transformers with {due}; update the server"
    )
    with client(server) as endpoint:
        for scoring in ("letter", "text"):
            with pytest.raises(ModelError, match=sentence):
                scorer_of(endpoint, scoring)
        if kind == "vllm":
            with pytest.raises(ModelError, match=sentence):
                served_generator(endpoint, {NAME}, FACTS, Generation(3))


@pytest.mark.parametrize("template", [PLAIN, BOS + PLAIN, IMAGES_FIRST])
def test_eos_without_bos_is_refused_where_the_server_does_not_tell_bos(checkpoint, start: Start, template):
    folder = checkpoint(template, f"$A {EOS}")
    server, sentence = (
        start(folder),
        r"adds the tokens \[2\] at the end of a chat prompt alone; .*in the job$",
    )
    with client(server) as endpoint:
        for scoring in ("letter", "text"):
            with pytest.raises(ModelError, match=sentence):
                scorer_of(endpoint, scoring)
        with pytest.raises(ModelError, match=sentence):
            served_generator(endpoint, {NAME}, FACTS, Generation(3))


@pytest.mark.parametrize("template", [PLAIN, BOS + PLAIN])
def test_eos_without_bos_over_sglang(checkpoint, start: Start, image, template):
    """SGLang knows the token; letters are scored as in the job, and texts not after EOS."""
    folder = checkpoint(template, f"$A {EOS}")
    server, job = start(folder, "sglang"), load_scorer("llava", "letter", CheckpointSource(str(folder)))
    with client(server) as endpoint:
        found = scorer_of(endpoint, "letter").score(QUESTION, [[image]])
        assert server.prompts[-1] == Alone(folder).tokens(letter_prompt(QUESTION), image)
        expected = job.score(QUESTION, [[image]])
        np.testing.assert_allclose(log_softmax(found.logits), log_softmax(expected.logits), atol=1e-4)
        with pytest.raises(ModelError, match=r"the tokens \[2\] between prompt and answer"):
            scorer_of(endpoint, "text")
        generator = served_generator(endpoint, {NAME}, FACTS, Generation(4))
        in_job = Generator(job.chat, Generation(4))
        assert generator.replies(QUESTION, [[image]]) == in_job.replies(QUESTION, [[image]])
        assert server.prompts[-1] == Alone(folder).tokens(letter_prompt(QUESTION), image)


@pytest.mark.parametrize("single", [f"{BOS} $A", f"{BOS} $A {EOS}"])
def test_two_bos_of_a_tokenizer_that_does_not_name_it(checkpoint, start: Start, image, single):
    """Transformers would pass both to the model."""
    folder = checkpoint(BOS + PLAIN, single, bos_token=None)
    assert times_at_start(Alone(folder).tokens(letter_prompt(QUESTION), image), [1]) == 2
    sentence = (
        r"template and its tokenizer both write '<s>', which the model would read twice; set `bos_token`"
    )
    with pytest.raises(ModelError, match=sentence):
        load_scorer("llava", "letter", CheckpointSource(str(folder))).score(QUESTION, [[image]])
    with (
        client(start(folder, "sglang")) as endpoint,
        pytest.raises(ModelError, match=r"begins with 2, and one"),
    ):
        scorer_of(endpoint, "letter")
    # vLLM does as it is asked.
    server = start(folder)
    with client(server) as endpoint:
        scorer_of(endpoint, "letter").score(QUESTION, [[image]])
        assert times_at_start(server.prompts[-1], [1]) == 1 and server.prompts[-1][-1] != 2


@pytest.mark.parametrize(
    ("added", "plain", "before", "after", "are_added"),
    [
        ([1, 5, 6], [5, 6], [1], [], True),
        ([1, 1, 5], [1, 5], [1], [], False),
        ([1, 5, 6, 2], [5, 6], [1], [2], True),
        ([1, 1, 5, 2], [1, 5], [1], [2], False),
        ([7, 8, 5], [5], [7, 8], [], True),
        ([5, 6, 2], [5, 6], [], [2], True),
        # The prompt begins with two equal tokens, of images.
        ([3, 3, 5, 2], [3, 3, 5], [], [2], True),
        ([1, 3, 3, 5], [3, 3, 5], [1], [], True),
        ([5, 6], [5, 6], [], [], False),
        # A tokenizer that changes the prompt.
        ([1, 9], [5, 6], [], [], True),
    ],
)
def test_what_a_tokenizer_adds(added, plain, before, after, are_added):
    found = SpecialTokens.of(added, plain)
    assert found == SpecialTokens(before, after, are_added, added if are_added else plain)
    assert found.before_answer == (after if are_added else [])
