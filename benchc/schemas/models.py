"""`models.json`: the benchmark of a run, and its models' labels, years and sizes for tables and figures."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from benchc.errors import InputError
from benchc.json_content import json_content


@dataclass(frozen=True)
class Model:
    """One model: its label in tables and figures, year, and billions of parameters, where published."""

    id: str
    label: str
    year: int | None = None
    parameters_b: float | None = None


@dataclass(frozen=True)
class Models:
    """A run's benchmark and its models by id, in the configured order."""

    benchmark: str
    models: dict[str, Model]


def models_text(models: Models) -> str:
    """Return the content of `models.json`, equal for equal models."""
    entries = {id_: asdict(model) for id_, model in models.models.items()}
    for entry in entries.values():
        del entry["id"]
        if entry["parameters_b"] is not None:
            entry["parameters_b"] = float(entry["parameters_b"])  # equal text for 7 and 7.0
    content = {"benchmark": models.benchmark, "models": entries}
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def read_models(path: Path) -> Models:
    """Read what :func:`models_text` wrote. Raises InputError where the file is missing or different."""
    fix = "run snakemake again, which writes it"
    try:
        content = json_content(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file; {fix}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); {fix}") from error
    except ValueError as error:
        raise InputError(f"{path}: is not JSON in UTF-8; delete it and {fix}") from error
    try:
        models = {id_: Model(id_, **entry) for id_, entry in content["models"].items()}
        found = Models(content["benchmark"], models)
        valid = set(content) == {"benchmark", "models"} and _typed(found)
    except (TypeError, KeyError, AttributeError):
        valid = False
    if not valid:
        raise InputError(
            f"{path}: must contain benchmark and models, and each model's label, year and parameters_b; "
            f"delete it and {fix}"
        )
    return found


def _typed(found: Models) -> bool:
    return isinstance(found.benchmark, str) and all(
        isinstance(model.label, str)
        and type(model.year) in (int, type(None))
        and type(model.parameters_b) in (int, float, type(None))
        for model in found.models.values()
    )
