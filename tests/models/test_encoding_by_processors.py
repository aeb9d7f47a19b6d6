"""Prompt and images are encoded as by one call of a processor of transformers for all variants."""

import numpy as np
import pytest
import torch

from benchc.models.encoding import PromptEncoder, joined
from benchc.models.load import load_scorer
from benchc.models.protocol import CheckpointSource
from tests.models.classes.plain import with_bos
from tests.models.conftest import FAMILIES, QUESTIONS


def images(count: int, size: tuple[int, int] = (40, 56), seed: int = 1):
    rng = np.random.default_rng(seed)
    return [[rng.integers(0, 256, (*size, 3), dtype=np.uint8)] for _ in range(count)]


def equal(found, expected) -> bool:
    return found.keys() == expected.keys() and all(torch.equal(found[key], expected[key]) for key in expected)


class Counting:
    """A processor that counts how often it is called, and with how many prompts."""

    def __init__(self, processor):
        self.__dict__["processor"], self.__dict__["calls"] = processor, []

    def __getattr__(self, name):
        return getattr(self.processor, name)

    def __setattr__(self, name, value):
        setattr(self.processor, name, value)

    def __call__(self, text, images, **options):
        self.calls.append(len(text))
        return self.processor(text=text, images=images, **options)


def changing(chat, change):
    """Return an encoder by a processor whose inputs ``change`` adds to, given them and how many prompts."""

    class Changing:
        image_processor, tokenizer = chat.processor.image_processor, chat.processor.tokenizer

        def __call__(self, text, images, **options):
            found = dict(chat.processor(text=text, images=images, **options))
            return found | change(found, len(text))

    return PromptEncoder(Changing())


@pytest.fixture(params=FAMILIES)
def chat(request, checkpoints):
    return load_scorer(request.param, "letter", CheckpointSource(str(checkpoints[request.param]))).chat


def test_a_prompt_is_tokenised_once_for_all_variants_and_units(chat):
    counting = Counting(chat.processor)
    encoder = PromptEncoder(counting)
    first, second = (chat.render(question.question, 1) for question in QUESTIONS[:2])
    whole = PromptEncoder(chat.processor)._called
    # The first time, what is put together is compared with a call for all.
    assert equal(encoder.encode(first, images(5)), whole(first, list(map(pictures, images(5)))))
    assert counting.calls == [1, 5] and encoder.independent(1)
    for seed in (2, 3):
        variants = images(4, seed=seed)
        assert equal(encoder.encode(first, variants), whole(first, list(map(pictures, variants))))
    assert counting.calls == [1, 5]
    # Another prompt, and another size, whose placeholders may differ.
    for prompt, size in ((second, (40, 56)), (second, (80, 30)), (first, (80, 30))):
        variants = images(2, size)
        assert equal(encoder.encode(prompt, variants), whole(prompt, list(map(pictures, variants))))
    assert counting.calls == [1, 5, 1, 1, 1]


def pictures(variant):
    from PIL import Image

    return [Image.fromarray(image) for image in variant]


@pytest.mark.parametrize(("by_template", "by_tokenizer"), [(1, 1), (1, 0), (0, 1), (0, 0)])
def test_a_prompt_has_one_bos_token_where_template_or_tokenizer_writes_it(chat, by_template, by_tokenizer):
    processor = with_bos(chat.processor, by_template=bool(by_template), by_tokenizer=bool(by_tokenizer))
    bos = processor.tokenizer.bos_token_id
    rendered = processor.apply_chat_template(
        [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "Which?"}]}], tokenize=False
    )
    encoder = PromptEncoder(processor)
    for count in (1, 3, 2):
        ids = encoder.encode(rendered, images(count))["input_ids"]
        assert (ids == bos).sum(dim=1).tolist() == [max(by_template, by_tokenizer)] * count
        assert (ids[:, 0] == bos).all() == max(by_template, by_tokenizer)


def test_a_bos_token_of_a_question_or_without_a_name(chat):
    processor = with_bos(chat.processor, by_template=False, by_tokenizer=True)
    added = processor.tokenizer.bos_token_id
    rendered = chat.render(f"Which is {processor.tokenizer.bos_token}?", 1)
    assert PromptEncoder(processor).encode(rendered, images(1))["input_ids"][0, 0] == added
    # A tokenizer without a BOS token adds its other special tokens.
    processor.tokenizer.bos_token = None
    rendered = chat.render("Which?", 1)
    assert PromptEncoder(processor).encode(rendered, images(1))["input_ids"][0, 0] == added


def test_inputs_of_units_are_joined_in_order(chat, monkeypatch):
    rendered = chat.render(QUESTIONS[0].question, 1)
    chat.encode(rendered, images(2))
    parts = [chat.encoded(rendered, images(2, seed=seed)) for seed in (5, 6)]
    together = chat.encoded(rendered, images(2, seed=5) + images(2, seed=6))
    whole = joined(parts)
    assert whole.rows == 4 and all(part.independent for part in parts)
    assert equal(whole.inputs, together.inputs)
    # Those of a model that encodes on its device are not joined.
    monkeypatch.setattr(type(chat), "encodes_on_host", False)
    assert not chat.encoded(rendered, images(2)).independent


def test_tensors_of_another_type_are_not_equal(chat):
    def widened(found, count):
        # As of a processor whose types depend on the batch.
        return {"input_ids": found["input_ids"].to(torch.int32 if count == 1 else torch.int64)}

    encoder = changing(chat, widened)
    rendered = chat.render(QUESTIONS[0].question, 1)
    for _ in range(2):
        assert encoder.encode(rendered, images(3))["input_ids"].dtype == torch.int64


def test_a_processor_that_packs_a_batch_is_called_with_all_of_it(chat):
    # As of processors whose indices count from the first image of the batch.
    encoder = changing(chat, lambda _, count: {"places": torch.arange(count)})
    rendered = chat.render(QUESTIONS[0].question, 1)
    for count in (3, 2):
        assert encoder.encode(rendered, images(count))["places"].tolist() == list(range(count))
    assert not encoder.independent(1)
