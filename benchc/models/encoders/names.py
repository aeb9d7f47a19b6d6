"""Names of encoders and of their libraries. Imports nothing heavy: rules use it, too."""

from pathlib import Path
from typing import Literal

# Those that embed images and captions in one space.
Library = Literal["open_clip", "sentence_transformers", "blip2"]

Device = Literal["cpu", "cuda"]

# Of predictions and vectors; as Job.cache of benchc.models.asking.
CACHE = Path("results/.cache")

# Inputs that pass through an encoder at once, unless the configuration says otherwise.
BATCH = 32

# An installed package contains this model, so that it loads without a network.
PACKAGED_TEXT_ENCODERS = ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2")


def hub_id(text_encoder: str) -> str | None:
    """Return the Hub id, ``owner/name``, of a text encoder; None for the installed one and for a folder.

    The owner of a name alone is sentence-transformers.
    """
    if text_encoder in PACKAGED_TEXT_ENCODERS or Path(text_encoder).exists():
        return None
    return text_encoder if "/" in text_encoder else f"sentence-transformers/{text_encoder}"
