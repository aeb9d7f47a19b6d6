"""The settings and catalogue entries in which two runs differ, or a file from its former content."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from benchc.config.yaml_file import YamlError, read_yaml
from benchc.errors import InputError

WIDTH = 50  # of a value
# The record of a run names itself.
OWN_KEYS = ("name", "catalogues")
# What decides of which items a run is.
ORIGIN = ("benchmark", "sources")
# What precedes the keys of each file of a record.
SECTIONS = {"config": "", "config-sources": "sources.", "config-models": "models."}


def differing_settings(a: Path, b: Path) -> list[str]:
    """Return the settings in which two runs differ, such as ``pool.per_task: 6 -> 7``, by their keys.

    ``a``, ``b``: results/{name}, whose records of the configuration are compared: settings, then the entries
    of sources and of models. Raises InputError where a record is missing or cannot be read.
    """
    return _differing(_records(a), _records(b))


def changed_settings(run: Path, texts: Mapping[str, str]) -> list[str]:
    """Return the settings in which a run's record differs from ``texts``, as :func:`differing_settings`.

    ``texts``: those of :func:`benchc.config.resolved.resolved`. None differ where there is no record yet.
    """
    if not all((run / f"{name}.yaml").exists() for name in SECTIONS):
        return []
    return _differing(_records(run), {Path(path).stem: yaml.safe_load(text) for path, text in texts.items()})


def differing_origin(run: Path, texts: Mapping[str, str]) -> list[str]:
    """Return how the benchmark or the sources in a run's record differ from those in ``texts``.

    ``texts`` and what is returned: as of :func:`changed_settings`. Sources in another order are the same.
    """
    path = run / "config.yaml"
    if not path.exists():
        return []
    records = _record(path), *(yaml.safe_load(text) for name, text in texts.items() if Path(name) == path)
    old, new = ({**each, "sources": sorted(each.get("sources") or [])} for each in records)
    return [change for key in ORIGIN for change in differences(key, old.get(key), new.get(key))]


def _differing(a: Mapping[str, dict[str, Any]], b: Mapping[str, dict[str, Any]]) -> list[str]:
    found: list[str] = []
    for name, section in SECTIONS.items():
        old, new = ({f"{section}{key}": each for key, each in files[name].items()} for files in (a, b))
        for key in dict.fromkeys((*old, *new)):
            if key not in OWN_KEYS:
                found += differences(key, old.get(key), new.get(key))
    return found


def differences(key: str, old: object, new: object) -> Iterator[str]:
    """Yield what differs between two values of a key; None is an absent one."""
    if isinstance(old, dict) and isinstance(new, dict):
        for part in sorted(old.keys() | new.keys()):
            yield from differences(f"{key}.{part}", old.get(part), new.get(part))
    elif isinstance(old, list) and isinstance(new, list):
        removed, added = (_without(a, b) for a, b in ((old, new), (new, old)))
        changes = [f"+ {shown(each)}" for each in added] + [f"- {shown(each)}" for each in removed]
        if old != new:
            yield f"{key}: {', '.join(changes) or 'other order'}"
    elif old != new:
        yield f"{key}: {shown(old)} -> {shown(new)}"


def _records(run: Path) -> dict[str, dict[str, Any]]:
    return {name: _record(run / f"{name}.yaml") for name in SECTIONS}


def _record(path: Path) -> dict[str, Any]:
    try:
        content = read_yaml(path)
    except (OSError, YamlError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(f"{path}: {reason}; run snakemake again, which writes it") from error
    return content or {}


def _without(values: Sequence[object], others: Sequence[object]) -> list[object]:
    """Return the values that are not among the others, each as often as it is there more often."""
    left, found = list(others), []
    for value in values:
        if value in left:
            left.remove(value)
        else:
            found.append(value)
    return found


def shown(value: object) -> str:
    """Return a value as short JSON; None is an absent one."""
    if value is None:
        return "none"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"
