"""The distances from the rims of drops are exact."""

from collections.abc import Callable, Iterator

import cv2
import numpy as np
import pytest
from scipy import ndimage

from benchc.corruptions.kernels.spatter import CANNY, RIM, UNITS, mean_distances
from benchc.pixels import Pixels


def chamfer() -> np.ndarray:
    """Return the distances from the centre of a square of 41 pixels in units, in closed form (Borgefors)."""
    offsets = np.abs(np.arange(-RIM, RIM + 1))
    large, small = np.maximum.outer(offsets, offsets), np.minimum.outer(offsets, offsets)
    # Steps to the next pixel or diagonally, and a knight's moves.
    flat = (large - 2 * small) * UNITS + small * 21_969
    steep = (2 * small - large) * 14_000 + (large - small) * 21_969
    return np.where(large >= 2 * small, flat, steep)


CHAMFER = chamfer()


@pytest.fixture(params=[True, False], scope="module", autouse=True)
def ipp(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let OpenCV use Intel's library or not; it does not on other processors, where distances differ."""
    before = cv2.ipp.useIPP()
    cv2.ipp.setUseIPP(request.param)
    yield
    cv2.ipp.setUseIPP(before)


def rims_of_drops(shape: tuple[int, int], seed: int) -> Pixels:
    noise = ndimage.gaussian_filter(np.random.default_rng(seed).normal(size=shape), 3)
    return np.asarray(cv2.Canny(np.where(noise > noise.std(), 255, 0).astype(np.uint8), *CANNY))


def scattered(shape: tuple[int, int], seed: int) -> Pixels:
    generator = np.random.default_rng(seed)
    return (generator.random(shape) < generator.choice([0, 0.002, 0.02, 1])) * np.uint8(255)


@pytest.mark.parametrize("rims_of", [rims_of_drops, scattered])
@pytest.mark.parametrize("shape", [(2, 3), (7, 5), (31, 17), (32, 33), (225, 224)])
def test_mean_distances_are_the_integer_parts_of_exact_means(
    shape: tuple[int, int], rims_of: Callable[[tuple[int, int], int], Pixels]
) -> None:
    for seed in range(3 if shape[0] > 200 else 20):
        rims = rims_of(shape, seed)
        distances = ndimage.grey_erosion(
            np.where(rims, 0, RIM * UNITS), structure=-CHAMFER, mode="constant", cval=RIM * UNITS
        )
        sums = ndimage.convolve(distances, np.ones((3, 3), int), mode="mirror")
        np.testing.assert_array_equal(mean_distances(rims), sums // (9 * UNITS))
