"""Train a tiny model to answer the demo's questions.

The loss has two parts: that of the answer's tokens, and that of predicting the answer's first token from the
image tokens alone (:func:`image_loss`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from benchc.demo.loss import check_loss
from benchc.demo.tiny.muon import Muon
from benchc.demo.tiny.prompts import SCORINGS, encode
from benchc.demo.training_set import IMAGE_SIDE, TrainingSet
from benchc.progress import track

EMBEDDING_RATE = 2e-3
WEIGHT_DECAY = 0.02
MAX_GRADIENT_NORM = 1.0
WARM_UP, COOL_DOWN = 0.1, 0.6  # shares of the steps
LOWER_RATE = "lower the learning_rate of its `train` in the model catalogue"
MAX_NOISE = 0.5  # standard deviation, for pixels in -1..1


@dataclass(frozen=True)
class TrainingSettings:
    """How to train."""

    scoring: str  # letter or text
    # A letter model is first trained on option texts: its vision tower does not learn from letters alone.
    text_share: float  # share of the steps
    steps: int
    batch: int  # images per step
    learning_rate: float
    noise: float  # share of items with noise added
    seed: int


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
    generator = torch.Generator().manual_seed(settings.seed)
    images = torch.from_numpy(training_set.images)
    counts = (training_set.item_images >= 0).sum(axis=1)
    text_steps = settings.steps if settings.scoring == "text" else round(settings.text_share * settings.steps)
    tokens = {scoring: answer_tokens(processor, training_set, scoring) for scoring in SCORINGS}
    image_token = processor.tokenizer.convert_tokens_to_ids(processor.image_token)
    first_tokens = torch.tensor(
        [
            tokens["text"][question][answer][1][0]
            for question, answer in zip(training_set.item_question, training_set.item_answer, strict=True)
        ]
    )
    optimizers = _optimizers(model, settings.learning_rate)
    schedules = [torch.optim.lr_scheduler.LambdaLR(o, lambda s: _rate(s, settings.steps)) for o in optimizers]
    batches = _batches(counts, settings.batch, generator)
    losses = []
    model.train()
    for step in track(range(settings.steps), label=label, unit="steps"):
        items = next(batches)
        pairs = tokens["text" if step < text_steps else "letter"]
        prompts = [pairs[training_set.item_question[item]][training_set.item_answer[item]] for item in items]
        ids, places, targets = padded(prompts)
        pixels = images[torch.from_numpy(training_set.item_images[items, : counts[items[0]]])]
        pixels = _noisy(pixels.permute(0, 1, 4, 2, 3).float() / 127.5 - 1, settings.noise, generator)
        layers = model.model(
            input_ids=ids,
            pixel_values=pixels if nested else pixels.flatten(0, 1),
            use_cache=False,
            output_hidden_states=True,
        ).hidden_states[1:]
        loss = functional.cross_entropy(model.lm_head(layers[-1][places]), targets)
        loss = loss + image_loss(model, layers, ids == image_token, first_tokens[items])
        losses.append(check_loss(loss, step, label, LOWER_RATE))
        model.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), MAX_GRADIENT_NORM)
        for optimizer, schedule in zip(optimizers, schedules, strict=True):
            optimizer.step()
            schedule.step()
    model.eval()
    return losses


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


def _optimizers(model: torch.nn.Module, learning_rate: float) -> list[torch.optim.Optimizer]:
    """Return Muon for the matrices inside the layers and AdamW for all other parameters."""
    matrices: list[torch.nn.Parameter] = []
    others: list[torch.nn.Parameter] = []
    for name, parameter in model.named_parameters():
        table = "embed" in name or "lm_head" in name
        (matrices if parameter.ndim == 2 and not table else others).append(parameter)
    return [
        Muon(matrices, learning_rate, WEIGHT_DECAY),
        torch.optim.AdamW(others, EMBEDDING_RATE, betas=(0.9, 0.98), weight_decay=WEIGHT_DECAY),
    ]


def _rate(step: int, steps: int) -> float:
    """Return the learning rate relative to its peak: linear warm-up, constant, linear decay."""
    return min(1.0, (step + 1) / (WARM_UP * steps), (steps - step) / (COOL_DOWN * steps))


def _batches(
    counts: npt.NDArray[np.int64], batch: int, generator: torch.Generator
) -> Iterator[npt.NDArray[np.int64]]:
    """Yield batches of items with the same number of images, int64 [items], epoch after epoch."""
    while True:
        batches: list[torch.Tensor] = []
        for count in np.unique(counts):
            items = torch.from_numpy(np.flatnonzero(counts == count))
            items = items[torch.randperm(len(items), generator=generator)]
            batches.extend(torch.split(items, max(1, batch // int(count))))
        for number in torch.randperm(len(batches), generator=generator).tolist():
            yield batches[number].numpy()


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


def _noisy(pixels: torch.Tensor, share: float, generator: torch.Generator) -> torch.Tensor:
    """Add Gaussian noise to a share of the items, pixels float32 [items, images, 3, side, side]."""
    if share <= 0:
        return pixels
    shape = (len(pixels), 1, 1, 1, 1)
    strength = MAX_NOISE * torch.rand(shape, generator=generator)
    strength = torch.where(torch.rand(shape, generator=generator) < share, strength, 0.0)
    return (pixels + strength * torch.randn(pixels.shape, generator=generator)).clamp(-1, 1)
