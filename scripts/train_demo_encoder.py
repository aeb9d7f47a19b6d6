"""Train the demo's image encoder, a small CLIP, on the demo's training set."""

from pathlib import Path

from benchc.command_line import PositiveInt, Seed


def train_demo_encoder(
    *, training_set: Path, steps: PositiveInt, seed: Seed, threads: PositiveInt = 1, folder: Path
) -> None:
    """Train the demo's image encoder, a small CLIP, on the demo's training set.

    Writes open_clip_config.json and open_clip_model.safetensors to a folder, which open_clip loads like a
    published model. With one thread, training is reproducible to the byte.

    Args:
        training_set: .npz file of generate_training_set
        steps: training steps
        seed: of the weights and batches
        threads: the last bits of the weights depend on it
        folder: folder to write
    """
    import torch

    from benchc.demo.encoder import captioned_images, save_encoder, train_encoder
    from benchc.demo.training_set import load_training_set

    torch.set_num_threads(threads)
    images, captions = captioned_images(load_training_set(training_set))
    save_encoder(train_encoder(images, captions, steps=steps, seed=seed), folder)
