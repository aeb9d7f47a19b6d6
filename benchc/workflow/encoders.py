"""Image and text encoders of a run: their files, and which are fetched from the Hub."""

from collections.abc import Iterable
from pathlib import Path

from benchc.config.settings import Demo
from benchc.models.encoders.names import Device
from benchc.workflow.code import code_of
from benchc.workflow.made_once import FOLDER, named, training_set

# The name of the encoder that the run trains.
TRAINED = "trained"


class TrainedEncoder:
    """The small image encoder that a run trains.

    Attributes:
        steps: of training
        folder, files: where it is
    """

    def __init__(self, demo: Demo, steps: int) -> None:
        code = code_of("scripts/train_demo_encoder.py")
        self.steps = steps
        self.folder = f"{FOLDER}/{named('image_encoder', training_set(demo), demo.seed, steps, code)}"
        self.files = [
            f"{self.folder}/open_clip_config.json",
            f"{self.folder}/open_clip_model.safetensors",
        ]


def device(gpus: int) -> Device:
    """Return where an encoder computes; as the device decides last bits, it is recorded."""
    return "cuda" if gpus else "cpu"


def tag_on_hub(pretrained: str | None) -> str | None:
    """Return a tag of open_clip, whose weights are on the Hub; None for a file of weights or without any."""
    return None if pretrained is None or Path(pretrained).exists() else pretrained


def files_of(names: Iterable[str | None]) -> list[str]:
    """Return the files of encoders that are paths of the user; of a model on the Hub or in a package none."""
    return [
        str(file)
        for name in names
        if name
        for file in sorted([Path(name), *Path(name).rglob("*")])
        if file.is_file()
    ]
