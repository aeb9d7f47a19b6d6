"""A model that is ready to be asked, wherever it runs."""

from collections.abc import Callable, Mapping
from typing import Generic, NamedTuple, TypeVar

from benchc.models.protocol import Asked
from benchc.models.question import Question
from benchc.models.units import Variants

Model = TypeVar("Model", bound=Asked)
Value = TypeVar("Value")


class LoadedModel(NamedTuple, Generic[Model, Value]):
    """A model and all that decides what it returns.

    ``compute``: returns the value of a unit, and whether it was split to fit into the device's memory.
    ``at_once``: the units to ask about at once, in threads if more than one. ``ahead``: whether images are
    loaded while the model runs.
    """

    model: Model
    identity: Mapping[str, str]
    compute: Callable[[Model, Question, Variants], tuple[Value, bool]]
    at_once: int
    ahead: bool
