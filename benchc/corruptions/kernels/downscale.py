"""Pixelation of the VQA robustness benchmark: downscaling, with or without upscaling."""

from typing import Any

import cv2
import numpy as np

from benchc.pixels import Pixels


def pixelate_small(image: Pixels, *, scale: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) downscaled to ``scale`` times its sides by area averages.

    Sides are rounded down, to at least 1. Source: the benchmark's code.
    """
    return _resized(image, _scaled(image, scale), cv2.INTER_AREA)


def pixelate_bilinear(image: Pixels, *, scale: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) downscaled to ``scale`` times its sides and upscaled, bilinearly.

    Source: supplement of the VQA robustness benchmark, A.5.
    """
    height, width, _ = image.shape
    small = _resized(image, _scaled(image, scale), cv2.INTER_LINEAR)
    return _resized(small, (width, height), cv2.INTER_LINEAR)


def _scaled(image: Pixels, scale: float) -> tuple[int, int]:
    height, width, _ = image.shape
    return max(1, int(width * scale)), max(1, int(height * scale))


def _resized(image: Pixels, size: tuple[int, int], interpolation: int) -> Pixels:
    result: Any = cv2.resize(image, size, interpolation=interpolation)
    return np.asarray(result, dtype=np.uint8)
