"""Examples to tune a model on: a question, its right answer, and the images that the model is shown."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.nn import functional

from benchc.errors import InputError
from benchc.images import decode
from benchc.models.chat import ChatInterface
from benchc.models.items import Item
from benchc.models.question import Question
from benchc.models.tuning.settings import Modality
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import pool_images
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


def examples_of(pool: Path, items: Mapping[str, Item], scoring: str, modality: Modality) -> list[Example]:
    """Return the items of a pool as examples, in their order; the images are read for ``images`` alone.

    Raises InputError for an item without an answer.
    """
    answers = dict(read_table(pool, POOL, ["id", "answer"]).iter_rows())
    if without := [id_ for id_ in items if answers[id_] is None]:
        raise InputError(f"{pool}: item {without[0]} has no answer to learn; remove it from the sources")
    files: dict[str, tuple[bytes, ...]] = dict.fromkeys(items, ())
    if modality == "images":
        once: dict[str, bytes] = {}  # several items have an image
        files = {
            id_: tuple(once.setdefault(key, data or b"") for key, data in images)
            for id_, images in pool_images(pool, items)
        }
    found = []
    for id_, item in items.items():
        asked = item.question
        texts = asked.letters if scoring == "letter" else asked.texts
        found.append(Example(asked, texts[answers[id_]], files[id_]))
    return found


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
