"""Evaluate models on the benchmark of a finished run: which settings and models are that run's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from benchc.config.catalogue import Model
from benchc.config.errors import ConfigError, shown, validation_errors
from benchc.config.raw import block, texts
from benchc.config.strict import Ids, Strict, UserPath
from benchc.config.yaml_file import YamlError, read_yaml
from benchc.user_paths import relative_path

KEY = "evaluate"
# Its other settings are those of the finished run.
OWN_KEYS = ("name", KEY, "catalogues")
RECORD = "config.yaml"
# What may differ between two entries of one model.
RESOURCES = {"mem_mb", "gpus", "path", "label", "year", "parameters_b"}


class Evaluate(Strict):
    """Models that are evaluated on the benchmark of a finished run."""

    benchmark: UserPath = Field(
        description="Folder of the finished run, such as results/demo. Nothing in it is changed."
    )
    models: Ids = Field(description="Ids of the models, which that run has not evaluated.")


class _Content(BaseModel):
    evaluate: Evaluate


@dataclass(frozen=True)
class FinishedRun:
    """A finished run on whose benchmark other models are evaluated.

    ``folder``: that of its results, as written in the configuration; ``settings``: its configuration, as
    recorded; ``models``: the entries of its model catalogue by id; ``measured``: the ids of the models in its
    tables; ``new``: those of the models that are evaluated now.
    """

    folder: str
    settings: Mapping[str, Any]
    models: Mapping[str, Any]
    measured: Sequence[str]
    new: Sequence[str]

    def catalogue(
        self, entries: Mapping[str, Any], name: str, file: str, root: Path, errors: list[str]
    ) -> dict[str, Any]:
        """Return the entries of this run's models and of a catalogue called ``name``, both as in YAML files.

        Models that are evaluated now have their entry in the catalogue, all others that of the run. A line
        that begins with ``file`` is added to ``errors`` for a new model whose id is another one's of the run.
        """
        found = {**entries, **self.models}
        for position, id_ in enumerate(self.new):
            key = f"{file}: {KEY}.models[{position}] is {shown(id_)}"
            if id_ in self.measured:
                errors.append(
                    f"{key}, but {self.folder} has evaluated this model already; see its tables, or give the "
                    "new model another id."
                )
            elif id_ in entries:
                found[id_] = entries[id_]
                if differing := _differing(entries[id_], self.models.get(id_), root):
                    errors.append(
                        f"{key}, but in {self.folder} this id has another {' and '.join(differing)} than in "
                        f"{name}; give the new model another id."
                    )
        return found


def finished_run(
    raw: Mapping[str, Any], root: Path, file: str, measured_key: Any
) -> tuple[Mapping[str, Any], FinishedRun | None]:
    """Return the complete settings of a configuration, and the finished run that it names.

    Without the key ``evaluate``, these are ``raw`` and None. ``measured_key`` returns the key with a
    benchmark's evaluated models, given its name. Raises ConfigError where there is no such run, or ``raw``
    has a key that the run decides.
    """
    if raw.get(KEY) is None:
        return raw, None
    try:
        chosen = _Content.model_validate({KEY: raw[KEY]}).evaluate
    except ValidationError as error:
        raise ConfigError(validation_errors(error, _Content, {KEY: raw[KEY]}, file)) from error
    folder = root / chosen.benchmark
    named = f"{file}: {KEY}.benchmark is {shown(chosen.benchmark)}"
    settings, models = (read_record(folder / name, named) for name in (RECORD, part_of_record("models")))
    key = measured_key(settings.get("benchmark"))
    run = FinishedRun(
        chosen.benchmark, settings, models, [id_ for _, id_ in texts(settings.get(key))], chosen.models
    )
    complete = {
        **settings,
        KEY: raw[KEY],
        "catalogues": {"models": "config/models.yaml"}
        | dict(block(raw, "catalogues"))
        | {"sources": str(Path(chosen.benchmark, part_of_record("sources")))},
        # A record of such a run has all of them.
        key: [*run.measured, *(id_ for id_ in run.new if id_ not in run.measured)],
    }
    workers = block(raw, "inference").get("workers")
    if workers is not None:
        complete["inference"] = {**block(settings, "inference"), "workers": workers}
    errors = [
        f"{file}: {name} is given, but {chosen.benchmark} decides it; remove it, since models are evaluated "
        "on that run's benchmark as it is."
        for name, value in raw.items()
        if name not in OWN_KEYS and not _agrees(name, value, complete.get(name))
    ]
    own_folder = root / "results" / str(raw.get("name"))
    if "name" in raw and (raw["name"] == settings.get("name") or own_folder.resolve() == folder.resolve()):
        errors.append(
            f"{file}: name is {shown(raw['name'])}, which is that of {chosen.benchmark}; choose another one, "
            "since nothing there is changed."
        )
    if errors:
        raise ConfigError(errors)
    complete.pop("name", None)
    # Also a key that no run has: it is refused as unknown.
    return {**raw, **complete}, run


def _agrees(key: str, given: object, complete: object) -> bool:
    """Return whether a value is that of the finished run; of `inference`, workers are not in its record."""
    if key == "inference" and isinstance(given, Mapping) and isinstance(complete, Mapping):
        return all(complete.get(name) == value for name, value in given.items())
    return given == complete


def part_of_record(catalogue: str) -> str:
    """Return the name of the file in a run's folder that records its catalogue of models or sources."""
    return f"config-{catalogue}.yaml"


def read_record(path: Path, named: str) -> Mapping[str, Any]:
    """Return the content of a finished run's record; ``named`` says in errors what names the run.

    Raises ConfigError where it is none.
    """
    try:
        content = read_yaml(path)
    except (OSError, YamlError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise ConfigError(
            [
                f"{named}, but its {path.name} cannot be read ({reason}); give the folder of a finished run, "
                "such as results/demo."
            ]
        ) from error
    if not isinstance(content, Mapping):
        raise ConfigError([f"{named}, but its {path.name} is no mapping of keys to values; restore it."])
    return content


def _differing(first: object, other: object, root: Path) -> list[str]:
    """Return the keys in which two entries of one model differ; none where one is absent or invalid."""
    try:
        one, two = Model.model_validate(first), Model.model_validate(other)
    except ValidationError:
        return []
    names = [
        name
        for name in Model.model_fields
        if name not in RESOURCES and getattr(one, name) != getattr(two, name)
    ]
    paths = [entry.path and relative_path(entry.path, root) for entry in (one, two)]
    device = ["device (gpus)"] if bool(one.gpus) != bool(two.gpus) else []
    return [*names, *(["path"] if paths[0] != paths[1] else []), *device]
