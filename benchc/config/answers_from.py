"""Settings of models whose answers another program made, and their checks."""

from collections.abc import Iterator
from pathlib import PurePath

from pydantic import Field

from benchc.config.errors import shown
from benchc.config.raw import block, texts
from benchc.config.settings import Raw
from benchc.config.strict import Label, Strict, UserPath


class Imported(Strict):
    """A model whose answers were made by another program."""

    label: Label = Field(description="Name in tables and figures.")
    file: UserPath = Field(
        description="CSV file with the columns id, corruption (`clean` at severity 0), severity and answer, "
        "one row for each item, corruption and severity; relative to the working directory."
    )


def own_model_errors(raw: Raw, file: str, key: str = "answers_from") -> Iterator[str]:
    """Yield one line for each id of ``key`` that a model of the run has, and each file of two models."""
    models = [name for _, name in texts(raw.get("models"))]
    owners: dict[PurePath, str] = {}
    for name in block(raw, key):
        if name in models:
            yield f"{file}: {key} has {shown(name)}, which is also one of models; give it another id."
        for part, path in block(block(raw, key), name).items():
            if part == "label" or not isinstance(path, str):
                continue
            if (owner := owners.setdefault(PurePath(path), name)) != name:
                yield (
                    f"{file}: {key}.{name}.{part} is {shown(path)}, which is also a file of {owner}; give "
                    "each model its own."
                )
