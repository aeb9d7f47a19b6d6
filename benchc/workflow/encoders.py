"""Image and text encoders of a run: their files, and which are fetched from the Hub."""

from collections.abc import Iterable
from pathlib import Path

from benchc.models.encoders.names import Device

# Written by the rule train_demo_encoder.
TRAINED = "trained"
TRAINED_FOLDER = "results/models/image_encoder"
TRAINED_FILES = [
    f"{TRAINED_FOLDER}/open_clip_config.json",
    f"{TRAINED_FOLDER}/open_clip_model.safetensors",
]


def location_of(name: str) -> str:
    """Return the name of an encoder, or the folder of the one that the run trains."""
    return TRAINED_FOLDER if name == TRAINED else name


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
        if name and Path(name).exists()
        for file in sorted([Path(name), *Path(name).rglob("*")])
        if file.is_file()
    ]
