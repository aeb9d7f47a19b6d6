"""What a tuned model is called, in folders and in the catalogue of the tuned ones."""

from benchc.models.tuning.settings import Modality


def tuned_id(model: str, modality: Modality) -> str:
    """Return the id of a model that is tuned with a modality."""
    return f"{model}.{modality}"
