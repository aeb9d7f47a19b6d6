"""The loss of an answer by hand, and what its tokens see; test_tuning.py tunes whole models."""

import io
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from benchc.models.encoding import Encoded
from benchc.models.question import Question
from benchc.models.tuning.examples import Example, answer_loss, extended
from tests.models.bigram import BigramChat, ids, log_likelihood


def png(grey: int) -> bytes:
    file = io.BytesIO()
    Image.fromarray(np.full((2, 3, 3), grey, np.uint8)).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize(("prompt", "separator"), [("which x", " "), ("which ", "")])
@pytest.mark.parametrize("answer", ["red", "be", "b"])
def test_the_loss_is_the_mean_over_the_tokens_of_the_answer(prompt, separator, answer):
    chat: Any = BigramChat(shares_prompt=True)
    seen: list[Any] = []

    def encode(question: Question, variants: Any) -> Encoded:
        seen.append((question, [[int(image[0, 0, 0]) for image in images] for images in variants]))
        return Encoded(prompt, (), 1, {"input_ids": torch.tensor([ids(prompt)])}, independent=True)

    scorer: Any = SimpleNamespace(chat=chat, encode=encode)
    question = Question("?", ("red", "b"))
    loss = answer_loss(scorer, Example(question, answer, (png(3), png(9))))
    tokens = separator + answer
    assert loss.item() == pytest.approx(-log_likelihood(prompt[-1], tokens) / len(tokens), rel=1e-5)
    assert seen == [(question, [[3, 9]])]
    # The last token of the answer is not read, but has a place in the context.
    assert chat.positions == len(prompt + tokens)
    assert chat.calls == [("forgotten", False), (False, False)]


@pytest.mark.parametrize("tokens", [[], [7], [7, 8]])
def test_what_has_a_value_for_each_token_is_longer(tokens):
    inputs: dict[str, Any] = {
        "input_ids": torch.tensor([[1, 2]], dtype=torch.int32),
        "attention_mask": torch.tensor([[0, 1]]),
        "mm_token_type_ids": torch.tensor([[3, 0]]),
        "token_type_ids": torch.tensor([[4, 5]]),
        "cross_attention_mask": torch.tensor([[[1, 0], [1, 1]]]),
        "image_embeds_position_mask": torch.tensor([[1, 0]]),
        "pixel_values": torch.zeros(1, 2),
    }
    longer, more = extended(inputs, tokens), len(tokens)
    assert longer["input_ids"].tolist() == [[1, 2, *tokens]] and longer["input_ids"].dtype == torch.int32
    assert longer["attention_mask"].tolist() == [[0, 1] + [1] * more]
    assert longer["mm_token_type_ids"].tolist() == [[3, 0] + [0] * more]
    assert longer["token_type_ids"].tolist() == [[4, 5] + [5] * more]
    assert longer["cross_attention_mask"].tolist() == [[[1, 0], [1, 1]] + [[1, 1]] * more]
    assert longer["image_embeds_position_mask"].tolist() == [[1, 0] + [0] * more]
    assert longer["pixel_values"] is inputs["pixel_values"]
