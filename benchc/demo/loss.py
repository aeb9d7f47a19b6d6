"""Stop a training whose loss is not finite."""

import math

import torch

from benchc.errors import InputError


def check_loss(loss: torch.Tensor, step: int, label: str, fix: str) -> float:
    """Return the loss of a step, counted from 0, as a number.

    Raises InputError, which begins with ``label`` and ends with ``fix``, for NaN and infinity: all further
    steps would be wasted, and weights of NaN saved.
    """
    value = loss.item()
    if not math.isfinite(value):
        raise InputError(f"{label}: the loss of step {step + 1} is {value}; {fix}")
    return value
