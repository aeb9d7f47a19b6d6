"""Load and validate the configuration of a run: settings and both catalogues, all errors together."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from benchc.config.benchmarks import known_benchmarks, module_of
from benchc.config.catalogue import Model, ModelCatalogue, Source, SourceCatalogue
from benchc.config.crosscheck import cross_errors
from benchc.config.errors import ConfigError, shown, unknown, validation_errors
from benchc.config.evaluation import RECORD, FinishedRun, finished_run
from benchc.config.paths import expand_path
from benchc.config.raw import block, texts
from benchc.config.settings import DEFAULT_SUITE, Catalogues, RunSettings
from benchc.config.yaml_file import YamlError, read_mapping, read_yaml
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.registry import SUITES
from benchc.corruptions.suite import Suite
from benchc.errors import InputError
from benchc.home import HOME, shipped

ENVIRONMENTS = "envs"

Validated = TypeVar("Validated", bound=BaseModel)


@dataclass(frozen=True)
class Config:
    """The validated configuration of one run.

    ``sources`` and ``models`` map the ids that the run uses to their entries: sources of the pool in the
    configured order, models in the order of the keys that list them, each once. Variables in their paths are
    expanded. ``other_sources``: those that only other keys than ``sources`` list. ``finished``: the run on
    whose benchmark models are evaluated; None for a run that makes its own.
    """

    settings: RunSettings
    sources: Mapping[str, Source]
    models: Mapping[str, Model]
    other_sources: Mapping[str, Source] = field(default_factory=dict)
    finished: FinishedRun | None = None

    @property
    def asked(self) -> Mapping[str, Model]:
        """Return the models that jobs of the run may ask: without those whose results a finished run has."""
        if self.finished is None:
            return self.models
        # Those that a run tunes are a configuration of their own.
        return {id_: self.models[id_] for id_ in self.finished.new if id_ in self.models}

    @property
    def most_gpus(self) -> int:
        """Return the most GPUs of a job of the run; one on a finished benchmark has no jobs of encoders."""
        encoders = 0 if self.finished else self.settings.encoder_gpus
        return max([encoders, *(model.gpus for model in self.asked.values())])

    @property
    def all_sources(self) -> Mapping[str, Source]:
        """Return the sources of the pool and the others."""
        return {**self.sources, **self.other_sources}


def load(
    raw: Mapping[str, Any],
    root: Path,
    *,
    file: str = "config",
    merged: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> Config:
    """Return the validated configuration that ``raw``, the content of a config file, describes.

    Paths in it are relative to ``root``. ``file`` is its name in messages; where that is the path of a
    file, its keys that are given twice and values that are others in YAML 1.2 are errors too. ``merged``:
    the files that were merged to ``raw``, where ``file`` is none. ``environment`` has the variables that
    paths may use (default: the process's). Raises ConfigError with all errors; without a known benchmark, no
    key can be validated, so that this error comes alone.
    """
    errors = [error for name in merged or [file] for error in _errors_of_file(root, name)]
    raw, finished = finished_run(
        raw, root, file, lambda benchmark: _settings_type(benchmark, file, errors).MEASURED_KEY
    )
    settings_type = _settings_type(raw.get("benchmark"), file, errors)
    settings = validate(settings_type, raw, file, errors)
    files = _catalogue_files(raw, file, errors)
    entries = {key: _read_catalogue(root, path, key, errors) for key, path in files.items()}
    if finished is not None and (own := entries.get("models")) is not None:
        entries["models"] = finished.catalogue(own, files["models"], file, root, errors)
    sources = validate(SourceCatalogue, entries.get("sources"), files.get("sources", ""), errors)
    models = validate(ModelCatalogue, entries.get("models"), files.get("models", ""), errors)
    # Raw entries: a wrong key in an entry does not make its id unknown.
    suite = _suite(raw, root, file, errors)
    catalogues = entries.get("sources"), entries.get("models")
    errors += cross_errors(settings_type, raw, file, *catalogues, files, suite)
    if errors or settings is None or sources is None or models is None:
        raise ConfigError(errors)

    variables = os.environ if environment is None else environment
    used_sources = {id_: sources.root[id_] for id_ in _listed(settings, settings.SOURCE_KEYS)}
    used_models = {id_: models.root[id_] for id_ in _listed(settings, settings.MODEL_KEYS)}
    # What a finished run has used need not be here.
    if finished is None:
        for id_, source in used_sources.items():
            where = f"{files['sources']}: {id_}."
            used_sources[id_] = expand_path(source, where, root, variables, errors)
    for id_ in used_models if finished is None else finished.new:
        where = f"{files['models']}: {id_}."
        used_models[id_] = expand_path(used_models[id_], where, root, variables, errors)
    other_sources = {id_: used_sources.pop(id_) for id_ in [*used_sources] if id_ not in settings.sources}
    config = Config(settings, used_sources, used_models, other_sources, finished)
    errors += _missing_environments(config.asked, files["models"])
    if errors:
        raise ConfigError(errors)
    return config


def _listed(settings: RunSettings, keys: Iterable[str]) -> dict[str, None]:
    """Return the ids in the lists under some keys, each once."""
    return dict.fromkeys(id_ for key in keys for id_ in attrgetter(key)(settings))


def _settings_type(benchmark: object, file: str, errors: list[str]) -> type[RunSettings]:
    known = known_benchmarks()
    if benchmark is None:
        raise ConfigError([*errors, f"{file}: benchmark is missing; it should be {' or '.join(known)}."])
    if not isinstance(benchmark, str) or benchmark not in known:
        raise ConfigError([*errors, unknown(file, "benchmark", benchmark, known, "benchmark")])
    settings_type: type[RunSettings] = module_of(benchmark, "settings").Settings
    return settings_type


def _suite(raw: Mapping[str, Any], root: Path, file: str, errors: list[str]) -> Suite | None:
    """Return the run's suite with the corruptions of the user's files; None where one cannot be used."""
    chosen = block(raw, "corruptions")
    name, own_files = chosen.get("suite", DEFAULT_SUITE), [path for _, path in texts(chosen.get("own_files"))]
    if not isinstance(name, str) or name not in SUITES:
        return None
    try:
        return suite_with(name, [root / path for path in own_files])
    except InputError as error:
        errors.append(f"{file}: corruptions.own_files: {error}.")
    except ValueError:
        pass  # No file can have such a name, which is refused with the other settings.
    return None


def _errors_of_file(root: Path, file: str) -> list[str]:
    """Return the error of a file that cannot be read as it is meant, as where it gives a key twice.

    ``raw``, which another reader made of it, does not show it.
    """
    try:
        read_yaml(root / file)
    except YamlError as error:
        return [f"{file}: {error}."]
    except (OSError, ValueError):
        pass  # The name need not be a file's.
    return []


def _missing_environments(models: Mapping[str, Model], file: str) -> list[str]:
    known = sorted(path.stem for path in (HOME / ENVIRONMENTS).glob("*.yaml"))
    return [
        unknown(file, f"{id_}.env", model.env, known, f"file in {ENVIRONMENTS}")
        for id_, model in models.items()
        if model.env is not None and model.env not in known
    ]


def validate(model: type[Validated], value: object, file: str, errors: list[str]) -> Validated | None:
    """Return ``value`` as a ``model``; None where it is None or invalid.

    One line for each error, which begins with ``file``, is added to ``errors``.
    """
    if value is None:
        return None
    try:
        return model.model_validate(value)
    except ValidationError as error:
        errors += validation_errors(error, model, value, file)
        return None


def _catalogue_files(raw: Mapping[str, Any], file: str, errors: list[str]) -> dict[str, str]:
    """Return the names of the catalogues by key, without those of a wrong type; an empty name is an error."""
    catalogues = raw.get("catalogues", {})
    if not isinstance(catalogues, Mapping):
        return {}
    catalogues = {**Catalogues().model_dump(), **catalogues}
    names = {key: catalogues[key] for key in ("sources", "models") if isinstance(catalogues[key], str)}
    for key, name in names.items():
        if not name.strip():
            errors.append(
                f"{file}: catalogues.{key} is {shown(name)}, but should name a YAML file, such as "
                f"config/{key}.yaml."
            )
    return {key: name for key, name in names.items() if name.strip()}


def _read_catalogue(root: Path, name: str, key: str, errors: list[str]) -> Mapping[str, Any] | None:
    try:
        content = read_yaml(shipped(name, root))
    except YamlError as error:
        errors.append(f"{name}: {error}.")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        absent = isinstance(error, FileNotFoundError)
        where = f"run it in the folder to which the path is relative (now: {root}), or " if absent else ""
        errors.append(f"{name}: cannot be read ({reason}); {where}name a YAML file in catalogues.{key}.")
    else:
        if isinstance(content, Mapping):
            return content
        errors.append(f"{name}: the content is {shown(content)}, but should be a mapping of ids to entries.")
    return None


def read_config(path: Path) -> Config:
    """Return the configuration. Raises InputError where the file cannot be read or is invalid."""
    file = shipped(path, Path.cwd())
    record = path / RECORD
    mend = f"give {record}" if (file / RECORD).is_file() else "see config/config.yaml for an example"
    raw = read_mapping(file, mend, str(path))
    return load(raw, Path.cwd(), file=str(path))
