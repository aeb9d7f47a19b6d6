"""The identity of predictions over a server: neither its address nor its key, nor how it is reached."""

from benchc.models.prediction_code import prediction_code
from benchc.models.protocol import Scorer

ENTRY = "benchc.models.server.served"


def served_identity(scorer: Scorer) -> dict[str, str]:
    """Return the identity of the predictions of a scorer that ``served_scorer`` returned."""
    return {**scorer.identity(), "entry": ENTRY, "modules": "", "code": prediction_code((), ENTRY)}
