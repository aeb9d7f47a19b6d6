"""The minutes that jobs ask a cluster for, by their work: three times an estimate, and five.

Jobs that ask a model or an encoder continue from the cache where they are submitted again after a
time-out, with twice the time: they ask for at most a day at first. Their estimate is that of an H100, and
other cards may be three times slower.
"""

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from benchc.config.catalogue import Model
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.times import MILLISECONDS

START = 5
FACTOR = 3
MOST_RESUMED = 1440
# To decode and encode an image of a megapixel (docs/benchmarks.md).
CODEC_MILLISECONDS = 45.0
# Of a kernel that was not measured, such as one of the user.
UNKNOWN_MILLISECONDS = 100.0
SECONDS_PER_THREAD = 1800  # of the corruption of images
MOST_THREADS = 8
# 10^9 parameters of a model that does not state them, and main memory for 10^9.
UNKNOWN_PARAMETERS = 8.0
MEM_MB_PER_BILLION = 3000
TRAINED_BY_RUN = 0.001
# Seconds of an image, and for 10^9 parameters of a prediction and of each token of an answer. InternVL3-1B's
# size took 0.017 s for a prediction on an H100, and Qwen2.5-VL-7B's 0.093 s (docs/benchmarks.md).
GPU_SECONDS = (0.004, 0.0127, 0.003)
CPU_SECONDS = (0.01, 2.5, 0.5)
# Seconds of an image and its texts in an encoder such as ViT-L-14.
EMBEDDING_SECONDS = {"cuda": 0.025, "cpu": 1.0}
READ_MB_PER_SECOND = 5.0
_rows_before_made = ContextVar("_rows_before_made", default=0)
_is_estimate = ContextVar("_is_estimate", default=False)


@contextmanager
def rows_before_made(number: int) -> Iterator[None]:
    """Let each table that is not made yet count as one of ``number`` rows, as for a plan."""
    token = _rows_before_made.set(number)
    try:
        yield
    finally:
        _rows_before_made.reset(token)


@contextmanager
def estimates() -> Iterator[None]:
    """Let :func:`minutes` and :func:`resumed_minutes` return the estimates themselves, at least a minute."""
    token = _is_estimate.set(True)
    try:
        yield
    finally:
        _is_estimate.reset(token)


def minutes(seconds: float) -> int:
    """Return what a job with an estimated time asks for."""
    if _is_estimate.get():
        return max(1, math.ceil(seconds / 60))
    return START + math.ceil(FACTOR * seconds / 60)


def resumed_minutes(seconds: float) -> int:
    """Return the same for a job that continues from the cache after a time-out."""
    return minutes(seconds) if _is_estimate.get() else min(MOST_RESUMED, minutes(seconds))


def rows(file: object) -> int:
    """Return the rows of a Parquet file; 0 before it is made, and of a file that the job will refuse.

    Within :func:`rows_before_made`, it is the number given there.
    """
    # Imported here, since parsing should not take its time.
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return int(pq.read_metadata(str(file)).num_rows)
    except FileNotFoundError:
        return _rows_before_made.get()
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


def prediction_seconds(model: Model, tokens: int = 0) -> float:
    """Return an estimate of the time of a prediction, or of an answer of at most so many tokens."""
    per_image, per_billion, per_token = GPU_SECONDS if model.gpus or model.server is not None else CPU_SECONDS
    # Most answers end before.
    seconds = per_image + _billions(model) * (per_billion + per_token * tokens / 2)
    return seconds / (1 if model.server is None else model.server.concurrency)


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
    if model.train is not None:
        return TRAINED_BY_RUN
    if model.parameters_b is not None:
        return model.parameters_b
    folder = None if model.path is None else Path(model.path)
    weights = sum(file.stat().st_size for file in folder.glob("*.safetensors")) if folder else 0
    return weights / 2e9 if weights else min(UNKNOWN_PARAMETERS, model.mem_mb / MEM_MB_PER_BILLION)
