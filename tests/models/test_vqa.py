"""What VQA heads are refused for; test_classify.py loads whole models."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from benchc.models.chat import ChatModel
from benchc.models.protocol import ModelError
from benchc.models.vqa import BlipModel, ClosedListModel, VqaModel


def closed_list(labels: dict[int, str], **config: Any) -> ClosedListModel:
    model = SimpleNamespace(config=SimpleNamespace(id2label=labels, **config))
    return ClosedListModel(model, None, {"model": "m"})


def test_answers_are_in_the_order_of_the_logits():
    assert closed_list({1: "no", 0: "yes", 2: "3"}).labels == ["yes", "no", "3"]
    # Labels that transformers makes up, of which one may be named so.
    assert closed_list({0: "LABEL_0", 1: "yes"}).labels == ["LABEL_0", "yes"]
    assert closed_list({0: "LABEL_1", 1: "LABEL_0"}).labels == ["LABEL_1", "LABEL_0"]
    with pytest.raises(ModelError, match=r"^m: config\.json does not name the answers of its classifier"):
        closed_list({0: "LABEL_0", 1: "LABEL_1"})


@pytest.mark.parametrize("patches", [1, 200])
def test_patches_that_are_drawn_at_random_are_refused(patches):
    # -1 is ViLT's way to say all (transformers, models/vilt/configuration_vilt.py).
    assert closed_list({0: "1", 1: "2"}, max_image_length=-1).labels == ["1", "2"]
    with pytest.raises(
        ModelError, match=rf"^m: draws {patches} patches of a larger image at random .* to -1 in"
    ):
        closed_list({0: "yes"}, max_image_length=patches)


@pytest.mark.parametrize(
    ("kind", "limit", "reason"),
    [(VqaModel, 7, "max_position_embeddings in config.json"), (BlipModel, 35, "BLIP's code cuts it off")],
)
def test_a_question_has_as_many_tokens_as_the_model_reads(kind, limit, reason):
    model = kind.__new__(kind)
    text = SimpleNamespace(max_position_embeddings=7)
    model.model = SimpleNamespace(config=SimpleNamespace(get_text_config=lambda: text))
    model.identity = {"model": "m"}
    for tokens in (1, limit):
        model.require_context(tokens)
    with pytest.raises(
        ModelError, match=rf"^m: the question has {limit + 1} tokens, but .* {limit} \({reason}\)"
    ):
        model.require_context(limit + 1)
    text.max_position_embeddings = None
    if kind is VqaModel:
        model.require_context(10**6)
    assert model.render("Which?", 1) == "Which?"


def blip(vocabulary: dict[str, int], size: int = 12, bos: int = 10) -> BlipModel:
    text = SimpleNamespace(vocab_size=size, bos_token_id=bos, sep_token_id=3)
    vision = torch.nn.Sequential(torch.nn.LayerNorm(2, eps=1e-5), torch.nn.Linear(2, 2))
    network = SimpleNamespace(config=SimpleNamespace(text_config=text), vision_model=vision, text_decoder="d")
    processor = SimpleNamespace(tokenizer=SimpleNamespace(get_vocab=lambda: vocabulary))
    return BlipModel(network, processor, {"model": "m"})


@pytest.mark.parametrize(
    ("vocabulary", "size", "start"),
    [
        ({}, 12, 11),  # after [DEC], the BOS token
        ({"[ENC]": 5}, 12, 5),
        ({"[ENC]": 0}, 12, 0),
        ({"[ENC]": 12}, 13, 12),
        ({}, 11, None),
        *(({"[ENC]": 12}, size, None) for size in (12, 11)),
    ],
)
def test_a_question_of_blip_begins_with_its_own_token(vocabulary, size, start, monkeypatch):
    if start is None:
        with pytest.raises(
            ModelError, match=r"^m: has no embedding of \[ENC\], token 1[12], with which BLIP be"
        ):
            blip(vocabulary, size)
        return
    model = blip(vocabulary, size)
    ids = torch.tensor([[2, 7, 3], [2, 8, 3]])
    monkeypatch.setattr(ChatModel, "encode", lambda *_: {"input_ids": ids, "pixel_values": "pixels"})
    found = model.encode("?", [[np.zeros((2, 2, 3), np.uint8)]])
    assert found["input_ids"].tolist() == [[start, 7, 3], [start, 8, 3]] and found["pixel_values"] == "pixels"
    assert ids[0, 0] == 2  # its encoder keeps them


def test_blip_answers_as_its_authors_call_it():
    # BLIP at 056a169: models/vit.py has epsilon 1e-6, and generate of models/blip_vqa.py 3 beams.
    model = blip({})
    assert model.model.vision_model[0].eps == 1e-6
    answer = {"num_beams": 3, "interpolate_pos_encoding": True}
    assert [model.search(most) for most in (4, 9, 50)] == [
        {"max_new_tokens": most, **answer} for most in (4, 9, 9)
    ]
    assert (model.end_tokens, model.decoder, model.before_answer({}), model.context()) == ([3], "d", 1, 35)
    assert model.answer_tokens(torch.tensor([[10, 7, 3]]), {}).tolist() == [[7, 3]]
