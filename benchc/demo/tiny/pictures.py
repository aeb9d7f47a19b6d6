"""What the processors of all tiny models do to a picture's pixels."""

from typing import Any

from benchc.demo.training_set import RESAMPLING


def picture_settings() -> dict[str, Any]:
    """Return the settings of an image processor: squash like the training set, then map 0..255 to -1..1."""
    return {
        "resample": int(RESAMPLING),
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
    }
