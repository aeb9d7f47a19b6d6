"""Apply a recipe to an image: check the arguments, pad small images, sample the noise, call the kernel."""

import importlib
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchc.corruptions.own_file import described, load_own_file
from benchc.corruptions.recipe import Recipe, own_file
from benchc.corruptions.user_file_digest import user_file_digest
from benchc.errors import InputError
from benchc.images import ImageError
from benchc.pixels import Pixels

# imagecorruptions and imgaug refuse smaller sides.
MIN_SIDE = 32

# How NumPy, Cython, Numba and OpenCV refuse to change an array.
READ_ONLY = re.compile("is read-only|modify readonly|marked as readonly")

# Beyond this, Pillow and OpenCV fail in places, with errors that do not name the cause.
LONG_SIDE = 16_383


def apply(recipe: Recipe, image: Pixels, severity: int, seed: int) -> Pixels:
    """Return ``image`` corrupted, as a new array: uint8[H, W, 3] in and out, as in :func:`corrupt`.

    ``severity`` is one of the recipe's, or 0, which returns the pixels unchanged.

    Raises TypeError for anything but an array of uint8 and for a seed that is not an integer; ValueError for
    another shape, a negative seed and a severity that the recipe lacks; InputError where the kernel is
    missing or returns something invalid, and for any error in a user's file; and ImageError where the image
    is too large for the kernel.
    """
    _check_image(image)
    _check_seed(seed)
    if not _is_integer(severity) or severity not in (0, *recipe.parameters):
        allowed = ", ".join(map(str, (0, *recipe.parameters)))
        raise ValueError(f"{recipe.name} has the severities {allowed}, not {severity!r}")
    if recipe.imported and severity != 0:
        raise InputError(
            f"images under {recipe.name} were imported, so that none can be generated; they are in "
            f"corrupted/{recipe.name}.parquet"
        )
    if severity == 0 or recipe.kernel is None:
        return image.copy()
    function, noise = kernel_functions(recipe.kernel, recipe.noise, recipe.code)
    height, width, _ = image.shape
    keywords = recipe.keywords(severity, height, width)
    vertical, horizontal = _margins(height), _margins(width)
    padded = np.ascontiguousarray(image)
    if not recipe.resizes and (any(vertical) or any(horizontal)):
        padded = np.pad(image, (vertical, horizontal, (0, 0)), mode="reflect")
    file = own_file(recipe.kernel)
    if file is not None:
        # All severities get the same image. Kernels of suites are tested, so they need no view.
        padded = padded.view()
        padded.flags.writeable = False
    try:
        if noise is None:
            result = function(padded, **keywords)
        else:
            generator = np.random.Generator(np.random.SFC64(int(seed)))
            result = function(padded, noise(generator, *padded.shape[:2], **keywords), **keywords)
    except InputError:
        raise
    except Exception as error:
        if max(height, width) <= LONG_SIDE:
            if file is None:
                raise
            remedy = "correct the kernel"
            if READ_ONLY.search(str(error)):
                remedy = "the image is read-only, so change a copy (image.copy())"
            raise InputError(f"{described(error, Path(file))}; {remedy}") from error
        reason = " ".join(str(error).split())
        raise ImageError(
            f"{recipe.name} cannot be applied to {width:,} × {height:,} pixels ({reason}): scale the image "
            "down"
        ) from error
    _check_result(recipe, result, padded)
    if recipe.resizes:
        return np.ascontiguousarray(result)
    top, left = vertical[0], horizontal[0]
    return np.ascontiguousarray(result[top : top + height, left : left + width])


def _check_result(recipe: Recipe, result: Pixels, given: Pixels) -> None:
    if not isinstance(result, np.ndarray):
        raise InputError(
            f"the kernel {recipe.kernel} of {recipe.name} returned {type(result).__name__}; it must return "
            f"uint8{list(given.shape)}, like its input"
        )
    shape, expected = given.shape, f"uint8{list(given.shape)}, like its input"
    if recipe.resizes:
        expected = "uint8[H, W, 3] with H and W at least 1"
        if 0 not in result.shape:
            shape = (*result.shape[:2], 3)
    if result.dtype != np.uint8 or result.shape != shape:
        raise InputError(
            f"the kernel {recipe.kernel} of {recipe.name} returned {result.dtype}{list(result.shape)}; it "
            f"must return {expected}"
        )
    if np.may_share_memory(result, given):
        raise InputError(
            f"the kernel {recipe.kernel} of {recipe.name} returned its input; it must return a copy"
        )


@cache
def kernel_functions(
    kernel: str, noise: str | None, code: str | None = None
) -> tuple[Callable[..., Any], Callable[..., Any] | None]:
    """Return a kernel and the function that samples its noise.

    ``code``: the digest of a user's file that it must have. Raises InputError where one of them is missing,
    or the file was edited.
    """
    file = own_file(kernel)
    if file is not None:
        module = load_own_file(file)
        if code is not None and user_file_digest(file) != code:
            raise InputError(f"{file}: was edited after this job was planned; run snakemake again")
        names = [name for name in (kernel.rpartition(":")[2], noise) if name]
        missing = [name for name in names if not hasattr(module, name)]
        if missing:
            raise InputError(f"{file}: has no function {missing[0]}, which a recipe names; add it")
        return getattr(module, names[0]), getattr(module, noise) if noise else None
    place, _, name = kernel.rpartition(".")
    return _function(place, name), _function(place, noise) if noise else None


def _function(module: str, name: str) -> Callable[..., Any]:
    try:
        function: Callable[..., Any] | None = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise
        raise InputError(
            f"the module {error.name!r}, needed for {module}.{name}, is missing; install it, or add its "
            "folder to PYTHONPATH"
        ) from error
    if function is None:
        raise InputError(f"{module} has no function {name}, which a suite or recipe names; add it")
    return function


def _check_image(image: Pixels) -> None:
    if not isinstance(image, np.ndarray):
        raise TypeError(f"an image must be a NumPy array, uint8[H, W, 3], not a {type(image).__name__}")
    if image.dtype != np.uint8:
        raise TypeError(f"an image must be uint8, not {image.dtype}")
    if image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
        raise ValueError(f"an image must be [H, W, 3] with H and W at least 1, not {list(image.shape)}")


def _check_seed(seed: int) -> None:
    if not _is_integer(seed):
        raise TypeError(f"a seed must be an integer, not {seed!r}")
    if seed < 0:
        raise ValueError(f"a seed must be at least 0, not {seed}")


def _is_integer(number: object) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool)


def _margins(side: int) -> tuple[int, int]:
    missing = max(0, MIN_SIDE - side)
    return missing // 2, missing - missing // 2
