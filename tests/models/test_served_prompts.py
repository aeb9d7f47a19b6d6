"""A prompt has the same special tokens and system prompt in the job, in a server and in transformers."""

import copy
import dataclasses
import shutil
import unicodedata
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from benchc.endpoint.client import Endpoint
from benchc.hugging_face import transformers
from benchc.models.families.paligemma import TEMPLATE as PALIGEMMA
from benchc.models.generate import Generator
from benchc.models.generation import Generation
from benchc.models.identity import prediction_identity
from benchc.models.load import load_generator, load_scorer
from benchc.models.protocol import CheckpointSource, ModelError, OptionScores, Scorer
from benchc.models.question import Question, letter_prompt, text_prompt
from benchc.models.server.chat import CHAT, DETOKENIZE
from benchc.models.server.generate import ServedGenerator, served_generator
from benchc.models.server.served import served_scorer
from benchc.models.special_tokens import SpecialTokens, times_at_end, times_at_start
from benchc.models.text import TextScorer
from benchc.pixels import Pixels
from tests.models.alone import Alone
from tests.models.bos import ORIGINS, save_with_bos, saved
from tests.models.conftest import NAME, QUESTIONS, SERVERS
from tests.models.test_served import client, close, refused, replying
from tests.models.vllm_like import TinyServer, answering
from tests.models.vqa_heads import save_blip

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


@pytest.fixture
def checkpoint(checkpoints: dict[str, Path], tmp_path: Path) -> Callable[..., Path]:
    return lambda *settings, **names: saved(checkpoints["llava"], tmp_path / "model", *settings, **names)


def scorer_of(endpoint: Endpoint, scoring: str) -> Scorer:
    return served_scorer(endpoint, {NAME}, FACTS, scoring, 20)


def generator_of(endpoint: Endpoint) -> ServedGenerator:
    return served_generator(endpoint, {NAME}, FACTS, Generation(4))


def all_refused(server: TinyServer, sentence: str, *, generator: bool = True) -> None:
    """Check that no way of asking the server is allowed."""
    with client(server) as endpoint:
        for ask in (partial(scorer_of, scoring="letter"), partial(scorer_of, scoring="text"), generator_of):
            if ask is not generator_of or generator:
                with pytest.raises(ModelError, match=sentence):
                    ask(endpoint)


# Template, what the tokenizer writes, its attributes, and how many BOS and EOS are at the ends of the prompt.
RIGHT = {
    "none": (PLAIN, None, {}, (0, 0)),
    "BOS by template": (BOS + PLAIN, None, {}, (1, 0)),
    "BOS by template and tokenizer": (BOS + PLAIN, f"{BOS} $A", {}, (1, 0)),
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
def test_both_ends_of_a_prompt_are_those_of_transformers(checkpoint, start, image, name):
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
                close(found, letters)
                assert generator_of(endpoint).replies(QUESTION, [[image]]) == answers
                assert server.prompts[-1] == expected
            if texts is None:
                sentence = r"adds the tokens \[2\] between prompt and answer, .*letter`"
                with pytest.raises(ModelError, match=sentence):
                    scorer_of(endpoint, "text")
            elif is_same_answer:
                found = scorer_of(endpoint, "text").score(QUESTION, [[image]])
                np.testing.assert_allclose(found.logits, texts.logits, atol=1e-4)


def reporting(server: TinyServer, change: Callable[[list[int]], list[int]]) -> None:
    """Let the server say that the model read other tokens."""

    def changed(answer: dict[str, Any]) -> None:
        if answer["prompt_token_ids"] is not None:
            answer["prompt_token_ids"] = change(answer["prompt_token_ids"])

    server.fault = replying(CHAT, changed, server)


def like_paligemma(tokens: list[int]) -> list[int]:
    """Return the prompt as vLLM makes it for PaliGemma 2: images, BOS, text, line break."""
    image, line_break = 3, 300
    assert tokens[0] == 1 and tokens.count(image) > 1
    return [image] * tokens.count(image) + [token for token in tokens if token != image] + [line_break]


# As PaliGemma 2's, and of a server that does not tell its prompt.
@pytest.mark.parametrize("change", [like_paligemma, lambda tokens: []])
def test_a_prompt_that_is_not_that_of_transformers_alone_may_be_right(checkpoint, start, change):
    server = start(checkpoint(PLAIN, f"{BOS} $A"))
    reporting(server, change)
    with client(server) as endpoint:
        scorer_of(endpoint, "letter")
        generator_of(endpoint)


@pytest.mark.parametrize("single", [f"{BOS} $A", f"{BOS} $A {EOS}"])
@pytest.mark.parametrize("count", [0, 2])
def test_another_number_of_bos_behind_images_is_refused(checkpoint, start, single, count):
    server = start(checkpoint(PLAIN, single))
    reporting(server, lambda tokens: [3, 3, *[1] * count, *(each for each in tokens if each not in (1, 3))])
    with client(server) as endpoint, pytest.raises(ModelError, match=rf"\[1\], .* begins with {count}, and"):
        scorer_of(endpoint, "letter")


@pytest.mark.parametrize("kind", SERVERS)
@pytest.mark.parametrize(
    ("template", "single", "found", "due"),
    [
        *((template, f"{BOS} $A", {"bos": bos}, 1) for template in (PLAIN, BOS + PLAIN) for bos in (0, 2)),
        (PLAIN, f"{BOS} $A {EOS}", {"eos": 0}, 1),
        (PLAIN, f"{BOS} $A {EOS}", {"eos": 2}, 1),
        (BOS + PLAIN, f"{BOS} $A {EOS}", {"eos": 1}, 0),
        (BOS + TURNS, f"{BOS} $A {EOS}", {"eos": 2}, 1),
    ],
)
def test_another_number_in_the_server_is_refused(checkpoint, start, kind, template, single, found, due):
    server = start(checkpoint(template, single), kind, **found)
    [(name, number)] = found.items()
    token, verb = (1, "begins") if name == "bos" else (2, "ends")
    sentence = rf"\[{token}\], a prompt in the server {verb} with {number}, and one of .* with {due}; upd"
    whole = rf"^{NAME}: of its tokenizer's special tokens {sentence}"
    all_refused(server, whole, generator=kind == "vllm")


@pytest.mark.parametrize("template", [PLAIN, BOS + PLAIN, IMAGES_FIRST])
def test_eos_without_bos_is_refused_where_the_server_does_not_tell_bos(checkpoint, start, template):
    sentence = r"adds the tokens \[2\] at the end of a chat prompt alone; .*in the job$"
    all_refused(start(checkpoint(template, f"$A {EOS}")), sentence)


@pytest.mark.parametrize("template", [PLAIN, BOS + PLAIN])
def test_eos_without_bos_over_sglang(checkpoint, start, image, template):
    """SGLang knows the token; letters are scored as in the job, and texts not after EOS."""
    folder = checkpoint(template, f"$A {EOS}")
    server, job = start(folder, "sglang"), load_scorer("llava", "letter", CheckpointSource(str(folder)))
    expected = Alone(folder).tokens(letter_prompt(QUESTION), image)
    with client(server) as endpoint:
        close(scorer_of(endpoint, "letter").score(QUESTION, [[image]]), job.score(QUESTION, [[image]]))
        assert server.prompts[-1] == expected
        with pytest.raises(ModelError, match=r"the tokens \[2\] between prompt and answer"):
            scorer_of(endpoint, "text")
        replies = generator_of(endpoint).replies(QUESTION, [[image]])
        assert replies == Generator(job.chat, Generation(4)).replies(QUESTION, [[image]])
        assert server.prompts[-1] == expected


@pytest.mark.parametrize("single", [f"{BOS} $A", f"{BOS} $A {EOS}"])
def test_two_bos_of_a_tokenizer_that_does_not_name_it(checkpoint, start, image, single):
    """Transformers would pass both to the model."""
    folder = checkpoint(BOS + PLAIN, single, bos_token=None)
    assert times_at_start(Alone(folder).tokens(letter_prompt(QUESTION), image), [1]) == 2
    sentence = "template and its tokenizer both write '<s>', which the model would read twice; set `bos_tok"
    with pytest.raises(ModelError, match=sentence):
        load_scorer("llava", "letter", CheckpointSource(str(folder))).score(QUESTION, [[image]])
    server = start(folder, "sglang")
    with client(server) as endpoint, pytest.raises(ModelError, match="begins with 2, and one"):
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


QUESTION = QUESTIONS[0]
# As templates of Qwen3: before an answer that is given, but not before one that is generated.
THOUGHT = "<think>\n\n</think>\n\n"


def scored(
    server: TinyServer, image: np.ndarray, scoring: str, question: Question = QUESTION
) -> OptionScores:
    with client(server) as endpoint:
        return served_scorer(endpoint, {NAME}, FACTS, scoring, 20).score(question, [[image]])


def test_the_origin_of_bos_is_in_the_identity(checkpoints, tmp_path, start):
    templates = set()
    for name, origin in ORIGINS.items():
        with client(start(save_with_bos(checkpoints["llava"], tmp_path / name, origin))) as endpoint:
            of_answers = generator_of(endpoint).identity()
            of_letters = scorer_of(endpoint, "letter").identity()
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
        r"the server's chat template turns the answer '(A|this)' into ' <think>\\n\\n</think>\\n\\n"
        r"(A|this)'; start the server with one that .*--default-chat-template-kwargs\)$"
    )
    refused(server, sentence, scoring)


def test_a_thought_of_the_prompt_is_not_scored(checkpoints, start, image):
    server, alone = start(checkpoints["llava"]), Alone(checkpoints["llava"])
    template = written(server.processor.chat_template, THOUGHT, THOUGHT)
    server.processor.chat_template = alone.processor.chat_template = template
    found = scored(server, image, "text_mean")
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
    assert np.isfinite(scored(server, image, "text", Question("Which one?", options)).logits).all()


@pytest.mark.parametrize("scoring", ["letter", "text"])
@pytest.mark.parametrize("kind", SERVERS)
def test_penalties_of_the_checkpoint_change_no_score(checkpoints, start, image, kind, scoring):
    servers = (start(checkpoints["llava"], kind, penalty=penalty) for penalty in (1.0, 3.0))
    assert np.array_equal(*(scored(server, image, scoring).logits for server in servers))


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
        scored(server, image, scoring)
        prompts.append(sorted(server.prompts))
    assert prompts[0] == prompts[1]


def test_a_server_without_detokenize_is_refused(checkpoints, start):
    server = start(checkpoints["llava"], fault=answering(DETOKENIZE, {"detail": "Not Found"}, 404))
    refused(server, r"refuses /detokenize \(404 .*Not Found", "text")


SYSTEM = "Count the black ones only."
OTHER = "Which colour is the square?"
# As of llava-hf: a plain text in place of parts would be left out.
BY_TYPE = (
    "{% for message in messages %}"
    "{% if message['role'] != 'system' %}{{ message['role'].upper() + ': ' }}{% endif %}"
    "{% for part in message['content'] | selectattr('type', 'equalto', 'image') %}"
    "{{ '<image>\n' }}{% endfor %}"
    "{% for part in message['content'] | selectattr('type', 'equalto', 'text') %}"
    "{{ part['text'] + ' ' }}{% endfor %}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}"
)
NO_SYSTEM = BY_TYPE.replace("in messages %}", "in messages if message['role'] != 'system' %}")
# Writes the list of parts as Python does.
TEXT_ALONE = (
    "{% for message in messages %}{% if message['role'] == 'system' %}{{ message['content'] }}{% else %}"
    + BY_TYPE.removeprefix("{% for message in messages %}").replace(
        "{% endfor %}{% if add", "{% endif %}{% endfor %}{% if add"
    )
)

NO_PLACE = "no place for a system prompt; remove `system_prompt`"
# Of a server whose template refuses the role, or leaves it out.
RAISING = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('No system role') }}{% endif %}" + NO_SYSTEM
)
CHECK = r"\(400 No system role\).*check .*that its chat template takes a `system_prompt`"

Variants = list[list[Pixels]]


@pytest.fixture(scope="module")
def folder(checkpoints: Mapping[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a LLaVA with the template of llava-hf."""
    return with_template(checkpoints["llava"], tmp_path_factory.mktemp("system") / "llava", BY_TYPE)


def with_template(checkpoint: Path, folder: Path, template: str) -> Path:
    shutil.copytree(checkpoint, folder)
    processor = transformers.AutoProcessor.from_pretrained(folder)
    processor.chat_template = template
    processor.save_pretrained(folder)
    return folder


def by_transformers(folder: Path, variant: list[Pixels], system: str | None) -> tuple[Any, torch.Tensor]:
    """Return the processor, and the logits [vocabulary] after the prompt of the first question."""
    processor = transformers.AutoProcessor.from_pretrained(folder, backend="pil")
    model = transformers.AutoModelForImageTextToText.from_pretrained(folder).eval()
    parts = [{"type": "image"}, {"type": "text", "text": letter_prompt(QUESTIONS[0])}]
    before = [{"role": "system", "content": [{"type": "text", "text": system}]}] if system else []
    prompt = processor.apply_chat_template(
        [*before, {"role": "user", "content": parts}], add_generation_prompt=True, tokenize=False
    )
    inputs = processor(text=prompt, images=[Image.fromarray(variant[0])], return_tensors="pt")
    with torch.inference_mode():
        return processor, model(**inputs).logits[0, -1]


def letters(processor: Any) -> list[int]:
    return [processor.tokenizer(f" {letter}", add_special_tokens=False)["input_ids"][-1] for letter in "ABC"]


def test_the_system_prompt_is_in_the_logits_and_in_the_key(folder, variants):
    found = load_scorer("llava", "letter", CheckpointSource(str(folder), system_prompt=SYSTEM))
    scores = found.score(QUESTIONS[0], variants[:1]).logits[0]
    processor, expected = by_transformers(folder, variants[0], SYSTEM)
    np.testing.assert_allclose(scores, expected[letters(processor)], atol=1e-4)
    _, without = by_transformers(folder, variants[0], None)
    assert np.abs(scores - without[letters(processor)].numpy()).max() > 0.01
    plain = load_scorer("llava", "letter", CheckpointSource(str(folder)))
    found = plain.score(QUESTIONS[0], variants[:1]).logits[0]
    np.testing.assert_allclose(found, without[letters(processor)], atol=1e-4)
    sources = (CheckpointSource(str(folder), system_prompt=text) for text in (None, SYSTEM, OTHER))
    scorers = [load_scorer("llava", "letter", source) for source in sources]
    identities = [prediction_identity(scorer, None, "letter") for scorer in scorers]
    assert [identity["system_prompt"] for identity in identities] == ["", SYSTEM, OTHER]
    assert len({tuple(identity.items()) for identity in identities}) == 3


@pytest.mark.parametrize(
    ("family", "token"), [("llava", "<image>"), ("internvl", "<IMG_CONTEXT>"), ("llava", "<start_of_image>")]
)
def test_a_system_prompt_with_the_placeholder_of_an_image_is_refused(checkpoints, monkeypatch, family, token):
    # As of Gemma 3, whose template writes another placeholder than the tokens of an image.
    monkeypatch.setattr(transformers.LlavaProcessor, "boi_token", "<start_of_image>", raising=False)
    source = CheckpointSource(str(checkpoints[family]), system_prompt=f"Look at {token} first.")
    with pytest.raises(ModelError, match=f"`system_prompt` of the model in the catalogue has '{token}', w"):
        load_scorer(family, "letter", source)
    # The placeholder of other models is a text.
    words = "Look at <|image_pad|> first."
    load_scorer(family, "letter", dataclasses.replace(source, system_prompt=words))


@pytest.mark.parametrize("kind", SERVERS)
@pytest.mark.parametrize("scoring", ["letter", "text"])
def test_a_server_gets_the_same_prompt_as_the_job(folder, variants, start, kind, scoring):
    in_job = load_scorer("llava", scoring, CheckpointSource(str(folder), system_prompt=SYSTEM))
    expected = in_job.score(QUESTIONS[0], variants[:1]).logits[0].astype(np.float64)
    server = start(folder, kind, max_logprobs=4096)
    facts = {"model": NAME, "device": "server", "system_prompt": SYSTEM}
    with client(server) as endpoint:
        served = served_scorer(endpoint, {NAME}, facts, scoring, 4096)
        found = served.score(QUESTIONS[0], variants[:1]).logits[0]
        plain = served_scorer(endpoint, {NAME}, {**facts, "system_prompt": ""}, scoring, 4096)
        other = plain.score(QUESTIONS[0], variants[:1]).logits[0]
    # A letter's score in the job is a logit, on a server a log-probability.
    shift = expected[0] - found[0] if scoring == "letter" else 0.0
    np.testing.assert_allclose(found + shift, expected, atol=1e-4)
    assert np.abs(np.diff(other) - np.diff(expected)).max() > 1e-3
    assert served.identity()["system_prompt"] == SYSTEM
    assert served.prompt(QUESTIONS[0], 1) != plain.prompt(QUESTIONS[0], 1)


def test_a_server_answers_in_its_own_words_to_the_same_prompt(folder, variants, start):
    source = CheckpointSource(str(folder), system_prompt=SYSTEM)
    expected = load_generator("llava", source, Generation(6)).replies(QUESTIONS[0], variants[:2])
    server = start(folder)
    with client(server) as endpoint:
        served = served_generator(endpoint, {NAME}, {"system_prompt": SYSTEM}, Generation(6))
        assert served.replies(QUESTIONS[0], variants[:2]) == expected
    roles = [[each["role"] for each in body.get("messages", ())] for _, body in server.answered]
    assert roles[-1] == ["system", "user"]


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        *((each, NO_PLACE) for each in (NO_SYSTEM, TEXT_ALONE, PALIGEMMA)),
        ("{{ raise_exception('No system role') }}", "template fails .*No system role.*or remove `system_pr"),
    ],
    ids=["left out", "as a list", "paligemma", "raises"],
)
def test_a_template_without_a_system_role_is_refused(scorers, template, sentence):
    chat = scorers["llava", "letter"].chat
    processor = copy.copy(chat.processor)
    processor.chat_template = template
    other = dataclasses.replace(chat, processor=processor, system_prompt=SYSTEM, _rendered={})
    with pytest.raises(ModelError, match=sentence) as caught:
        other.render(OTHER, 1)
    with pytest.raises(ModelError, match=sentence):  # also where the question has the same words
        other.render(f"{OTHER} {SYSTEM}", 1)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "template", "sentence"),
    [
        *((kind, NO_SYSTEM, "server's chat template has no place for a system prompt") for kind in SERVERS),
        ("vllm", RAISING, CHECK),
    ],
)
def test_a_server_without_a_system_role_is_refused(checkpoints, tmp_path, start, kind, template, sentence):
    server = start(with_template(checkpoints["llava"], tmp_path / "llava", template), kind)
    with client(server) as endpoint:
        for ask in (
            lambda facts: served_scorer(endpoint, {NAME}, facts, "letter", 20),
            lambda facts: served_generator(endpoint, {NAME}, facts, Generation(4)),
        ):
            with pytest.raises(ModelError, match=sentence):
                ask({"system_prompt": SYSTEM})
        for scoring in ("letter", "text"):
            served_scorer(endpoint, {NAME}, {"system_prompt": ""}, scoring, 20)


def test_a_vqa_head_has_no_system_prompt(tmp_path: Path) -> None:
    save_blip(tmp_path)
    with pytest.raises(ModelError, match="has no chat template, and so no system prompt; remove"):
        load_generator(None, CheckpointSource(str(tmp_path), system_prompt=SYSTEM), Generation(4))
