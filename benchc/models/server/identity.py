"""The identity of predictions over a server: neither its address nor its key, nor how it is reached."""

from benchc.models.prediction_code import prediction_code
from benchc.models.protocol import ModelInterface

ENTRY = "benchc.models.server.served"


def served_identity(model: ModelInterface, entry: str = ENTRY) -> dict[str, str]:
    """Return the identity of what a model on a server returns; ``entry``: the module that made the model."""
    own = type(model).__module__
    modules = () if own == entry else (own,)
    code = prediction_code(modules, entry)
    return {**model.identity(), "entry": entry, "modules": " ".join(modules), "code": code}
