"""Gemma 3 with vision."""

from benchc.models.chat import ChatModel, load_chat_model
from benchc.models.protocol import ModelSource


def load(source: ModelSource) -> ChatModel:
    """Load a checkpoint of the family."""
    return load_chat_model(source)
