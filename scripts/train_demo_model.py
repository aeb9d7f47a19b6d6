"""Train one tiny model on the demo's training set and save it as a folder like those on the Hub."""

import importlib
from pathlib import Path
from typing import Literal

from benchc.atomic import atomic_folder
from benchc.command_line import PositiveInt
from benchc.demo.tiny.families import CLOSED_LISTS
from benchc.demo.tiny.settings import TrainingSettings
from benchc.demo.tiny.size import TinySize
from benchc.errors import InputError


def train_demo_model(
    *,
    training_set: Path,
    family: Literal["llava", "internvl", "idefics3", "vilt"],
    size: TinySize,
    training: TrainingSettings,
    threads: PositiveInt = 1,
    folder: Path,
) -> None:
    """Train one tiny model on the demo's training set and save it as a folder like those on the Hub.

    Args:
        training_set: .npz file of generate_training_set
        family: architecture
        threads: the last bits of the weights depend on it
        folder: folder to write
    """
    closed = family in CLOSED_LISTS
    if closed != (training.scoring == "classify"):
        raise InputError(
            f"--family {family} is not trained for --training.scoring {training.scoring}; classify is of "
            f"{' and '.join(CLOSED_LISTS)} alone"
        )
    import torch

    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    # Saves a tenth of the time; no operation of the training reads memory that it has not written.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    from benchc.demo.tiny.positions import set_positions
    from benchc.demo.tiny.prompts import tokenizer_texts
    from benchc.demo.tiny.training import train
    from benchc.demo.training_set import load_training_set

    items = load_training_set(training_set)
    architecture = importlib.import_module(f"benchc.demo.tiny.{family}")
    torch.manual_seed(training.seed)  # transformers initialises weights from the global generator
    label = f"train {folder.name}"
    if closed:
        model, processor = architecture.build(items.questions, architecture.closed_list(items), size)
        set_positions(model, size.image_side // size.patch)
        losses = architecture.train(model, processor, items, training, label)
    else:
        model, processor = architecture.build(tokenizer_texts(items.questions), size)
        set_positions(model, size.image_side // size.patch)
        losses = train(model, processor, items, training, architecture.NESTED_IMAGES, label)

    with atomic_folder(folder) as made:
        model.save_pretrained(made)
        processor.save_pretrained(made)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    last = losses[-len(losses) // 10 :]
    print(f"{folder}: {parameters / 1e6:.2f} million parameters, final loss {sum(last) / len(last):.2f}")
