"""Examples to tune a model on: a question, its right answer, and the images that the model is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.nn import functional

from benchc.images import decode
from benchc.models.chat import ChatInterface
from benchc.models.question import Question
from benchc.transparency import Alpha

# Inputs of which there is a value for each token, beside the types of tokens.
MASKS = ("attention_mask", "cross_attention_mask", "image_embeds_position_mask")


@dataclass(frozen=True)
class Example:
    """A question with its right answer, a label or a text of an option.

    ``images``: the encoded files of its images; none of a question that is asked alone.
    """

    question: Question
    answer: str
    images: tuple[bytes, ...] = ()


def answer_loss(scorer: ChatInterface, example: Example, alpha: Alpha = "drop") -> torch.Tensor:
    """Return the mean cross-entropy of the tokens of the answer, given prompt and images.

    The tokens are those whose probabilities the scoring reads; the prompt's own have no part in it. Raises
    NoTextOnlyError for an example without images, of a model that needs one.
    """
    chat = scorer.chat
    encoded = scorer.encode(example.question, [[decode(data, alpha) for data in example.images]])
    rendered = encoded.prompt
    tokens = chat.tokens_after(rendered, chat.separator(rendered) + example.answer)
    inputs = extended(chat.on_device(encoded.inputs), tokens[:-1])
    chat.require_context(inputs["input_ids"].shape[1] + 1)
    chat.forget_images()
    logits = chat.forward({**inputs, "use_cache": False}, last_only=False).logits[0, -len(tokens) :]
    return functional.cross_entropy(logits.float(), torch.tensor(tokens, device=logits.device))


def extended(inputs: Mapping[str, Any], tokens: Sequence[int]) -> dict[str, Any]:
    """Return the input of a model with ``tokens`` after the prompt, which see what its last one sees."""
    ids = inputs["input_ids"]
    added = torch.tensor([[*tokens]], dtype=ids.dtype, device=ids.device)
    longer = {
        name: torch.cat([values, *[values[:, -1:]] * len(tokens)], dim=1)
        for name, values in inputs.items()
        if name in MASKS or name.endswith("token_type_ids")
    }
    return {**inputs, **longer, "input_ids": torch.cat([ids, added], dim=1)}
