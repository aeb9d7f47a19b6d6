"""Checks across the keys that only VQA-robustness has. Like the shared ones, they use raw values."""

from collections.abc import Iterator

from benchc.config.errors import shown, unknown
from benchc.config.raw import block, texts
from benchc.config.settings import Raw


def measured_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield one line for each corruption of VRE that the run does not have."""
    types = block(raw, "corruptions").get("types")
    if not isinstance(types, list):
        return
    known = [name for _, name in texts(types)]
    for position, name in texts(block(raw, "vre").get("corruptions")):
        if name not in known:
            yield unknown(
                file, f"vre.corruptions[{position}]", name, known, "corruption in corruptions.types"
            )


def own_model_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield one line for each id of answers_from that a model of the run has."""
    models = [name for _, name in texts(raw.get("models"))]
    for name in block(raw, "answers_from"):
        if name in models:
            yield f"{file}: answers_from has {shown(name)}, which is also one of models; give it another id."
