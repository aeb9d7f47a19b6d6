"""Measure what the host does for a device: image processors, worker processes, and how busy a device is.

    python speed/host.py

1. Image processors of five models, with the settings of their checkpoints: transformers' own (PIL) against
   the same with benchc's methods, whose values must be equal to the last bit, and how far the torchvision
   backend is from them.
2. Units prepared per second by 1 and 2 worker processes: decoded, corrupted on the fly at five severities,
   hashed and encoded.
3. A stand-in device takes the model's place: it computes nothing for a fixed time per unit. The table shows
   the share of time that it is busy, and the cores that keep a device of that speed busy.

Images are scikit-image's photographs. One thread a process. Prints Markdown for docs/benchmarks.md.
"""

import argparse
import importlib
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import cycle
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"  # before torch loads
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import cv2
import numpy as np
import torch
from machine import processor
from photographs import jpeg, photographs, scaled
from PIL import Image

from benchc.corruptions.registry import corruptions_of, recipe_of
from benchc.hugging_face import transformers
from benchc.images import decode
from benchc.models.cache.unit_cache import PredictionCache
from benchc.models.encoding import Encoded, sizes_of
from benchc.models.fast_images import accelerated
from benchc.models.inference import infer, prediction_rows
from benchc.models.items import Item
from benchc.models.job import UNITS_AHEAD
from benchc.models.predictor import Predictor
from benchc.models.prepare import prepared_units
from benchc.models.protocol import OptionScores, UnitInput, Variants
from benchc.models.question import Question
from benchc.models.units import ImagesToCorrupt
from benchc.pixels import Pixels
from benchc.prefetch import prefetch

# Model type, class and settings of preprocessor_config.json of the published checkpoints.
PROCESSORS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "Qwen2.5-VL": ("qwen2_vl", "Qwen2VLImageProcessor", {"min_pixels": 3136, "max_pixels": 12_845_056}),
    "InternVL3": (
        "got_ocr2",
        "GotOcr2ImageProcessor",
        {
            "crop_to_patches": True,
            "min_patches": 1,
            "max_patches": 12,
            "size": {"height": 448, "width": 448},
            "image_mean": [0.485, 0.456, 0.406],
            "image_std": [0.229, 0.224, 0.225],
        },
    ),
    "Idefics3": ("idefics3", "Idefics3ImageProcessor", {}),
    "LLaVA-1.5": (
        "clip",
        "CLIPImageProcessor",
        {"size": {"shortest_edge": 336}, "crop_size": {"height": 336, "width": 336}},
    ),
    "SmolVLM": ("smolvlm", "SmolVLMImageProcessor", {}),
}
SIDES = (448, 896, 1344)
LATENCIES_MS = (30, 100, 300)
WORKERS = (1, 2)
MIN_BUSY = 0.95
SEVERITIES = (1, 2, 3, 4, 5)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python speed/host.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--models", nargs="+", choices=PROCESSORS, default=list(PROCESSORS), help="default: all")
    add("--sides", type=int, nargs="+", default=list(SIDES), help="of the images [%(default)s]")
    add("--seconds", type=float, default=10.0, help="of each measurement with workers [%(default)s]")
    add("--latencies", type=int, nargs="+", default=list(LATENCIES_MS), help="ms a unit [%(default)s]")
    arguments = parser.parse_args()
    cv2.setNumThreads(1)
    torch.set_num_threads(1)
    images = {
        side: [scaled(decode(data), side, side) for _, data in photographs()] for side in arguments.sides
    }
    print(f"{date.today()}, {processor()}, transformers {transformers.__version__}, one thread a process\n")
    print("Milliseconds of an image, and the largest difference of torchvision's pixel values (0 to 255):\n")
    print("| image processor | side | transformers, PIL | benchc | ratio | torchvision | differs by up to |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name in arguments.models:
        for side, pixels in images.items():
            print_processor(name, side, pixels)
    print("\nUnits (an image at five severities, all corruptions) per second, and how busy a device is:\n")
    header = [f"{latency} ms" for latency in arguments.latencies]
    columns = [f"workers: {workers}" for workers in WORKERS]
    cores = [f"workers for {each}" for each in header]
    print(f"| image processor | side | {' | '.join([*columns, *header, *cores])} |")
    print(f"|---|---:|{'---:|' * (len(columns) + 2 * len(header))}")
    for name in arguments.models:
        for side, pixels in images.items():
            print_device(name, side, pixels, arguments.seconds, arguments.latencies)


def image_processor(name: str, backend: str) -> Any:
    """Return an image processor of a published checkpoint, of a backend of transformers."""
    model_type, class_name, settings = PROCESSORS[name]
    suffix, file = ("Pil", "image_processing_pil") if backend == "pil" else ("", "image_processing")
    module = importlib.import_module(f"transformers.models.{model_type}.{file}_{model_type}")
    return getattr(module, class_name + suffix)(**settings)


def print_processor(name: str, side: int, pixels: Sequence[Pixels]) -> None:
    """Print one row of the table of image processors."""
    plain = image_processor(name, "pil")
    fast, other = accelerated(plain), image_processor(name, "torchvision")
    if fast is plain:
        raise SystemExit(f"error: {name}: its values are not those of transformers")
    pictures = [Image.fromarray(each) for each in pixels]
    sides = (plain, fast, other)
    seconds: list[list[float]] = [[] for _ in sides]
    differs = 0.0
    for picture in pictures * 3:
        found = []
        for times, each in zip(seconds, sides, strict=True):
            start = time.perf_counter()
            found.append(each([picture], return_tensors="pt")["pixel_values"])
            times.append(time.perf_counter() - start)
        if not torch.equal(found[0], found[1]):
            raise SystemExit(f"error: {name} at {side} pixels: its values are not those of transformers")
        differs = max(differs, float((found[0] - found[2]).abs().max()))
    # After the first round, in which what is kept is computed.
    times = [1000 * median(each[len(pictures) :]) for each in seconds]
    differs *= 255 * max(plain.image_std)
    cells = [f"{times[0]:.1f}", f"{times[1]:.1f}", f"{times[0] / times[1]:.1f}", f"{times[2]:.1f}"]
    print(f"| {name} | {side} | {' | '.join(cells)} | {differs:.1f} |", flush=True)


@dataclass
class StandIn:
    """A model with an image processor and no weights, which is asked in no time."""

    processor: Any
    encodes_on_host = True
    one_by_one = False

    def identity(self) -> dict[str, str]:
        return {"model": "stand-in", "device": "cpu"}

    def prompt(self, question: Question, images: int) -> str:
        return question.question

    def encode(self, question: Question, variants: Variants) -> Encoded:
        pictures = [[Image.fromarray(image) for image in images] for images in variants]
        inputs = dict(self.processor(pictures, return_tensors="pt"))
        tensors = {key: value for key, value in inputs.items() if isinstance(value, torch.Tensor)}
        return Encoded("", sizes_of(variants[0]), len(variants), tensors, independent=False)


@dataclass
class Device:
    """What takes the model's place: busy for ``latency`` seconds a unit, and idle until the next is there."""

    latency: float
    until: float
    units: int = 0
    first: float = 0.0
    last: float = 0.0

    def compute(
        self, model: StandIn, question: Question, units: Sequence[UnitInput]
    ) -> list[tuple[OptionScores, bool]]:
        for unit in units:
            assert unit.groups is not None  # encoded by a worker
            if not self.units:
                self.first = time.perf_counter()
            time.sleep(self.latency)
            self.units += 1
            self.last = time.perf_counter()
        return [(OptionScores(np.zeros((5, 2), np.float32), np.ones(5, np.float32)), False) for _ in units]

    @property
    def rate(self) -> float:
        """Units per second, from the first to the last."""
        return (self.units - 1) / (self.last - self.first - self.latency)


def measured(name: str, pixels: Sequence[Pixels], latency: float, workers: int, seconds: float) -> Device:
    """Return the device after it was asked for some seconds."""
    model = StandIn(accelerated(image_processor(name, "pil")))
    items = {f"s/{number}": Item(Question("?", ("a", "b")), ("k",)) for number in range(100_000)}
    files = [jpeg(each) for each in pixels]
    device = Device(latency, time.perf_counter() + seconds)

    def sources() -> Iterator[ImagesToCorrupt]:
        recipes = cycle([recipe_of(each, "imagenet-c") for each in corruptions_of("imagenet-c")])
        for item, data, recipe in zip(items, cycle(files), recipes, strict=False):
            if time.perf_counter() > device.until:
                return
            yield ImagesToCorrupt(recipe, {item: SEVERITIES}, 1, "drop", {item: [(f"{item}#0", data)]})

    with TemporaryDirectory() as folder, PredictionCache(Path(folder), model.identity(), "s") as cache:
        predictor: Any = Predictor(model, cache, device.compute)  # type: ignore[arg-type]
        units = prepared_units(sources(), model, items, cache, workers)
        infer(predictor, items, prefetch(units, UNITS_AHEAD), prediction_rows)
    return device


def print_device(
    name: str, side: int, pixels: Sequence[Pixels], seconds: float, latencies: Sequence[int]
) -> None:
    """Print one row of the table of units and devices."""
    measured(name, pixels, 0.0, 1, 2.0)  # compiles the kernels
    rates = [measured(name, pixels, 0.0, workers, seconds).rate for workers in WORKERS]
    cells = [f"{rate:.1f}" for rate in rates]
    per_core = rates[-1] / WORKERS[-1]
    for latency in latencies:
        wanted = 1000 / latency
        if rates[-1] < wanted:
            cells.append("–")
            continue
        device = measured(name, pixels, latency / 1000, WORKERS[-1], seconds)
        busy = device.rate * latency / 1000
        cells.append(f"{busy:.0%}{'' if busy >= MIN_BUSY else ' (!)'}")
    cells += [f"{math.ceil(1000 / latency / per_core)}" for latency in latencies]
    print(f"| {name} | {side} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
