"""Read and check the configuration of a run: settings and both catalogues, all faults at once."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from benchc.config.benchmarks import known_benchmarks, module_of
from benchc.config.catalogue import Model, ModelCatalogue, Source, SourceCatalogue
from benchc.config.crosscheck import cross_faults
from benchc.config.faults import ConfigError, shown, unknown, validation_faults
from benchc.config.settings import RunSettings
from benchc.config.yaml_file import YamlError, read_yaml

# What a variable in a path stands for where the environment does not set it.
DEFAULTS = {"BENCHC_SHARED": "../shared"}
ENVIRONMENTS = "envs"

Validated = TypeVar("Validated", bound=BaseModel)


@dataclass(frozen=True)
class Config:
    """The checked configuration of one run.

    ``sources`` and ``models`` hold the entries that the run uses, by id: sources in the configured order,
    models in the order of the keys that list them, each once. Variables in their paths are expanded.
    """

    settings: RunSettings
    sources: Mapping[str, Source]
    models: Mapping[str, Model]


def load(
    raw: Mapping[str, Any],
    root: Path,
    *,
    file: str = "config",
    environment: Mapping[str, str] | None = None,
) -> Config:
    """Return the checked configuration that ``raw``, the content of a config file, describes.

    ``root`` is the folder that paths in it start from, ``file`` the name that messages give it: where it is
    the path of a YAML file, keys that stand twice in there are faults too, which ``raw`` cannot show.
    ``environment`` holds the variables that paths may use (default: the process's). Raises ConfigError with
    one sentence for every fault; where no benchmark says which keys there are, that is the only one.
    """
    faults = _keys_given_twice(root / file, file)
    settings_type = _settings_type(raw.get("benchmark"), file, faults)
    settings = _validate(settings_type, raw, file, faults)
    files = _catalogue_files(raw, file, faults)
    entries = {key: _read_catalogue(root / path, path, faults) for key, path in files.items()}
    # An entry at fault still has its id: a wrong key in it is no reason to call the id unknown.
    sources = _validate(SourceCatalogue, entries.get("sources"), files.get("sources", ""), faults)
    models = _validate(ModelCatalogue, entries.get("models"), files.get("models", ""), faults)
    faults += cross_faults(settings_type, raw, file, entries.get("sources"), entries.get("models"), files)
    if faults or settings is None or sources is None or models is None:
        raise ConfigError(faults)

    expand = _Expander(root, os.environ if environment is None else environment)
    used_sources = {id_: sources.root[id_] for id_ in settings.sources}
    ids = [id_ for key in settings.MODEL_KEYS for id_ in getattr(settings, key)]
    used_models = {id_: models.root[id_] for id_ in ids}
    faults += _missing_environments(used_models, root, files["models"])
    config = Config(
        settings,
        {id_: expand(entry, f"{files['sources']}: {id_}.path") for id_, entry in used_sources.items()},
        {id_: expand(entry, f"{files['models']}: {id_}.path") for id_, entry in used_models.items()},
    )
    faults += expand.faults
    if faults:
        raise ConfigError(faults)
    return config


def _settings_type(benchmark: object, file: str, faults: list[str]) -> type[RunSettings]:
    known = known_benchmarks()
    if benchmark is None:
        raise ConfigError([*faults, f"{file}: benchmark is missing; it must be {' or '.join(known)}."])
    if not isinstance(benchmark, str):
        wrong = f"{file}: benchmark is {shown(benchmark)}, but must be {' or '.join(known)}."
        raise ConfigError([*faults, wrong])
    if benchmark not in known:
        raise ConfigError([*faults, unknown(file, "benchmark", benchmark, known, "benchmark")])
    settings_type: type[RunSettings] = module_of(benchmark, "settings").Settings
    return settings_type


def _keys_given_twice(path: Path, file: str) -> list[str]:
    if path.suffix not in (".yaml", ".yml"):
        return []
    try:
        read_yaml(path)
    except YamlError as error:
        return [f"{file}: {error}."]
    except (OSError, ValueError):
        # The name need not be a file's: it is what messages call the content.
        pass
    return []


def _missing_environments(models: Mapping[str, Model], root: Path, file: str) -> list[str]:
    known = sorted(path.stem for path in (root / ENVIRONMENTS).glob("*.yaml"))
    return [
        unknown(file, f"{id_}.env", model.env, known, f"file in {ENVIRONMENTS}")
        for id_, model in models.items()
        if model.env is not None and model.env not in known
    ]


def _validate(model: type[Validated], value: object, file: str, faults: list[str]) -> Validated | None:
    if value is None:
        return None
    try:
        return model.model_validate(value)
    except ValidationError as error:
        faults += validation_faults(error, model, file)
        return None


def _catalogue_files(raw: Mapping[str, Any], file: str, faults: list[str]) -> dict[str, str]:
    """Return the names of the catalogues that can be looked for; an empty one is a fault."""
    catalogues = raw.get("catalogues")
    if not isinstance(catalogues, Mapping):
        return {}
    names = {key: catalogues[key] for key in ("sources", "models") if isinstance(catalogues.get(key), str)}
    for key, name in names.items():
        if not name.strip():
            faults.append(
                f"{file}: catalogues.{key} is {shown(name)}, but must name a YAML file, such as "
                f"config/{key}.yaml."
            )
    return {key: name for key, name in names.items() if name.strip()}


def _read_catalogue(path: Path, name: str, faults: list[str]) -> Mapping[str, Any] | None:
    try:
        content = read_yaml(path)
    except FileNotFoundError:
        faults.append(f"{name}: there is no such file; catalogues names it.")
    except YamlError as error:
        faults.append(f"{name}: {error}.")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        faults.append(f"{name}: cannot be read ({reason}); catalogues names it, and must name a YAML file.")
    else:
        if isinstance(content, Mapping):
            return content
        faults.append(f"{name}: the whole is {shown(content)}, but must be a mapping of ids to entries.")
    return None


Entry = TypeVar("Entry", Source, Model)


class _Expander:
    """Replaces ``${VARIABLE}`` in the paths of entries, and collects what does not exist."""

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self.faults: list[str] = []
        self._root = root
        self._values = {**DEFAULTS, **environment}

    def __call__(self, entry: Entry, where: str) -> Entry:
        if entry.path is None:
            return entry
        names = list(_variables(entry.path))
        unset = [name for name in names if name not in self._values]
        if unset:
            self.faults.append(
                f"{where} is {shown(entry.path)}, but the environment variable {unset[0]} is not set; set it "
                "to the folder that is meant."
            )
            return entry
        path = re.sub(r"\$\{(\w+)\}", lambda match: self._values[match[1]], entry.path)
        meant = "".join(f"; set the environment variable {name} to move it" for name in names)
        if not (self._root / path).exists():
            self.faults.append(f"{where} is {shown(entry.path)}, and there is no {path}{meant}.")
        elif isinstance(entry, Model) and not (self._root / path).is_dir():
            self.faults.append(
                f"{where} is {shown(entry.path)}, and {path} is a file, but must be a folder of the Hub's "
                f"form{meant}."
            )
        elif isinstance(entry, Source) and not (self._root / path).is_file():
            self.faults.append(
                f"{where} is {shown(entry.path)}, and {path} is a folder, but must be a TSV file{meant}."
            )
        return entry.model_copy(update={"path": path})


def _variables(path: str) -> Iterator[str]:
    return (match[1] for match in re.finditer(r"\$\{(\w+)\}", path))
