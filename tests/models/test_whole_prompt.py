"""Prompt and option in one pass: what the option's tokens see; test_check_models.py loads whole models."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from benchc.models.own_end import FuyuModel
from benchc.models.protocol import ModelError
from benchc.models.whole_prompt import OneImageModel, WholePromptModel


def made(limit: int | None = None) -> WholePromptModel:
    class Settings:
        max_pixels: int

    class Processor:
        valid_kwargs = Settings

    text = SimpleNamespace(max_position_embeddings=limit)
    network = SimpleNamespace(config=SimpleNamespace(get_text_config=lambda: text))
    return WholePromptModel(network, SimpleNamespace(image_processor=Processor()), {"model": "m"})


def test_the_tokens_of_an_option_see_what_the_last_one_of_the_prompt_sees():
    inputs: dict[str, Any] = {
        "input_ids": torch.tensor([[0, 1, 2], [0, 3, 4]]),
        "attention_mask": torch.tensor([[0, 0, 1], [0, 1, 1]]),
        # Of each token, the images that it sees.
        "cross_attention_mask": torch.tensor([[[0, 0], [1, 0], [1, 1]], [[1, 1], [0, 0], [0, 1]]]),
        "image_embeds_position_mask": torch.tensor([[0, 1, 0], [0, 1, 0]]),
        "pixel_values": torch.zeros(2, 5),
    }
    longer = made().extended(inputs, [7, 8])
    assert longer["input_ids"].tolist() == [[0, 1, 2, 7, 8], [0, 3, 4, 7, 8]]
    assert longer["attention_mask"].tolist() == [[0, 0, 1, 1, 1], [0, 1, 1, 1, 1]]
    seen = [[[0, 0], [1, 0], *[[1, 1]] * 3], [[1, 1], [0, 0], *[[0, 1]] * 3]]
    assert longer["cross_attention_mask"].tolist() == seen
    assert longer["image_embeds_position_mask"].tolist() == [[0, 1, 0, 0, 0], [0, 1, 0, 0, 0]]
    assert longer["pixel_values"] is inputs["pixel_values"]
    # An option of one token is not read.
    assert made().extended(inputs, [])["input_ids"].tolist() == [[0, 1, 2], [0, 3, 4]]


def test_prompt_and_option_are_within_the_context():
    inputs = {"input_ids": torch.tensor([[1, 2]])}
    assert made(4).extended(inputs, [7, 8])["input_ids"].shape == (1, 4)
    with pytest.raises(ModelError, match=r"^m: prompt, images and answer have 5 tokens, but the model takes"):
        made(4).extended(inputs, [7, 8, 9])


def test_how_many_images_these_models_take():
    assert (OneImageModel.numbers_of_images, FuyuModel.numbers_of_images) == ((1,), (0, 1))
    assert not OneImageModel.shares_prompt
    model = FuyuModel(None, SimpleNamespace(image_processor=None), {"model": "m"})
    # What begins an answer, which its processor writes after an image alone.
    assert [model.processor_end(images) for images in (0, 1)] == ["", "<0x04>"]
