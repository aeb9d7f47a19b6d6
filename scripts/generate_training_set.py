"""Generate the images and questions on which the demo's tiny models are trained."""

from pathlib import Path

from benchc.command_line import PositiveInt
from benchc.demo.training_items import generate_training_set as generated
from benchc.demo.training_items import training_groups
from benchc.demo.training_set import save_training_set
from benchc.progress import track


def generate_training_set(*, seed: int, items_per_category: PositiveInt, output: Path) -> None:
    """Generate the images and questions on which the demo's tiny models are trained.

    Args:
        seed: may equal the data sets' seed: no item is repeated
        items_per_category: minimum number of items per category
        output: the .npz file to write
    """
    groups = track(training_groups(items_per_category), label="generate", unit="groups")
    training_set = generated(groups, seed)
    save_training_set(training_set, output)
    print(
        f"{output}: {len(training_set.item_answer):,} items, "
        f"{len(training_set.images):,} images, {len(training_set.questions):,} different questions"
    )
