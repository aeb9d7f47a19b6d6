"""Train one tiny model on the demo's training set and save it as a folder like those on the Hub."""

import importlib
from pathlib import Path

import torch

from benchc.atomic import atomic_folder
from benchc.demo.tiny.families import CLOSED_LISTS, FAMILIES
from scripts.argument_types import positive_argument, seed_argument
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    parser.add_argument("--training-set", required=True, type=Path, help=".npz file of generate_training_set")
    parser.add_argument("--family", required=True, choices=FAMILIES, help="architecture")
    parser.add_argument(
        "--scoring",
        required=True,
        choices=["letter", "text", "text_mean", "classify"],
        help="how options are scored; text_mean is trained like text. classify: answers from a closed list, "
        f"always and only of the family {' or '.join(CLOSED_LISTS)}",
    )
    parser.add_argument(
        "--hidden", required=True, type=positive_argument, help="width of all layers, a multiple of 24"
    )
    parser.add_argument(
        "--vision-layers", required=True, type=positive_argument, help="layers of the vision tower"
    )
    parser.add_argument(
        "--text-layers", required=True, type=positive_argument, help="layers of the language model"
    )
    parser.add_argument(
        "--patch",
        required=True,
        type=positive_argument,
        help="side of a patch in pixels: 1, 2, 3, 4, 6, 8, 12 or 24",
    )
    parser.add_argument("--steps", required=True, type=positive_argument, help="training steps")
    parser.add_argument("--batch", required=True, type=positive_argument, help="images per step")
    parser.add_argument(
        "--learning-rate", required=True, type=float, help="learning rate of the weight matrices (Muon)"
    )
    parser.add_argument("--noise", default=0.0, type=float, help="share of items with noise added, 0 to 1")
    parser.add_argument(
        "--text-share",
        default=0.5,
        type=float,
        help="fraction of a letter model's steps, at the start, that train on option texts",
    )
    parser.add_argument(
        "--seed", required=True, type=seed_argument, help="seed of the weights, batches and noise"
    )
    parser.add_argument(
        "--threads", default=1, type=positive_argument, help="the last bits of the weights depend on it"
    )
    parser.add_argument("--output", required=True, type=Path, help="folder to write")
    arguments = parser.parse_args()
    closed = arguments.family in CLOSED_LISTS
    if closed != (arguments.scoring == "classify"):
        parser.error(f"--family {arguments.family} is not trained for --scoring {arguments.scoring}")

    torch.set_num_threads(arguments.threads)
    torch.use_deterministic_algorithms(True)
    # Saves a tenth of the time; no operation of the training reads memory that it has not written.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    from benchc.demo.tiny.positions import set_positions
    from benchc.demo.tiny.prompts import tokenizer_texts
    from benchc.demo.tiny.size import TinySize
    from benchc.demo.tiny.steps import TrainingSettings
    from benchc.demo.tiny.training import train
    from benchc.demo.training_set import IMAGE_SIDE, load_training_set

    training_set = load_training_set(arguments.training_set)
    family = importlib.import_module(f"benchc.demo.tiny.{arguments.family}")
    size = TinySize(
        arguments.hidden, arguments.vision_layers, arguments.text_layers, arguments.patch, IMAGE_SIDE
    )
    settings = TrainingSettings(
        "letter" if arguments.scoring == "letter" else "text",
        arguments.text_share,
        arguments.steps,
        arguments.batch,
        arguments.learning_rate,
        arguments.noise,
        arguments.seed,
    )
    torch.manual_seed(settings.seed)  # transformers initialises weights from the global generator
    label = f"train {arguments.output.name}"
    if closed:
        model, processor = family.build(training_set.questions, family.closed_list(training_set), size)
        set_positions(model, IMAGE_SIDE // size.patch)
        losses = family.train(model, processor, training_set, settings, label)
    else:
        model, processor = family.build(tokenizer_texts(training_set.questions), size)
        set_positions(model, IMAGE_SIDE // size.patch)
        losses = train(model, processor, training_set, settings, family.NESTED_IMAGES, label)

    output: Path = arguments.output
    with atomic_folder(output) as folder:
        model.save_pretrained(folder)
        processor.save_pretrained(folder)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    last = losses[-len(losses) // 10 :]
    print(f"{output}: {parameters / 1e6:.2f} million parameters, final loss {sum(last) / len(last):.2f}")


if __name__ == "__main__":
    run(main)
