"""One image under one corruption: the surface behind which kernels may change."""

import importlib
from collections.abc import Callable

import numpy as np

from benchc.corruptions.registry import CLEAN, SEVERITIES, family_of, kernel_module
from benchc.errors import InputError
from benchc.images import Pixels

Kernel = Callable[[Pixels, int, int], Pixels]

# The peers refuse smaller sides.
MIN_SIDE = 32


def corrupt(image: Pixels, name: str, severity: int, *, seed: int, suite: str = "imagenet-c") -> Pixels:
    """Return ``image`` under the corruption ``name`` of ``suite``, as a new array of the same shape.

    Args:
        image: uint8[H, W, 3], RGB, H and W at least 1. Grey images have three equal channels.
        name: a corruption of the suite, or ``clean``.
        severity: 1 to 5, or 0, which gives the pixels back unchanged; ``clean`` has severity 0 only.
        seed: at least 0; the pixels are a pure function of the image, the name, the severity and the seed.
        suite: a key of ``registry.SUITES``.

    A side under 32 pixels is mirrored out to 32 around the image and cut back afterwards.

    Raises TypeError for another dtype, ValueError for another shape and for what is not in the registry.
    """
    if image.dtype != np.uint8:
        raise TypeError(f"an image is corrupted as uint8, this one is {image.dtype}")
    if image.ndim != 3 or image.shape[2] != 3 or 0 in image.shape:
        raise ValueError(f"an image is [H, W, 3] with H and W at least 1, this one is {list(image.shape)}")
    if seed < 0:
        raise ValueError(f"a seed is at least 0, not {seed}")
    check(name, severity, suite)
    if severity == 0:
        return image.copy()
    height, width, _ = image.shape
    vertical, horizontal = _margins(height), _margins(width)
    padded = np.pad(image, (vertical, horizontal, (0, 0)), mode="reflect")
    result = kernel(name, suite)(padded, severity, seed)
    if result.dtype != np.uint8 or result.shape != padded.shape:
        raise InputError(
            f"the kernel {name} in {kernel_module(name, suite)} returned {result.dtype}{list(result.shape)}; "
            f"it must return uint8{list(padded.shape)}, as it was given"
        )
    top, left = vertical[0], horizontal[0]
    return np.ascontiguousarray(result[top : top + height, left : left + width])


def check(name: str, severity: int, suite: str = "imagenet-c") -> None:
    """Raise ValueError unless ``suite`` has the corruption ``name`` at this severity."""
    if name != CLEAN:
        family_of(name, suite)
    allowed = (0,) if name == CLEAN else (0, *SEVERITIES)
    if isinstance(severity, bool) or severity not in allowed:
        raise ValueError(f"{name} has the severities {', '.join(map(str, allowed))}, not {severity!r}")


def kernel(name: str, suite: str = "imagenet-c") -> Kernel:
    """Return the function behind a corruption, importing the one module that holds it."""
    module = kernel_module(name, suite)
    function: Kernel | None = getattr(importlib.import_module(module), name, None)
    if function is None:
        raise InputError(f"{module} has no function {name}, which the registry says is there; write it")
    return function


def _margins(side: int) -> tuple[int, int]:
    missing = max(0, MIN_SIDE - side)
    return missing // 2, missing - missing // 2
