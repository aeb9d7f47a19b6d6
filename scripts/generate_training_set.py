"""Generate the images and questions on which the demo's tiny models are trained."""

from pathlib import Path

from benchc.demo.training_items import generate_training_set, training_groups
from benchc.demo.training_set import save_training_set
from benchc.progress import track
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    parser.add_argument(
        "--seed", required=True, type=int, help="may equal the data sets' seed: no item is repeated"
    )
    parser.add_argument(
        "--items-per-category", required=True, type=int, help="minimum number of items per category"
    )
    parser.add_argument("--output", required=True, type=Path, help="the .npz file to write")
    arguments = parser.parse_args()

    groups = track(training_groups(arguments.items_per_category), label="generate", unit="groups")
    training_set = generate_training_set(groups, arguments.seed)
    save_training_set(training_set, arguments.output)
    print(
        f"{arguments.output}: {len(training_set.item_answer):,} items, "
        f"{len(training_set.images):,} images, {len(training_set.questions):,} different questions"
    )


if __name__ == "__main__":
    run(main)
