"""Train a tiny model to answer the demo's questions.

The loss has two parts: that of the answer's tokens, and that of predicting the answer's first token from the
image tokens alone (:func:`image_loss`).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from benchc.demo.tiny.prompts import SCORINGS, encode
from benchc.demo.tiny.settings import TrainingSettings
from benchc.demo.tiny.size import IMAGE_SIDE
from benchc.demo.tiny.steps import pixels_of, take_steps
from benchc.demo.training_set import TrainingSet


def train(
    model: Any,
    processor: Any,
    training_set: TrainingSet,
    settings: TrainingSettings,
    nested: bool,
    label: str = "training",
) -> list[float]:
    """Train ``model`` in place and return the loss of every step.

    ``nested``: the model takes images as [items, images, ...] rather than in one row; ``label``: of the
    progress bar. The same arguments give the same weights on one machine with one number of threads. Raises
    InputError at the first step whose loss is not finite.
    """
    counts = (training_set.item_images >= 0).sum(axis=1)
    text_steps = (
        round(settings.text_share * settings.steps) if settings.scoring == "letter" else settings.steps
    )
    tokens = {scoring: answer_tokens(processor, training_set, scoring) for scoring in SCORINGS}
    image_token = processor.tokenizer.convert_tokens_to_ids(processor.image_token)
    first_tokens = torch.tensor(
        [
            tokens["text"][question][answer][1][0]
            for question, answer in zip(training_set.item_question, training_set.item_answer, strict=True)
        ]
    )

    def loss_of(step: int, items: npt.NDArray[np.int64], generator: torch.Generator) -> torch.Tensor:
        pairs = tokens["text" if step < text_steps else "letter"]
        prompts = [pairs[training_set.item_question[item]][training_set.item_answer[item]] for item in items]
        ids, places, targets = padded(prompts)
        pixels = pixels_of(training_set, items, settings.noise, generator)
        layers = model.model(
            input_ids=ids,
            pixel_values=pixels if nested else pixels.flatten(0, 1),
            use_cache=False,
            output_hidden_states=True,
        ).hidden_states[1:]
        loss = functional.cross_entropy(model.lm_head(layers[-1][places]), targets)
        return loss + image_loss(model, layers, ids == image_token, first_tokens[items])

    return take_steps(model, loss_of, counts, settings, label)


def image_loss(
    model: Any, layers: Sequence[torch.Tensor], is_image: torch.Tensor, targets: torch.Tensor
) -> torch.Tensor:
    """Return the cross-entropy of ``targets`` [items], predicted from the mean image token; mean over layers.

    ``layers``: the hidden states [items, positions, hidden] after each layer of the language model, the last
    one normalised; ``is_image``: bool [items, positions]. This is deep supervision (Lee et al., 2015).
    Without it, the vision tower starts to learn only when the language model knows each question's answers.
    """
    norm = model.get_decoder().norm
    share = is_image / is_image.sum(dim=1, keepdim=True)
    losses = [
        functional.cross_entropy(model.lm_head(torch.einsum("ip,iph->ih", share, states)), targets)
        for states in (*(norm(states) for states in layers[:-1]), layers[-1])
    ]
    return torch.stack(losses).mean()


def answer_tokens(
    processor: Any, training_set: TrainingSet, scoring: str
) -> list[list[tuple[list[int], list[int]]]]:
    """Return the tokens of (prompt, answer) by question and option; an answer ends with the end token."""
    counts = (training_set.item_images >= 0).sum(axis=1)
    images = dict(zip(training_set.item_question.tolist(), counts.tolist(), strict=True))
    end = processor.tokenizer.eos_token_id
    tokens = []
    for number, question in enumerate(training_set.questions):
        prompt, answers = encode(processor, question, images[number], scoring, IMAGE_SIDE)
        tokens.append([(prompt, [*answer, end]) for answer in answers])
    return tokens


def padded(
    prompts: list[tuple[list[int], list[int]]],
) -> tuple[torch.Tensor, tuple[torch.Tensor, torch.Tensor], torch.Tensor]:
    """Return token ids [items, length], the (item, position) before each answer token, and those tokens.

    Padding is on the right, where causal attention hides it, so no mask is needed.
    """
    length = max(len(prompt) + len(answer) for prompt, answer in prompts) - 1
    ids = torch.zeros((len(prompts), length), dtype=torch.int64)
    items: list[int] = []
    positions: list[int] = []
    targets: list[int] = []
    for item, (prompt, answer) in enumerate(prompts):
        known = prompt + answer[:-1]
        ids[item, : len(known)] = torch.tensor(known)
        items.extend([item] * len(answer))
        positions.extend(range(len(prompt) - 1, len(known)))
        targets.extend(answer)
    return ids, (torch.tensor(items), torch.tensor(positions)), torch.tensor(targets)
