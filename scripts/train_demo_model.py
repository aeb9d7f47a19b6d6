"""Train one tiny model on the embedded world and save it as a folder in the Hub's form."""

import argparse
import importlib
from pathlib import Path

import torch

from benchc.atomic import whole_folder
from benchc.demo.tiny.families import FAMILIES
from benchc.torchvision_ops import declare_missing_operators
from scripts.command import run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.train_demo_model", description=__doc__)
    parser.add_argument("--training-set", required=True, type=Path, help="the .npz file of generate_training_set")
    parser.add_argument("--family", required=True, choices=FAMILIES, help="architecture")
    parser.add_argument(
        "--scoring",
        required=True,
        choices=["letter", "text", "text_mean"],
        help="how the model answers; text_mean is trained like text",
    )
    parser.add_argument("--hidden", required=True, type=int, help="width of all layers, a multiple of 24")
    parser.add_argument("--vision-layers", required=True, type=int, help="layers of the part that sees")
    parser.add_argument("--text-layers", required=True, type=int, help="layers of the part that reads")
    parser.add_argument("--patch", required=True, type=int, help="side of a patch in pixels, a divisor of 48")
    parser.add_argument("--steps", required=True, type=int, help="training ends by steps, never by the clock")
    parser.add_argument("--batch", required=True, type=int, help="pictures per step")
    parser.add_argument("--learning-rate", required=True, type=float, help="of the weight matrices (Muon)")
    parser.add_argument("--noise", default=0.0, type=float, help="share of items seen through noise, 0 to 1")
    parser.add_argument(
        "--text-share",
        default=0.5,
        type=float,
        help="share of a letter model's steps, the first, that ask for texts",
    )
    parser.add_argument("--seed", required=True, type=int, help="of first weights, batches and noise")
    parser.add_argument("--threads", default=1, type=int, help="weights depend on it in their last bits")
    parser.add_argument("--output", required=True, type=Path, help="the folder to write")
    arguments = parser.parse_args()

    torch.set_num_threads(arguments.threads)
    torch.use_deterministic_algorithms(True)
    declare_missing_operators()
    import transformers

    from benchc.demo.tiny.positions import set_positions
    from benchc.demo.tiny.prompts import tokenizer_texts
    from benchc.demo.tiny.size import TinySize
    from benchc.demo.tiny.training import Recipe, train
    from benchc.demo.training_set import PICTURE_SIDE, load_training_set

    transformers.utils.logging.disable_progress_bar()
    training_set = load_training_set(arguments.training_set)
    family = importlib.import_module(f"benchc.demo.tiny.{arguments.family}")
    size = TinySize(
        arguments.hidden, arguments.vision_layers, arguments.text_layers, arguments.patch, PICTURE_SIDE
    )
    recipe = Recipe(
        "letter" if arguments.scoring == "letter" else "text",
        arguments.text_share,
        arguments.steps,
        arguments.batch,
        arguments.learning_rate,
        arguments.noise,
        arguments.seed,
    )
    torch.manual_seed(recipe.seed)  # transformers' classes draw their first weights from the global generator
    model, processor = family.build(tokenizer_texts(training_set.questions), size)
    set_positions(model, PICTURE_SIDE // size.patch)
    losses = train(
        model, processor, training_set, recipe, family.NESTED_PICTURES, f"train {arguments.output.name}"
    )

    output: Path = arguments.output
    with whole_folder(output) as folder:
        model.save_pretrained(folder)
        processor.save_pretrained(folder)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    last = losses[-len(losses) // 10 :]
    print(f"{output}: {parameters / 1e6:.2f} million parameters, loss {sum(last) / len(last):.2f} at the end")


if __name__ == "__main__":
    run(main)
