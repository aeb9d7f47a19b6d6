"""Train the demo's image encoder, a small CLIP, on the demo's training set.

Writes open_clip_config.json and open_clip_model.safetensors to a folder, which open_clip loads like a
published model. With one thread, training is reproducible to the byte.
"""

from pathlib import Path

import torch

from benchc.demo.encoder import captioned_images, save_encoder, train_encoder
from benchc.demo.training_set import load_training_set
from scripts.argument_types import positive_argument, seed_argument
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    parser.add_argument("--training-set", required=True, type=Path, help=".npz file of generate_training_set")
    parser.add_argument("--steps", type=positive_argument, default=250, help="default: %(default)s")
    parser.add_argument("--seed", type=seed_argument, required=True, help="seed of the weights and batches")
    parser.add_argument("--threads", type=positive_argument, default=1, help="default: %(default)s")
    parser.add_argument("--output", required=True, help="folder to write")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)

    images, captions = captioned_images(load_training_set(arguments.training_set))
    encoder = train_encoder(images, captions, steps=arguments.steps, seed=arguments.seed)
    save_encoder(encoder, arguments.output)


if __name__ == "__main__":
    run(main)
