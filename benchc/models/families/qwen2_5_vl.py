"""Qwen2.5-VL."""

from dataclasses import replace
from typing import Any

from benchc.models.chat import ChatModel, load_chat_model
from benchc.models.protocol import ModelSource

# Bounds of a resized image's area, in pixels, and where the processor keeps them.
BOUNDS = {"min_pixels": "shortest_edge", "max_pixels": "longest_edge"}


def load(source: ModelSource) -> ChatModel:
    """Load a checkpoint of the family; ``min_pixels`` and ``max_pixels`` set its processor together."""
    settings: dict[str, Any] = dict(source.processor)
    if set(BOUNDS) <= set(settings):
        settings["size"] = {place: settings.pop(name) for name, place in BOUNDS.items()}
    return load_chat_model(replace(source, processor=settings))
