"""Errors of a kernel, as its author sees them."""

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
    return Recipe("mine", f"tests.corruptions.test_kernel_errors.{function}", None, {1: {}}, resizes)


def test_a_missing_kernel_is_named():
    with pytest.raises(InputError, match=r"tests\.corruptions\.test_kernel_errors has no function gone"):
        apply(recipe("gone"), IMAGE, 1, seed=0)


@pytest.mark.parametrize("function", ["as_float", "cut"])
def test_a_kernel_must_return_the_type_and_shape_of_its_input(function):
    with pytest.raises(
        InputError, match=rf"the kernel .*{function} of mine .* must return uint8\[40, 40, 3\]"
    ):
        apply(recipe(function), IMAGE, 1, seed=0)


def test_only_a_kernel_marked_as_resizing_may_change_the_size():
    assert apply(recipe("cut", resizes=True), IMAGE, 1, seed=0).shape == (39, 40, 3)
    with pytest.raises(InputError, match="must return"):
        apply(recipe("as_float", resizes=True), IMAGE, 1, seed=0)


def test_a_missing_module_is_named():
    for kernel in ("no_such_package.light.flicker", "tests.corruptions.no_such_module.flicker"):
        with pytest.raises(InputError, match=r"the module '[a-z_.]*no_such_[a-z]+', .* to PYTHONPATH"):
            apply(Recipe("mine", kernel, None, {1: {}}), IMAGE, 1, seed=0)


def test_a_librarys_error_is_an_image_error_only_for_a_long_image():
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
