"""Run the kernels of a user's file on two images, so that most errors appear before the first job."""

import sys
from collections.abc import Sequence
from threading import Timer

import numpy as np

from benchc.corruptions.apply import apply, kernel_functions
from benchc.corruptions.own_file import forget_own_files, tracked_imports
from benchc.corruptions.recipe import Recipe, own_file
from benchc.errors import InputError
from benchc.pixels import Pixels

# Some kernels treat large images differently. Only the highest severity is applied to the large one.
SMALL, LARGE = (40, 48, 3), (240, 320, 3)
# Until a line says what delays the command.
SILENT_SECONDS = 1.0


def try_kernels(recipes: Sequence[Recipe]) -> None:
    """Raise InputError where a kernel fails, changes its input, or gives other pixels when it runs again.

    Also where it imports a module that the digests do not include. A trial of more than a second says on
    standard error what it tries.
    """
    text = f"trying {', '.join(str(recipe.kernel) for recipe in recipes)} on two images, as each command does"
    notice = Timer(SILENT_SECONDS, print, [text], {"file": sys.stderr})
    notice.start()
    try:
        _try_kernels(recipes)
    finally:
        notice.cancel()


def _try_kernels(recipes: Sequence[Recipe]) -> None:
    generator = np.random.default_rng(0)
    small, large = (generator.integers(0, 256, shape, np.uint8) for shape in (SMALL, LARGE))
    calls = [
        (recipe, severity, image)
        for recipe in recipes
        for image, severities in ((small, recipe.severities), (large, recipe.severities[-1:]))
        for severity in severities
    ]
    first = [_applied(*call) for call in calls]
    # A kernel may keep a counter or a generator between its calls.
    _check_again(calls, first)
    # A file that samples random numbers when it is imported gives each process others. And what a kernel
    # keeps from its first call may be that of another severity or size.
    forget_own_files()
    kernel_functions.cache_clear()
    _check_again(calls[::-1], first[::-1])


def _check_again(calls: Sequence[tuple[Recipe, int, Pixels]], before: Sequence[Pixels]) -> None:
    for (recipe, severity, image), pixels in zip(calls, before, strict=True):
        if not np.array_equal(pixels, _applied(recipe, severity, image)):
            raise InputError(
                f"{recipe.kernel} gives other pixels with the same seed at severity {severity}; sample "
                "its random numbers in a function noise=... from that function's generator, and keep "
                "nothing between calls"
            )


def _applied(recipe: Recipe, severity: int, image: Pixels) -> Pixels:
    """Return the image, uint8[H, W, 3], under the corruption."""
    given = image.copy()
    with tracked_imports(own_file(recipe.kernel) or ""):
        result = apply(recipe, given, severity, seed=1)
    if not np.array_equal(given, image):
        raise InputError(
            f"{recipe.kernel} changes its input at severity {severity}; change a copy (image.copy())"
        )
    return result
