"""What a kernel that is being written may get wrong."""

import numpy as np
import pytest

from benchc.corruptions.apply import apply
from benchc.corruptions.recipe import Recipe
from benchc.errors import InputError
from benchc.images import ImageError

IMAGE = np.zeros((40, 40, 3), dtype=np.uint8)


def as_float(image):
    return image.astype(float)


def cut(image):
    return image[:-1].copy()


def unchanged(image):
    return image


def given_up(image):
    raise OSError("gave\n  up")


def recipe(function: str, resizes: bool = False) -> Recipe:
    return Recipe("mine", f"tests.corruptions.test_kernel_faults.{function}", None, {1: {}}, resizes)


def test_a_kernel_that_is_not_there_is_named():
    with pytest.raises(InputError, match=r"tests\.corruptions\.test_kernel_faults has no function gone"):
        apply(recipe("gone"), IMAGE, 1, seed=0)


@pytest.mark.parametrize("function", ["as_float", "cut"])
def test_a_kernel_must_return_what_it_was_given(function):
    with pytest.raises(
        InputError, match=rf"the kernel .*{function} of mine .* must return uint8\[40, 40, 3\]"
    ):
        apply(recipe(function), IMAGE, 1, seed=0)


def test_a_kernel_that_changes_sizes_says_so():
    assert apply(recipe("cut", resizes=True), IMAGE, 1, seed=0).shape == (39, 40, 3)
    with pytest.raises(InputError, match="must return"):
        apply(recipe("as_float", resizes=True), IMAGE, 1, seed=0)


def test_a_module_that_is_not_there_is_named():
    for kernel in ("no_such_package.light.flicker", "tests.corruptions.no_such_module.flicker"):
        with pytest.raises(InputError, match=r"the module '[a-z_.]*no_such_[a-z]+', .* to PYTHONPATH"):
            apply(Recipe("mine", kernel, None, {1: {}}), IMAGE, 1, seed=0)


def test_only_of_a_long_image_a_librarys_error_is_the_images():
    with pytest.raises(OSError, match="gave"):
        apply(recipe("given_up"), IMAGE, 1, seed=0)
    with pytest.raises(ImageError, match=r"mine cannot be applied to 16,384 × 1 pixels \(gave up\): scale"):
        apply(recipe("given_up"), np.zeros((1, 16_384, 3), dtype=np.uint8), 1, seed=0)


def test_a_kernel_must_not_return_its_input():
    with pytest.raises(InputError, match="returned its input; it must return a copy"):
        apply(recipe("unchanged"), IMAGE, 1, seed=0)


def test_a_severity_that_the_recipe_lacks_is_named():
    with pytest.raises(ValueError, match="mine has the severities 0, 1, not 2"):
        apply(recipe("cut"), IMAGE, 2, seed=0)
