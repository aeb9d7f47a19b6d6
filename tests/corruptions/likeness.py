"""Assert that two implementations of a corruption agree: pixel by pixel, or as distributions."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from benchc.pixels import Pixels

Floats = npt.NDArray[np.float64]
BANDS = 8


def assert_same_pixels(ours: Pixels, reference: Pixels) -> None:
    """Assert that at least 99.9 % of the pixels differ by at most one grey level in every channel."""
    assert ours.dtype == reference.dtype == np.uint8
    assert ours.shape == reference.shape
    distance = np.abs(ours.astype(np.int16) - reference).max(axis=2)
    share = float((distance <= 1).mean())
    assert share >= 0.999, (
        f"{share:.4%} of the pixels agree within a level; the largest gap is {distance.max()}"
    )


def assert_same_distribution(
    ours: Callable[[int], Pixels], reference: Callable[[int], Pixels], image: Pixels, draws: int = 100
) -> None:
    """Assert that (output - image) has the same moments and spectrum under both, over seeds 0, 1, ...

    Mean and SD of every channel within 3 % (of the larger of the two, at least one grey level for the mean),
    power in each of 8 radial bands within 5 %.
    """
    a, b = (_statistics(function, image, draws) for function in (ours, reference))
    for name, tolerance in (("mean", 0.03), ("sd", 0.03), ("power", 0.05)):
        floor = 1.0 if name == "mean" else 0.0
        scale = np.maximum(np.maximum(np.abs(a[name]), np.abs(b[name])), floor)
        gap = np.abs(a[name] - b[name]) / scale
        assert gap.max() <= tolerance, f"{name}: ours {a[name]}, reference {b[name]}, gaps {gap}"


def _statistics(function: Callable[[int], Pixels], image: Pixels, draws: int) -> dict[str, Floats]:
    sums, squares, power = np.zeros(3), np.zeros(3), np.zeros(BANDS)
    for seed in range(draws):
        change = function(seed).astype(np.float64) - image
        sums += change.mean(axis=(0, 1))
        squares += (change**2).mean(axis=(0, 1))
        power += _radial_power(change.mean(axis=2))
    mean = sums / draws
    return {"mean": mean, "sd": np.sqrt(squares / draws - mean**2), "power": power / draws}


def _radial_power(plane: Floats) -> Floats:
    """Return the power of a plane in 8 rings of equal width from zero frequency to Nyquist."""
    spectrum = np.abs(np.fft.fft2(plane)) ** 2
    y, x = np.meshgrid(*(np.abs(np.fft.fftfreq(side)) for side in plane.shape), indexing="ij")
    ring = np.minimum((np.hypot(y, x) / 0.5 * BANDS).astype(int), BANDS)
    return np.bincount(ring.ravel(), weights=spectrum.ravel(), minlength=BANDS + 1)[:BANDS]
