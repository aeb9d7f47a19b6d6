"""WRN-40-2 of CIFAR-10 (Zagoruyko and Komodakis, 2016), as the encoder of Figure 3."""

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import nn

from benchc.errors import InputError
from benchc.models.encoders.encoders import ImageEncoder

DEPTH, WIDTH = 40, 2
BATCH = 50
# Where common programs keep the weights in a checkpoint, and what they put before names.
CONTAINERS = ("state_dict", "model_state_dict", "net", "model")
PREFIXES = ("module.", "model.")
# Mean and standard deviation of CIFAR-10's channels, by which xternalz/WideResNet-pytorch scales pictures.
CIFAR = [125.3 / 255, 123.0 / 255, 113.9 / 255], [63.0 / 255, 62.1 / 255, 66.7 / 255]
# What torch raises for a file that is no checkpoint: it may begin as a pickle.
UNREADABLE = (
    *(OSError, EOFError, RuntimeError, pickle.UnpicklingError),
    *(AttributeError, LookupError, TypeError, ValueError),
)
HALF = [0.5] * 3, [0.5] * 3  # of AugMix


class Block(nn.Module):
    """A residual block before whose convolutions are normalisation and ReLU."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.bn1 = nn.BatchNorm2d(inputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.convShortcut = None if inputs == outputs else nn.Conv2d(inputs, outputs, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        before = self.bn1(x).relu()
        after: torch.Tensor = self.conv2(self.bn2(self.conv1(before)).relu())
        return after + (x if self.convShortcut is None else self.convShortcut(before))


class WideResNet(nn.Module):
    """The network without its classifier; names are those of most checkpoints."""

    def __init__(self, depth: int = DEPTH, width: int = WIDTH) -> None:
        super().__init__()
        sizes = [16, 16 * width, 32 * width, 64 * width]
        self.conv1 = nn.Conv2d(3, sizes[0], 3, 1, 1, bias=False)
        for number in (1, 2, 3):
            blocks = [
                Block(sizes[number - (place == 0)], sizes[number], 2 if place == 0 and number > 1 else 1)
                for place in range((depth - 4) // 6)
            ]
            self.add_module(f"block{number}", nn.ModuleDict({"layer": nn.Sequential(*blocks)}))
        self.bn1 = nn.BatchNorm2d(sizes[3])

    def encode_image(self, pixels: torch.Tensor) -> torch.Tensor:
        """Return the input of the classifier, float32[N, 128], of float32[N, 3, 32, 32]."""
        x = self.conv1(pixels)
        for number in (1, 2, 3):
            x = self.get_submodule(f"block{number}.layer")(x)
        features: torch.Tensor = self.bn1(x).relu().mean(dim=(2, 3))
        return features


def load_wide_resnet(path: Path) -> ImageEncoder:
    """Return the network with the weights of a checkpoint, on the CPU.

    Layouts are those of xternalz/WideResNet-pytorch, RobustBench and AugMix, with or without `module.`.
    Pictures are scaled as these do: by `mu` and `sigma` of the checkpoint, AugMix's by one half, others by
    CIFAR-10's mean and standard deviation. Raises InputError where it is none of these.
    """
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except UNREADABLE as error:
        reason = next(iter(str(error).splitlines()), "it ends too early")
        raise InputError(
            f"{path}: cannot be read as weights ({reason}); save the state_dict of the network alone by "
            "torch.save"
        ) from error
    for name in CONTAINERS:
        if isinstance(found, Mapping) and isinstance(found.get(name), Mapping):
            found = found[name]
    if not isinstance(found, Mapping):
        raise InputError(f"{path}: has no weights by name; save the network's state_dict by torch.save")
    weights = {_plain(name): value for name, value in found.items()}
    of_augmix = any(".conv_shortcut." in name for name in weights)
    weights = {name.replace(".conv_shortcut.", ".convShortcut."): value for name, value in weights.items()}
    network = WideResNet().eval()
    own = network.state_dict()
    # Of an earlier torch.
    counts = {name for name in own if name.endswith("num_batches_tracked")}
    wrong = [*(own.keys() - weights.keys() - counts)]
    wrong += [name for name in weights if name.startswith("block") and name not in own]
    wrong += [name for name in own.keys() & weights.keys() if weights[name].shape != own[name].shape]
    if wrong:
        raise InputError(
            f"{path}: is not a WRN-{DEPTH}-{WIDTH} in a known layout ({min(wrong)} is missing, unknown or of "
            "another shape); give weights of WideResNet-pytorch, RobustBench or AugMix"
        )
    network.load_state_dict({name: weights[name] for name in own.keys() & weights.keys()}, strict=False)
    mean, deviation = (torch.tensor(values).view(3, 1, 1) for values in (HALF if of_augmix else CIFAR))
    if {"mu", "sigma"} <= weights.keys():
        mean, deviation = (weights[name].reshape(3, 1, 1) for name in ("mu", "sigma"))

    def preprocess(image: Image.Image) -> torch.Tensor:
        pixels = torch.from_numpy(np.asarray(image).transpose(2, 0, 1) / np.float32(255))
        return (pixels - mean) / deviation

    return ImageEncoder(f"WRN-{DEPTH}-{WIDTH}", network, preprocess, batch=BATCH)


def _plain(name: Any) -> str:
    for prefix in PREFIXES:
        name = str(name).removeprefix(prefix)
    return str(name)
