"""The steps of training a tiny model: batches, optimizers and their rates."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import torch

from benchc.demo.loss import check_loss
from benchc.demo.tiny.muon import Muon
from benchc.demo.tiny.settings import TrainingSettings
from benchc.demo.training_set import TrainingSet
from benchc.progress import track

EMBEDDING_RATE = 2e-3
WEIGHT_DECAY = 0.02
MAX_GRADIENT_NORM = 1.0
WARM_UP, COOL_DOWN = 0.1, 0.6  # shares of the steps
LOWER_RATE = "lower the learning_rate of its `train` in the model catalogue"
MAX_NOISE = 0.5  # standard deviation, for pixels in -1..1

# From a step, its items int64 [items] and a source of random numbers.
LossOf = Callable[[int, npt.NDArray[np.int64], torch.Generator], torch.Tensor]


def take_steps(
    model: torch.nn.Module,
    loss_of: LossOf,
    counts: npt.NDArray[np.int64],
    settings: TrainingSettings,
    label: str,
) -> list[float]:
    """Train ``model`` in place and return the loss of every step.

    ``counts``: the number of images of each item, int64 [N]; items without any are left out. ``label``: of
    the progress bar. Raises InputError at the first step whose loss is not finite.
    """
    generator = torch.Generator().manual_seed(settings.seed)
    optimizers = _optimizers(model, settings.learning_rate)
    schedules = [torch.optim.lr_scheduler.LambdaLR(o, lambda s: _rate(s, settings.steps)) for o in optimizers]
    batches = _batches(counts, settings.batch, generator)
    losses = []
    model.train()
    for step in track(range(settings.steps), label=label, unit="steps"):
        loss = loss_of(step, next(batches), generator)
        losses.append(check_loss(loss, step, label, LOWER_RATE))
        model.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), MAX_GRADIENT_NORM)
        for optimizer, schedule in zip(optimizers, schedules, strict=True):
            optimizer.step()
            schedule.step()
    model.eval()
    return losses


def pixels_of(
    training_set: TrainingSet, items: npt.NDArray[np.int64], noise: float, generator: torch.Generator
) -> torch.Tensor:
    """Return the images of items with the same number of images, with noise in a share of the items.

    They are float32 [items, images, 3, side, side], in -1..1.
    """
    count = (training_set.item_images[items[0]] >= 0).sum()
    images = torch.from_numpy(training_set.images[training_set.item_images[items, :count]])
    return _noisy(images.permute(0, 1, 4, 2, 3).float() / 127.5 - 1, noise, generator)


def _optimizers(model: torch.nn.Module, learning_rate: float) -> list[torch.optim.Optimizer]:
    """Return Muon for the matrices inside the layers and AdamW for all other parameters."""
    matrices: list[torch.nn.Parameter] = []
    others: list[torch.nn.Parameter] = []
    for name, parameter in model.named_parameters():
        table = "embed" in name or "lm_head" in name
        (matrices if parameter.ndim == 2 and not table else others).append(parameter)
    return [
        Muon(matrices, learning_rate, WEIGHT_DECAY),
        torch.optim.AdamW(others, EMBEDDING_RATE, betas=(0.9, 0.98), weight_decay=WEIGHT_DECAY, fused=True),
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
        for count in np.unique(counts[counts > 0]):
            items = torch.from_numpy(np.flatnonzero(counts == count))
            items = items[torch.randperm(len(items), generator=generator)]
            batches.extend(torch.split(items, max(1, batch // int(count))))
        for number in torch.randperm(len(batches), generator=generator).tolist():
            yield batches[number].numpy()


def _noisy(pixels: torch.Tensor, share: float, generator: torch.Generator) -> torch.Tensor:
    """Add Gaussian noise to a share of the items, pixels float32 [items, images, 3, side, side]."""
    if share <= 0:
        return pixels
    shape = (len(pixels), 1, 1, 1, 1)
    strength = MAX_NOISE * torch.rand(shape, generator=generator)
    strength = torch.where(torch.rand(shape, generator=generator) < share, strength, 0.0)
    return (pixels + strength * torch.randn(pixels.shape, generator=generator)).clamp(-1, 1)
