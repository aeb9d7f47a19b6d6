"""Run the kernels of a user's file on a small image, so that most errors appear before the first job."""

from collections.abc import Sequence

import numpy as np

from benchc.corruptions.apply import apply, kernel_functions
from benchc.corruptions.own_file import forget_own_files
from benchc.corruptions.recipe import Recipe
from benchc.errors import InputError
from benchc.pixels import Pixels


def try_kernels(recipes: Sequence[Recipe]) -> None:
    """Raise InputError where a kernel fails, changes its input, or gives other pixels when it runs again."""
    image = np.random.default_rng(0).integers(0, 256, (40, 48, 3), np.uint8)
    first = [_variants(recipe, image) for recipe in recipes]
    # A file that samples random numbers when it is imported gives each process others.
    forget_own_files()
    kernel_functions.cache_clear()
    for recipe, before in zip(recipes, first, strict=True):
        for severity, after in _variants(recipe, image).items():
            if not np.array_equal(before[severity], after):
                raise InputError(
                    f"{recipe.kernel} gives other pixels with the same seed at severity {severity}; sample "
                    "its random numbers in a function noise=... from that function's generator"
                )


def _variants(recipe: Recipe, image: Pixels) -> dict[int, Pixels]:
    """Return the image, uint8[H, W, 3], under the corruption by severity."""
    variants = {}
    for severity in recipe.severities:
        given = image.copy()
        variants[severity] = apply(recipe, given, severity, seed=1)
        if not np.array_equal(given, image):
            raise InputError(
                f"{recipe.kernel} changes its input at severity {severity}; change a copy (image.copy())"
            )
    return variants
