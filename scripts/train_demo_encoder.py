"""Train the demo's image encoder, a small CLIP, on the demo's training set.

Writes a folder that open_clip, and so the rule that embeds, loads like a published model:
open_clip_config.json and open_clip_model.safetensors. Training ends by steps, never by the clock, and repeats
to the byte at one thread.
"""

import argparse
from pathlib import Path

import torch

from benchc.demo.encoder import captioned_pictures, save_encoder, train_encoder
from benchc.demo.training_set import load_training_set
from scripts.command import run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.train_demo_encoder", description=__doc__)
    parser.add_argument("--training-set", required=True, type=Path, help="the .npz of generate_training_set")
    parser.add_argument("--steps", type=int, default=250, help="default: %(default)s")
    parser.add_argument("--seed", type=int, required=True, help="the world's seed")
    parser.add_argument("--threads", type=int, default=1, help="default: %(default)s")
    parser.add_argument("--output", required=True, help="the model's folder")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)

    images, captions = captioned_pictures(load_training_set(arguments.training_set))
    encoder = train_encoder(images, captions, steps=arguments.steps, seed=arguments.seed)
    save_encoder(encoder, arguments.output)


if __name__ == "__main__":
    run(main)
