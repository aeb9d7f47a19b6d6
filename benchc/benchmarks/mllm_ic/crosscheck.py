"""Checks across the keys that only MLLM-IC has. Like the shared ones, they use raw values."""

from collections.abc import Iterator

from benchc.config.answers_from import own_model_errors
from benchc.config.errors import unknown
from benchc.config.raw import block, texts
from benchc.config.settings import Raw, default_types

OTHERS = ("answers_from", "predictions_from")


def circular_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield one line for each source with circular copies that the run does not have."""
    sources = [name for _, name in texts(raw.get("sources"))]
    for position, name in texts(block(raw, "capabilities").get("circular")):
        if name not in sources:
            yield unknown(file, f"capabilities.circular[{position}]", name, sources, "id in sources")


def id_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield one line for each id of a model of others that another model of the run has."""
    for key in OTHERS:
        yield from own_model_errors(raw, file, key)
    for name in sorted({*block(raw, OTHERS[0])} & {*block(raw, OTHERS[1])}):
        yield f"{file}: {name} is in answers_from and in predictions_from; give one another id."


def figure_errors(raw: Raw, file: str) -> Iterator[str]:
    """Yield a line for each model or type of a figure that the run does not have."""
    known = [
        *(name for _, name in texts(raw.get("models"))),
        *(id_ for key in OTHERS for id_ in block(raw, key)),
    ]
    figures, corruptions = block(raw, "figures"), block(raw, "corruptions")
    name = block(figures, "figure10").get("model")
    if isinstance(name, str) and name not in known:
        yield unknown(file, "figures.figure10.model", name, known, "model of the run")
    left_out = texts(figures.get("left_out"))
    for position, name in left_out:
        if name not in known:
            yield unknown(file, f"figures.left_out[{position}]", name, known, "model of the run")
    if known and {*known} == {name for _, name in left_out}:
        yield f"{file}: figures.left_out has all models of the run; keep one for Figures 6 to 9."
    types = corruptions.get("types", default_types(corruptions))
    for position, name in texts(block(figures, "figure5").get("types")):
        if isinstance(types, list) and types and name not in types:
            yield unknown(file, f"figures.figure5.types[{position}]", name, types, "corruption in this run")
