"""Tune a model on examples by low-rank adaptation, epoch by epoch; a killed training resumes."""

import io
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from benchc.atomic import atomic_write
from benchc.errors import InputError
from benchc.hugging_face import transformers
from benchc.models.chat import ChatInterface
from benchc.models.gpu_memory import is_out_of_memory
from benchc.models.image_features import METHOD
from benchc.models.protocol import ModelError, NoTextOnlyError
from benchc.models.tuning.examples import Example, answer_loss
from benchc.models.tuning.lora import peft
from benchc.models.tuning.settings import TuningSettings
from benchc.progress import track
from benchc.randomness import generator_of
from benchc.transparency import Alpha

MAX_GRADIENT_NORM = 1.0
WARM_UP = 0.03  # share of the steps in which the rate rises


def adapted(scorer: ChatInterface, settings: TuningSettings) -> Any:
    """Insert matrices to learn into a model, which changes no prediction before they are; return peft's.

    Raises ModelError where the model has no such layers.
    """
    model = scorer.chat.model
    for module in model.modules():
        # Features of the image before would be of the weights before.
        vars(module).pop(METHOD, None)
    torch.manual_seed(settings.seed)  # peft initialises from the global generator
    config = peft.LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        target_modules="all-linear" if settings.modules is None else [*settings.modules],
    )
    try:
        return peft.get_peft_model(model, config)
    except ValueError as error:
        raise ModelError(
            f"{scorer.chat.name}: cannot be adapted ({' '.join(str(error).split())}); correct the names of "
            "its layers, or leave them out for all linear ones"
        ) from error


def train(
    scorer: ChatInterface,
    model: Any,
    examples: Sequence[Example],
    settings: TuningSettings,
    *,
    state: Path,
    label: str,
    alpha: Alpha = "drop",
) -> list[float]:
    """Tune ``model``, from :func:`adapted`, in place; return the mean loss of each epoch.

    The rate rises linearly in 3 % of the steps and falls as a cosine. An example passes alone, so that none
    is padded; the gradients of ``settings.batch`` examples are a step. There is no dropout. The same
    arguments give the same weights on a CPU, and on a GPU where torch's operations are deterministic.

    Args:
        state: file that is written after each epoch, from which a killed training goes on
        label: of the progress bar

    Raises InputError at the first example whose loss is not finite.
    """
    learned = {name: each for name, each in model.named_parameters() if each.requires_grad}
    optimizer = torch.optim.AdamW(learned.values(), lr=settings.learning_rate, weight_decay=0.0)
    steps = settings.epochs * math.ceil(len(examples) / settings.batch)
    schedule = transformers.get_cosine_schedule_with_warmup(optimizer, math.ceil(WARM_UP * steps), steps)
    losses: list[float] = []
    if state.is_file():
        found = torch.load(state, map_location=scorer.chat.model.device, weights_only=True)
        model.load_state_dict(found["learned"], strict=False)
        optimizer.load_state_dict(found["optimizer"])
        schedule.load_state_dict(found["schedule"])
        losses = found["losses"]
    for epoch in range(len(losses), settings.epochs):
        order = generator_of(settings.seed, "epoch", epoch).permutation(len(examples))
        total = 0.0
        name = f"{label}, epoch {epoch + 1} of {settings.epochs}"
        for number, place in enumerate(track(order.tolist(), label=name, unit="examples"), start=1):
            first = (number - 1) // settings.batch * settings.batch
            with _explained(scorer, examples[place]):
                loss = answer_loss(scorer, examples[place], alpha)
                if not math.isfinite(value := loss.item()):
                    raise InputError(f"{name}: a loss is {value}; lower the learning rate")
                (loss / min(settings.batch, len(order) - first)).backward()  # type: ignore[no-untyped-call]
            total += value
            if number % settings.batch == 0 or number == len(order):
                torch.nn.utils.clip_grad_norm_(learned.values(), MAX_GRADIENT_NORM)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad(set_to_none=True)
        losses.append(total / len(order))
        written = io.BytesIO()
        torch.save(
            {
                "learned": {name: each.detach() for name, each in learned.items()},
                "optimizer": optimizer.state_dict(),
                "schedule": schedule.state_dict(),
                "losses": losses,
            },
            written,
        )
        with atomic_write(state) as file:
            file.write(written.getbuffer())
    return losses


@contextmanager
def _explained(scorer: ChatInterface, example: Example) -> Iterator[None]:
    """Turn errors of a model's code into a ModelError of one line."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # code of many models
        if is_out_of_memory(error):
            raise ModelError(
                f"{scorer.chat.name}: an example does not fit into the memory of the GPU while the model is "
                "tuned; in the model catalogue, lower what bounds the size of images in `processor` "
                "(max_pixels, max_patches, ...), or set `dtype: bfloat16`, or use a larger GPU"
            ) from error
        reason = f"({type(error).__name__}: {' '.join(str(error).split())})"
        if not example.images:
            raise NoTextOnlyError(f"the model takes no prompt without an image {reason}") from error
        raise ModelError(
            f"{scorer.chat.name}: fails while it is tuned {reason}; tune another model"
        ) from error
