"""The minutes that jobs ask a cluster for, by their work: three times an estimate, and five.

Jobs that ask a model or an encoder continue from the cache where they are submitted again after a time-out,
with twice the time: they ask for one and a half times an estimate, and at most a day at first.
"""

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchc.config.catalogue import Model
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.times import MILLISECONDS

START = 5
FACTOR = 3
RESUMED_FACTOR = 1.5
MOST_RESUMED = 1440
# To decode and encode an image of a megapixel (docs/benchmarks.md).
CODEC_MILLISECONDS = 45.0
# Of a kernel that was not measured, such as one of the user.
UNKNOWN_MILLISECONDS = 100.0
SECONDS_PER_THREAD = 1800  # of the corruption of images
MOST_THREADS = 8
# 10^9 parameters of a model that does not state them.
UNKNOWN_PARAMETERS = 8.0
# Seconds of a prediction for 10^9 parameters, and of its image: InternVL3-1B's size took 0.017 s on an H100,
# and Qwen2.5-VL-7B's 0.093 s (docs/benchmarks.md). Other cards may be three times slower.
GPU_SECONDS = (0.04, 0.03)
CPU_SECONDS = (5.0, 0.02)
# An answer has many tokens.
ANSWER = 10
# Seconds of an image and its texts in an encoder such as ViT-L-14.
EMBEDDING_SECONDS = {"cuda": 0.05, "cpu": 2.0}
READ_MB_PER_SECOND = 5.0


def minutes(seconds: float) -> int:
    """Return what a job with an estimated time asks for."""
    return START + math.ceil(FACTOR * seconds / 60)


def resumed_minutes(seconds: float) -> int:
    """Return the same for a job that continues from the cache after a time-out."""
    return START + min(MOST_RESUMED, math.ceil(RESUMED_FACTOR * seconds / 60))


def rows(file: object) -> int:
    """Return the rows of a Parquet file; 0 before it is made, and of a file that the job will refuse."""
    # Imported here, since parsing should not take its time.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return int(pq.read_metadata(str(file)).num_rows)
    except (OSError, pa.ArrowInvalid):
        return 0


def items(input: Any) -> int:
    """Return the items of a job: those of its subset, or of the pool."""
    subset = getattr(input, "subset", None)
    return rows(subset if isinstance(subset, str) and subset else input.pool)


def corrupt_seconds(images: int, recipe: Recipe) -> float:
    """Return the time of one core for a corruption of ``images`` images at all its severities."""
    kernel = 0.0 if recipe.kernel is None else MILLISECONDS.get(recipe.kernel, UNKNOWN_MILLISECONDS)
    return images * max(1, len(recipe.parameters)) * (kernel + CODEC_MILLISECONDS) / 1000


def corrupt_threads(seconds: float) -> int:
    """Return the cores of a job that corrupts images for so many seconds of one core."""
    return min(MOST_THREADS, max(1, math.ceil(seconds / SECONDS_PER_THREAD)))


def prediction_seconds(model: Model, *, answers: bool) -> float:
    """Return an estimate of the time of a prediction, or of an answer in words."""
    billions = _billions(model)
    per_billion, image = GPU_SECONDS if model.gpus or model.server is not None else CPU_SECONDS
    return image + billions * per_billion * (ANSWER if answers else 1)


def embedding_minutes(number: int, device: str) -> int:
    """Return what a job asks for that embeds images and their texts on a device."""
    return resumed_minutes(number * EMBEDDING_SECONDS[device])


def reading_minutes(files: Iterable[object]) -> int:
    """Return what a job asks for that reads files; those that are not there count as empty."""
    return minutes(megabytes(files) / READ_MB_PER_SECOND)


def megabytes(files: Iterable[object]) -> int:
    """Return the size of files in MB of 10^6 bytes; those that are not there count as empty.

    Snakemake's own ``input.size_mb`` warns of a coroutine before they are made.
    """
    paths = [Path(str(file)) for file in files]
    return math.ceil(sum(path.stat().st_size for path in paths if path.is_file()) / 1e6)


def _billions(model: Model) -> float:
    if model.parameters_b is not None:
        return model.parameters_b
    folder = None if model.path is None else Path(model.path)
    if folder is not None and folder.is_dir():
        weights = sum(file.stat().st_size for file in folder.glob("*.safetensors"))
        return weights / 2e9 if weights else UNKNOWN_PARAMETERS
    return UNKNOWN_PARAMETERS
