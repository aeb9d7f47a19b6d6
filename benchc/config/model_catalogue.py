"""The models of catalogues by id, for commands that need no configuration of a run."""

import difflib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from benchc.config.catalogue import Model, ModelCatalogue
from benchc.config.errors import ConfigError, shown, validation_errors
from benchc.config.new_entries import SHIPPED
from benchc.config.paths import expand_path
from benchc.config.yaml_file import YamlError, read_yaml
from benchc.errors import InputError

# Those of this checkout.
CATALOGUES = tuple(Path(file) for file in SHIPPED["models"])


@dataclass(frozen=True)
class Listed:
    """An entry of a catalogue, and the catalogue's file. The path of a model in a folder is expanded."""

    model: Model
    file: Path


def listed_models(files: Iterable[Path]) -> dict[str, Listed]:
    """Return the models of catalogues by id; of several with one id the first.

    Raises InputError where a file cannot be read, and ConfigError, with all errors, where one is invalid.
    """
    found: dict[str, Listed] = {}
    for file in files:
        for id_, model in _read(file).items():
            # That a folder is absent matters only where the model is used.
            expanded = expand_path(model, f"{file}: {id_}.", Path.cwd(), os.environ, [])
            found.setdefault(id_, Listed(expanded, file))
    return found


def listed_model(id_: str, models: Mapping[str, Listed]) -> Listed:
    """Return the model with an id. Raises InputError where there is none."""
    if id_ not in models:
        files = " or ".join(dict.fromkeys(str(each.file) for each in models.values()))
        nearest = difflib.get_close_matches(id_, models)
        hint = (
            f" (did you mean {nearest[0]}?)"
            if nearest
            else "; `benchc models list` shows all, and --catalogue FILE names another catalogue"
        )
        raise InputError(f"{files}: there is no model {shown(id_)}{hint}")
    return models[id_]


def _read(file: Path) -> Mapping[str, Model]:
    try:
        content = read_yaml(file)
    except (OSError, YamlError) as error:
        reason = f"cannot be read ({error.strerror})" if isinstance(error, OSError) else error
        raise InputError(f"{file}: {reason}; name a model catalogue with --catalogue") from error
    try:
        return ModelCatalogue.model_validate(content).root
    except ValidationError as error:
        raise ConfigError(validation_errors(error, ModelCatalogue, content, str(file))) from error
