"""The facts about a run's models that tables and figures print, and the run's benchmark: `models.json`."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from benchc.errors import InputError


@dataclass(frozen=True)
class Model:
    """One model: its name in tables and figures, and the year and billions of parameters, where published."""

    id: str
    label: str
    year: int | None = None
    parameters_b: float | None = None


@dataclass(frozen=True)
class Models:
    """The benchmark that a run belongs to, and the run's models by id, in the configured order."""

    benchmark: str
    models: dict[str, Model]


def models_text(models: Models) -> str:
    """Return the content of `models.json`: equal models give equal bytes."""
    entries = {id_: asdict(model) for id_, model in models.models.items()}
    for entry in entries.values():
        del entry["id"]
        if entry["parameters_b"] is not None:
            entry["parameters_b"] = float(entry["parameters_b"])  # 7 and 7.0 are one number
    content = {"benchmark": models.benchmark, "models": entries}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def read_models(path: Path) -> Models:
    """Return what the file at ``path`` says.

    Raises InputError where there is no file, or its content is not that of ``models_text``.
    """
    mend = "run snakemake again, which writes it"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file; {mend}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); {mend}") from error
    except ValueError as error:
        raise InputError(f"{path}: is not JSON in UTF-8; delete it and {mend}") from error
    try:
        models = {id_: Model(id_, **entry) for id_, entry in content["models"].items()}
        found = Models(content["benchmark"], models)
        whole = set(content) == {"benchmark", "models"} and _typed(found)
    except (TypeError, KeyError, AttributeError):
        whole = False
    if not whole:
        raise InputError(
            f"{path}: must hold benchmark and models, and of each model its label, year and parameters_b; "
            f"delete it and {mend}"
        )
    return found


def _typed(found: Models) -> bool:
    return isinstance(found.benchmark, str) and all(
        isinstance(model.label, str)
        and type(model.year) in (int, type(None))
        and type(model.parameters_b) in (int, float, type(None))
        for model in found.models.values()
    )
