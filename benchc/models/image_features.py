"""Compute the features of images once for consecutive questions about them."""

from collections.abc import Mapping, Sequence
from functools import update_wrapper
from typing import Any

import torch

# The method of classes of transformers that turns pixels into the features which replace placeholders.
METHOD = "get_image_features"


def keep_image_features(model: torch.nn.Module) -> None:
    """Let a model keep the features of the images that it read last; does nothing for a class without them.

    Other circular orders of an item's options, and other questions about its images, then pass through the
    language model alone. The features are those that were computed, so that no bit changes.
    """
    owners = [module for module in model.modules() if hasattr(type(module), METHOD)]
    if owners:
        # The innermost, which the others call.
        setattr(owners[-1], METHOD, _Kept(getattr(owners[-1], METHOD)))


class _Kept:
    """A function that returns its last result again for equal arguments."""

    def __init__(self, function: Any) -> None:
        # `generate` of transformers reads its signature.
        update_wrapper(self, function)
        self._function = function
        self._last: tuple[Any, Any] | None = None

    def __call__(self, *values: Any, **options: Any) -> Any:
        if self._last is None or not _same(self._last[0], (values, options)):
            self._last = None  # frees the memory of the features before others are computed
            self._last = (values, options), self._function(*values, **options)
        return self._last[1]


def _same(value: Any, other: Any) -> bool:
    if isinstance(value, torch.Tensor):
        return (
            isinstance(other, torch.Tensor)
            and (value.dtype, value.device) == (other.dtype, other.device)
            and torch.equal(value, other)
        )
    if isinstance(value, Mapping):
        return (
            isinstance(other, Mapping)
            and value.keys() == other.keys()
            and all(_same(value[key], other[key]) for key in value)
        )
    if isinstance(value, Sequence) and not isinstance(value, str):
        return (
            isinstance(other, Sequence)
            and len(value) == len(other)
            and all(_same(*pair) for pair in zip(value, other, strict=True))
        )
    return bool(value is other or value == other)
