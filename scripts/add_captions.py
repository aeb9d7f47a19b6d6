"""Add captions of the images to the training set of the demo's tiny models."""

from pathlib import Path

from benchc.demo.captioned_set import with_captions
from benchc.demo.training_set import load_training_set, save_training_set


def add_captions(*, training_set: Path, output: Path) -> None:
    """Add captions of the images to the training set of the demo's tiny models.

    Args:
        training_set: .npz file of generate_training_set
        output: the .npz file to write
    """
    questions = load_training_set(training_set)
    captioned = with_captions(questions)
    save_training_set(captioned, output)
    print(f"{output}: {len(captioned.item_answer) - len(questions.item_answer):,} captions")
