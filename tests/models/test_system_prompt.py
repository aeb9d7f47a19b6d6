"""A system prompt of the catalogue reaches the model, in the job and over a server, or is refused.

The oracles call transformers alone: the template with a message of the role ``system``.
"""

import copy
import dataclasses
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from benchc.endpoint.client import Endpoint, EndpointSettings
from benchc.hugging_face import transformers
from benchc.models.families.paligemma import TEMPLATE as PALIGEMMA
from benchc.models.generation import Generation
from benchc.models.identity import prediction_identity
from benchc.models.load import load_generator, load_scorer
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.question import letter_prompt
from benchc.models.server.generate import served_generator
from benchc.models.server.served import served_scorer
from benchc.pixels import Pixels
from tests.models.conftest import NAME, QUESTIONS
from tests.models.sglang_like import SglangLikeServer
from tests.models.vllm_like import TinyServer
from tests.models.vqa_heads import save_blip

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


def test_the_system_prompt_is_in_the_logits(folder: Path, variants: Variants) -> None:
    found = load_scorer("llava", "letter", CheckpointSource(str(folder), system_prompt=SYSTEM))
    scores = found.score(QUESTIONS[0], variants[:1]).logits[0]
    processor, expected = by_transformers(folder, variants[0], SYSTEM)
    np.testing.assert_allclose(scores, expected[letters(processor)], atol=1e-4)
    _, without = by_transformers(folder, variants[0], None)
    assert np.abs(scores - without[letters(processor)].numpy()).max() > 0.01
    plain = load_scorer("llava", "letter", CheckpointSource(str(folder)))
    np.testing.assert_allclose(
        plain.score(QUESTIONS[0], variants[:1]).logits[0], without[letters(processor)], atol=1e-4
    )


def test_the_system_prompt_is_part_of_the_key(folder: Path) -> None:
    identities = [
        prediction_identity(
            load_scorer("llava", "letter", CheckpointSource(str(folder), system_prompt=text)), None, "letter"
        )
        for text in (None, SYSTEM, OTHER)
    ]
    assert [identity["system_prompt"] for identity in identities] == ["", SYSTEM, OTHER]
    assert len({tuple(identity.items()) for identity in identities}) == 3


@pytest.mark.parametrize(
    ("family", "token"),
    [("llava", "<image>"), ("internvl", "<IMG_CONTEXT>"), ("llava", "<start_of_image>")],
)
def test_a_system_prompt_with_the_placeholder_of_an_image_is_refused(
    checkpoints: Mapping[str, Path], monkeypatch: pytest.MonkeyPatch, family: str, token: str
) -> None:
    # As of Gemma 3, whose template writes another placeholder than the tokens of an image.
    monkeypatch.setattr(transformers.LlavaProcessor, "boi_token", "<start_of_image>", raising=False)
    source = CheckpointSource(str(checkpoints[family]), system_prompt=f"Look at {token} first.")
    with pytest.raises(
        ModelError, match=f"`system_prompt` of the model in the catalogue has '{token}', which"
    ):
        load_scorer(family, "letter", source)
    # The placeholder of other models is a text.
    words = "Look at <|image_pad|> first."
    load_scorer(family, "letter", dataclasses.replace(source, system_prompt=words))


@pytest.mark.parametrize("server_class", [TinyServer, SglangLikeServer])
@pytest.mark.parametrize("scoring", ["letter", "text"])
def test_a_server_gets_the_same_prompt_as_the_job(
    folder: Path, variants: Variants, server_class: type[TinyServer], scoring: str
) -> None:
    in_job = load_scorer("llava", scoring, CheckpointSource(str(folder), system_prompt=SYSTEM))
    expected = in_job.score(QUESTIONS[0], variants[:1]).logits[0].astype(np.float64)
    settings = {} if server_class is SglangLikeServer else {"max_logprobs": 4096}
    server = server_class(folder, NAME, **settings).start()
    try:
        with Endpoint(EndpointSettings(server.url, attempts=1)) as endpoint:
            facts = {"model": NAME, "device": "server", "system_prompt": SYSTEM}
            served = served_scorer(endpoint, {NAME}, facts, scoring, 4096)
            found = served.score(QUESTIONS[0], variants[:1]).logits[0]
            plain = served_scorer(endpoint, {NAME}, {**facts, "system_prompt": ""}, scoring, 4096)
            other = plain.score(QUESTIONS[0], variants[:1]).logits[0]
    finally:
        server.stop()
    # A letter's score in the job is a logit, on a server a log-probability.
    shift = expected[0] - found[0] if scoring == "letter" else 0.0
    np.testing.assert_allclose(found + shift, expected, atol=1e-4)
    assert np.abs(np.diff(other) - np.diff(expected)).max() > 1e-3
    assert served.identity()["system_prompt"] == SYSTEM
    assert served.prompt(QUESTIONS[0], 1) != plain.prompt(QUESTIONS[0], 1)


def test_a_server_answers_in_its_own_words_to_the_same_prompt_as_the_job(
    folder: Path, variants: Variants
) -> None:
    source = CheckpointSource(str(folder), system_prompt=SYSTEM)
    expected = load_generator("llava", source, Generation(6)).replies(QUESTIONS[0], variants[:2])
    server = TinyServer(folder, NAME).start()
    try:
        with Endpoint(EndpointSettings(server.url, attempts=1)) as endpoint:
            served = served_generator(endpoint, {NAME}, {"system_prompt": SYSTEM}, Generation(6))
            assert served.replies(QUESTIONS[0], variants[:2]) == expected
    finally:
        server.stop()
    roles = [[each["role"] for each in body.get("messages", ())] for _, body in server.answered]
    assert roles[-1] == ["system", "user"]


@pytest.mark.parametrize(
    ("template", "sentence"),
    [
        (NO_SYSTEM, "no place for a system prompt; remove `system_prompt`"),
        (TEXT_ALONE, "no place for a system prompt; remove `system_prompt`"),
        (PALIGEMMA, "no place for a system prompt; remove `system_prompt`"),
        (
            "{{ raise_exception('No system role') }}",
            "template fails .*No system role.*or remove `system_prompt`",
        ),
    ],
    ids=["left out", "as a list", "paligemma", "raises"],
)
def test_a_template_without_a_system_role_is_refused(
    scorers: Mapping[tuple[str, str], Any], template: str, sentence: str
) -> None:
    chat = scorers["llava", "letter"].chat
    processor = copy.copy(chat.processor)
    processor.chat_template = template
    other = dataclasses.replace(chat, processor=processor, system_prompt=SYSTEM, _rendered={})
    with pytest.raises(ModelError, match=sentence) as caught:
        other.render(OTHER, 1)
    with pytest.raises(ModelError, match=sentence):  # also where the question has the same words
        other.render(f"{OTHER} {SYSTEM}", 1)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("server_class", [TinyServer, SglangLikeServer])
def test_a_server_whose_template_has_no_system_role_is_refused(
    checkpoints: Mapping[str, Path], tmp_path: Path, server_class: type[TinyServer]
) -> None:
    folder = with_template(checkpoints["llava"], tmp_path / "llava", NO_SYSTEM)
    server = server_class(folder, NAME).start()
    facts = {"system_prompt": SYSTEM}
    try:
        with Endpoint(EndpointSettings(server.url, attempts=1)) as endpoint:
            with pytest.raises(ModelError, match="server's chat template has no place for a system prompt"):
                served_scorer(endpoint, {NAME}, facts, "letter", 20)
            with pytest.raises(ModelError, match="template has no place for a system prompt"):
                served_generator(endpoint, {NAME}, facts, Generation(4))
            served_scorer(endpoint, {NAME}, {"system_prompt": ""}, "text", 20)
    finally:
        server.stop()


def test_a_server_that_refuses_a_system_role_says_what_to_check(
    checkpoints: Mapping[str, Path], tmp_path: Path
) -> None:
    raising = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('No system role') }}{% endif %}"
    folder = with_template(checkpoints["llava"], tmp_path / "llava", raising + NO_SYSTEM)
    server = TinyServer(folder, NAME).start()
    sentence = r"\(400 No system role\).*check .*that its chat template takes a `system_prompt`"
    try:
        with Endpoint(EndpointSettings(server.url, attempts=1)) as endpoint:
            with pytest.raises(ModelError, match=sentence):
                served_scorer(endpoint, {NAME}, {"system_prompt": SYSTEM}, "letter", 20)
            with pytest.raises(ModelError, match=sentence):
                served_generator(endpoint, {NAME}, {"system_prompt": SYSTEM}, Generation(4))
            served_scorer(endpoint, {NAME}, {"system_prompt": ""}, "letter", 20)
    finally:
        server.stop()


def test_a_vqa_head_has_no_system_prompt(tmp_path: Path) -> None:
    save_blip(tmp_path)
    with pytest.raises(ModelError, match="has no chat template, and so no system prompt; remove"):
        load_generator(None, CheckpointSource(str(tmp_path), system_prompt=SYSTEM), Generation(4))
