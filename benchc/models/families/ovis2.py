"""Ovis2 in the form that transformers knows natively (repositories named ``-hf``)."""

from benchc.models.chat import ChatModel, load_chat_model
from benchc.models.protocol import ModelSource


def load(source: ModelSource) -> ChatModel:
    """Load a checkpoint of the family."""
    return load_chat_model(source)
