"""Train a small CLIP on the demo's images and their captions, as the demo's image encoder."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import save
from torch.nn import functional

from benchc.atomic import atomic_folder
from benchc.demo.loss import check_loss
from benchc.demo.training_set import TrainingSet
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.randomness import generator_of, seed_of

# Flips and crops would make many captions wrong, so images are only resized to the model's size.
PREPROCESSING = {
    "mode": "RGB",
    "mean": [0.5, 0.5, 0.5],
    "std": [0.5, 0.5, 0.5],
    "interpolation": "bilinear",
    "resize_mode": "squash",
}
LEARNING_RATE = 2e-3
WEIGHT_DECAY = 0.05
BATCH = 96


@dataclass(frozen=True)
class TrainedEncoder:
    """A model of open_clip and its configuration, as open_clip loads it."""

    model: Any
    configuration: dict[str, Any]


def configuration_of(side: int) -> dict[str, Any]:
    """Return the model's configuration in open_clip's format, for images of ``side`` pixels."""
    vision = {"image_size": side, "patch_size": side // 6, "width": 96, "head_width": 32, "layers": 2}
    text = {"context_length": 24, "vocab_size": 49408, "width": 64, "heads": 4, "layers": 1}
    return {"embed_dim": 64, "vision_cfg": vision, "text_cfg": text}


def captioned_images(training_set: TrainingSet) -> tuple[npt.NDArray[np.uint8], list[str]]:
    """Return uint8[M, S, S, 3] and M captions: every image of an item, with its answer and question.

    The answer comes first, since long captions are cut at the end.
    """
    rows, captions = [], []
    for images, question, answer in zip(
        training_set.item_images.tolist(),
        training_set.item_question.tolist(),
        training_set.item_answer.tolist(),
        strict=True,
    ):
        text = training_set.questions[question]
        shown = [row for row in images if row >= 0]
        rows += shown
        captions += [f"{text.options[answer]}. {text.question}"] * len(shown)
    return training_set.images[rows], captions


def train_encoder(
    images: npt.NDArray[np.uint8], captions: list[str], *, steps: int, seed: int, batch: int = BATCH
) -> TrainedEncoder:
    """Return a CLIP trained on the CPU to match captions to images.

    Args:
        images: uint8[N, S, S, 3].
        captions: N texts; equal captions in a batch count as correct for each other's images.
        steps: number of batches.
        seed: determines weights and batches, for a given number of threads.
        batch: images in a batch, at most N.

    Raises ValueError where images and captions do not match, and InputError for fewer than three steps, for
    fewer images than a batch has, and for a loss that is not finite.
    """
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[1:] != (images.shape[1],) * 2 + (3,):
        raise ValueError(f"images are uint8[N, S, S, 3], these are {images.dtype}{list(images.shape)}")
    if len(images) != len(captions):
        raise ValueError(f"{len(images)} images need as many captions, not {len(captions)}")
    if len(images) < batch:
        raise InputError(
            f"the training set has {pluralize(len(images), 'image')}, but a batch has {batch}; increase "
            "`demo.training_set.items_per_category`"
        )
    if steps < 3:
        raise InputError(f"{steps} steps are too few for the image encoder; give at least 3")
    import benchc.hugging_face  # noqa: F401, sets up transformers

    # isort: split
    import open_clip

    configuration = configuration_of(images.shape[1])
    texts = sorted(set(captions))
    place = {text: index for index, text in enumerate(texts)}
    caption = torch.tensor([place[text] for text in captions])
    tokenizer = open_clip.SimpleTokenizer(context_length=configuration["text_cfg"]["context_length"])
    tokens = tokenizer(texts)
    tensors = torch.from_numpy(images).permute(0, 3, 1, 2)
    generator = generator_of(seed, "batches")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed_of(seed, "weights"))
        model = open_clip.CLIP(**configuration)
    optimizer = torch.optim.AdamW(model.parameters(), LEARNING_RATE, weight_decay=WEIGHT_DECAY, fused=True)
    # OneCycleLR divides by the length of each of its two phases less one step.
    warm_up = max(2, steps // 10) / steps
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, LEARNING_RATE, total_steps=steps, pct_start=warm_up
    )
    model.train()
    for step in track(range(steps), label="train the image encoder", unit="steps"):
        rows = torch.from_numpy(generator.choice(len(images), batch, replace=False))
        loss = _loss(model, tensors[rows].float() / 127.5 - 1, tokens[caption[rows]], caption[rows])
        check_loss(loss, step, "train the image encoder", "change the seed or the steps in `demo`")
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return TrainedEncoder(model.eval(), configuration)


def save_encoder(encoder: TrainedEncoder, folder: str | Path) -> None:
    """Write ``folder`` as open_clip's ``local-dir:`` expects it."""
    weights = {name: value.contiguous() for name, value in encoder.model.state_dict().items()}
    configuration = {"model_cfg": encoder.configuration, "preprocess_cfg": PREPROCESSING}
    with atomic_folder(folder) as made:
        (made / "open_clip_model.safetensors").write_bytes(save(weights))
        (made / "open_clip_config.json").write_text(json.dumps(configuration, indent=2) + "\n")


def _loss(model: Any, images: torch.Tensor, tokens: torch.Tensor, caption: torch.Tensor) -> torch.Tensor:
    """Return CLIP's loss: cross-entropy of images against texts and the reverse, over all correct pairs."""
    image = model.encode_image(images, normalize=True)
    text = model.encode_text(tokens, normalize=True)
    logits = model.logit_scale.exp().clamp(max=100) * image @ text.T
    right = (caption[:, None] == caption[None, :]).float()
    right = right / right.sum(dim=1, keepdim=True)
    loss: torch.Tensor = functional.cross_entropy(logits, right) + functional.cross_entropy(logits.T, right)
    return loss / 2
