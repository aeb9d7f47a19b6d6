"""Corruptions of images, and ``corrupt``, which corrupts one in memory."""

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    # By name: else all code of corruptions would depend on that module, and its edits rerun their jobs.
    if name == "corrupt":
        return import_module("benchc.corruptions.one_image").corrupt
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
