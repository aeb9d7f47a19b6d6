"""Errors of a kernel, as its author sees them."""

import numpy as np
import pytest

from benchc.corruptions.apply import apply
from benchc.corruptions.recipe import Recipe
from benchc.errors import InputError
from benchc.images import ImageError

IMAGE = np.zeros((40, 40, 3), dtype=np.uint8)
SEEN = []


def as_float(image):
    return image.astype(float)


def as_bool(image):
    return image > 9


def cut(image):
    return image[:-1].copy()


def widened(image):
    return np.pad(image, ((0, 0), (0, 1), (0, 0)))


def unchanged(image):
    return image


def inverted(image):
    SEEN.append(image.copy())
    return 255 - image


def given_up(image):
    raise OSError("gave\n  up")


def recipe(function: str, resizes: bool = False) -> Recipe:
    kernel = function if "." in function else f"tests.corruptions.test_kernel_errors.{function}"
    return Recipe("mine", kernel, None, {1: {}}, resizes)


MUST_RETURN = r"the kernel .*{} of mine .* must return uint8\[40, 40, 3\]"
MISSING = r"the module '[a-z_.]*no_such_[a-z]+', .* to PYTHONPATH"


def test_severity_0_is_a_copy_and_needs_no_kernel():
    for kernel in ("inverted", "no_such_package.light.flicker"):
        found = apply(recipe(kernel), IMAGE, 0, seed=0)
        assert np.array_equal(found, IMAGE) and not np.shares_memory(found, IMAGE)


@pytest.mark.parametrize(
    ("function", "resizes", "severity", "error", "message"),
    [
        ("gone", False, 1, InputError, r"tests\.corruptions\.test_kernel_errors has no function gone"),
        ("as_float", False, 1, InputError, MUST_RETURN.format("as_float")),
        ("as_bool", False, 1, InputError, MUST_RETURN.format("as_bool")),
        ("cut", False, 1, InputError, MUST_RETURN.format("cut")),
        ("widened", False, 1, InputError, MUST_RETURN.format("widened")),
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
    # A small image is not padded for it, as nothing could be cropped afterwards.
    assert apply(recipe("cut", resizes=True), IMAGE[:5], 1, seed=0).shape == (4, 40, 3)


def test_a_kernel_gets_an_image_of_at_least_32_pixels_a_side():
    image = np.random.default_rng(0).integers(0, 256, (32, 40, 3), dtype=np.uint8)
    # More below and to the right where the number of rows or columns that are added is odd.
    for height, width, added in ((5, 31, ((13, 14), (0, 1))), (31, 40, ((0, 1), (0, 0)))):
        SEEN.clear()
        small = image[:height, :width]
        assert (apply(recipe("inverted"), small, 1, seed=0) == 255 - small).all()
        (given,) = SEEN
        assert np.array_equal(given, np.pad(small, (*added, (0, 0)), mode="reflect"))


def test_what_a_kernels_module_lacks_is_its_authors_error(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "kernels_that_import.py").write_text("import no_such_library\n")
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_library'"):
        apply(recipe("kernels_that_import.dim"), IMAGE, 1, seed=0)


def test_a_librarys_error_is_an_image_error_only_for_a_long_image():
    for longest in (IMAGE, np.zeros((1, 16_383, 3), dtype=np.uint8)):
        with pytest.raises(OSError, match="gave"):
            apply(recipe("given_up"), longest, 1, seed=0)
    with pytest.raises(ImageError, match=r"mine cannot be applied to 16,384 × 1 pixels \(gave up\): scale"):
        apply(recipe("given_up"), np.zeros((1, 16_384, 3), dtype=np.uint8), 1, seed=0)
