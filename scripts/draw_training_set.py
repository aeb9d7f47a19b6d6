"""Draw the pictures and questions that the tiny models of the embedded world learn from."""

from pathlib import Path

from benchc.demo.training_items import draw_training_set, training_groups
from benchc.demo.training_set import save_training_set
from benchc.progress import track
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    parser.add_argument("--seed", required=True, type=int, help="may be the benchmarks': no item repeats")
    parser.add_argument(
        "--items-per-category",
        required=True,
        type=int,
        help="items of each category, or a few more",
    )
    parser.add_argument("--output", required=True, type=Path, help="the .npz file to write")
    arguments = parser.parse_args()

    groups = track(training_groups(arguments.items_per_category), label="drawing", unit="groups")
    training_set = draw_training_set(groups, arguments.seed)
    save_training_set(training_set, arguments.output)
    print(
        f"{arguments.output}: {len(training_set.item_answer):,} items, "
        f"{len(training_set.pictures):,} pictures, {len(training_set.questions):,} different questions"
    )


if __name__ == "__main__":
    run(main)
