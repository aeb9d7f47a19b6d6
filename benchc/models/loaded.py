"""A model that is ready to be asked, wherever it runs."""

from collections.abc import Mapping
from typing import Generic, NamedTuple, TypeVar

from benchc.models.predictor import Compute
from benchc.models.protocol import ModelInterface

Model = TypeVar("Model", bound=ModelInterface)
Value = TypeVar("Value")


class LoadedModel(NamedTuple, Generic[Model, Value]):
    """A model and all that decides what it returns.

    Attributes:
        compute: returns the value of each unit of a question, and whether it was split to fit into the
            device's memory.
        at_once: the units to ask about at once, in threads if more than one.
        prefetches: whether images are loaded while the model runs.
        encodes: whether another process of this job can encode images for the model.
        together: which units pass through the model together; None where a server decides it.
    """

    model: Model
    identity: Mapping[str, str]
    compute: Compute[Model, Value]
    at_once: int
    prefetches: bool
    encodes: bool = False
    together: str | None = None
