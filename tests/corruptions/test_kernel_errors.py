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
    kernel = function if "." in function else f"tests.corruptions.test_kernel_errors.{function}"
    return Recipe("mine", kernel, None, {1: {}}, resizes)


MUST_RETURN = r"the kernel .*{} of mine .* must return uint8\[40, 40, 3\]"
MISSING = r"the module '[a-z_.]*no_such_[a-z]+', .* to PYTHONPATH"


@pytest.mark.parametrize(
    ("function", "resizes", "severity", "error", "message"),
    [
        ("gone", False, 1, InputError, r"tests\.corruptions\.test_kernel_errors has no function gone"),
        ("as_float", False, 1, InputError, MUST_RETURN.format("as_float")),
        ("cut", False, 1, InputError, MUST_RETURN.format("cut")),
        ("as_float", True, 1, InputError, "must return"),
        ("no_such_package.light.flicker", False, 1, InputError, MISSING),
        ("tests.corruptions.no_such_module.flicker", False, 1, InputError, MISSING),
        ("unchanged", False, 1, InputError, "returned its input; it must return a copy"),
        ("cut", False, 2, ValueError, "mine has the severities 0, 1, not 2"),
    ],
)
def test_what_a_kernel_lacks_or_returns_is_named(function, resizes, severity, error, message):
    with pytest.raises(error, match=message):
        apply(recipe(function, resizes), IMAGE, severity, seed=0)


def test_a_kernel_marked_as_resizing_may_change_the_size():
    assert apply(recipe("cut", resizes=True), IMAGE, 1, seed=0).shape == (39, 40, 3)


def test_a_librarys_error_is_an_image_error_only_for_a_long_image():
    with pytest.raises(OSError, match="gave"):
        apply(recipe("given_up"), IMAGE, 1, seed=0)
    with pytest.raises(ImageError, match=r"mine cannot be applied to 16,384 × 1 pixels \(gave up\): scale"):
        apply(recipe("given_up"), np.zeros((1, 16_384, 3), dtype=np.uint8), 1, seed=0)
