"""What changed in the params of a job, from Snakemake's record of them.

Each param is a digest of code (``file digest``), a list of contents of files (``file size digest``), a digest
of the record of the configuration, ``input.name=JSON`` of an output's inputs, or a setting, ``name=JSON``.
"""

import ast
import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeGuard

from benchc.config.differing import differences, shown
from benchc.config.resolved import RECORD
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.recipe import own_file

DIGESTS = {
    rf"({RECORD}) [0-9a-f]{{32}}": "{}",
    r"(\S+\.py) [0-9a-f]{32}": "code of {}",
    r"(.+?)(?: \d+)? [0-9a-f]{32}": "content of {}",
}
# A recipe in a record, by its corruption; the recipe of a job that applies one corruption.
RECIPE = re.compile(r"(?:images\.)?recipes\.(\w+)")
PARAMETERS = re.compile(r"recipe\.parameters\.(\d+)")
OTHER_INPUTS = "other input files"
UNKNOWN = "other params"


def param_changes(
    old: Collection[str],
    new: Collection[str],
    settings: Mapping[str, object] = MappingProxyType({}),
    files: Mapping[str, str] = MappingProxyType({}),
    corruption: str = "",
) -> list[str]:
    """Return one phrase for each change, such as ``code of FILE`` or ``pool.per_task: 6 -> 7``.

    A parameter of a corruption is named with its file: ``fog: strength 0.3 -> 0.4 at severity 2 in FILE``.

    ``old`` and ``new``: params, as ``repr`` writes them, that only the record or only the present job has.
    ``settings``: the run's, by keys with their sections; a setting that has the name and the present value of
    exactly one is shown by its key. ``files``: where the parameters of each corruption are. ``corruption``:
    the one that the job applies, if it applies one.
    """
    before, after = _values(old), _values(new)
    severities = [str(level) for level in _listed(settings.get("corruptions.severities"))]
    applied: dict[str, dict[str, Any]] = {}  # parameters of the job's one corruption, before and after
    found = []
    for name in sorted(before.keys() | after.keys()):
        lost, added = before.get(name), after.get(name)
        recipe = RECIPE.fullmatch(name)
        if isinstance(lost, Digest) or isinstance(added, Digest):
            found += [name] if lost != added else []
        elif recipe and isinstance(lost, dict) and isinstance(added, dict):
            found += _recipe_changes(recipe[1], lost, added, severities, files.get(recipe[1]))
        elif corruption and (parameters := PARAMETERS.fullmatch(name)):
            for when, values in (("before", lost), ("after", added)):
                if values is not None:
                    applied.setdefault(when, {})[parameters[1]] = values
        elif _is_entries(lost) and _is_entries(added):
            found += _entry_changes(name, lost, added, settings)
        else:
            found += differences(_key(name, added, settings), lost, added)
    old_values, new_values = applied.get("before", {}), applied.get("after", {})
    found += _parameter_changes(corruption, old_values, new_values, severities, files.get(corruption))
    return list(dict.fromkeys(found)) or [UNKNOWN]


def parameter_files(suite: str, own_files: Iterable[str | Path] = ()) -> dict[str, str]:
    """Return the file that holds the parameters of each corruption of a suite and of the user's files."""
    file = f"benchc/corruptions/suites/{suite.replace('-', '_')}.py"
    types = suite_with(suite, own_files).types()
    return {type_.name: own_file(type_.kernel) or file for type_ in types}


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _is_entries(value: object) -> TypeGuard[list[dict[str, Any]]]:
    """Return whether a value is a list of entries of a catalogue, such as models."""
    return isinstance(value, list) and all(isinstance(each, dict) and "id" in each for each in value)


def _entry_changes(
    name: str,
    old: Iterable[Mapping[str, Any]],
    new: Iterable[Mapping[str, Any]],
    settings: Mapping[str, object],
) -> Iterator[str]:
    """Yield what differs between lists of entries; a new one is named with the one setting that lists it."""
    before, after = ({entry["id"]: entry for entry in entries} for entries in (old, new))
    for id_, entry in after.items():
        if id_ in before:
            yield from differences(f"{name}.{id_}", before[id_], entry)
        else:
            keys = [key for key, value in settings.items() if isinstance(value, list) and id_ in value]
            # Of several settings, some may have listed it before.
            yield f"{keys[0] if len(keys) == 1 else name}: + {id_}"
    yield from (f"{name}: - {id_}" for id_ in before if id_ not in after)
    if before.keys() == after.keys() and list(before) != list(after):
        yield f"{name}: other order"


def _recipe_changes(
    corruption: str,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    severities: Collection[str],
    file: str | None,
) -> Iterator[str]:
    """Yield what differs between two recipes of a corruption."""
    own = own_file(new.get("kernel"))
    for key in sorted(old.keys() | new.keys()):
        lost, added = old.get(key), new.get(key)
        if key == "parameters":
            yield from _parameter_changes(corruption, lost or {}, added or {}, severities, file)
        elif key == "code" and lost != added and own:
            yield f"code of {own}"
        else:
            yield from differences(f"{corruption}: {key}", lost, added)


def _parameter_changes(
    corruption: str,
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    severities: Collection[str],
    file: str | None,
) -> Iterator[str]:
    """Yield what differs between parameters by severity; severities with the same change in one phrase.

    ``severities``: all of the run, which a phrase does not name.
    """
    where = f" in {file}" if file else ""
    levels = ([int(level) for level in each] for each in (old, new))
    yield from differences("corruptions.severities", *levels)
    changes: defaultdict[str, list[str]] = defaultdict(list)
    for severity in (severity for severity in new if severity in old):
        for keyword in sorted(old[severity].keys() | new[severity].keys()):
            lost, added = old[severity].get(keyword), new[severity].get(keyword)
            if lost != added:
                changes[f"{corruption}: {keyword} {shown(lost)} -> {shown(added)}"].append(severity)
    for change, where_changed in changes.items():
        noun = "severity" if len(where_changed) == 1 else "severities"
        every = set(where_changed) == set(severities)
        yield change + ("" if every else f" at {noun} {', '.join(where_changed)}") + where


def flat(settings: Mapping[str, Any], section: str = "") -> dict[str, object]:
    """Return nested settings by keys with their sections, such as ``corruptions.alpha``."""
    found: dict[str, object] = {}
    for key, value in settings.items():
        found |= flat(value, f"{section}{key}.") if isinstance(value, dict) else {f"{section}{key}": value}
    return found


class Digest(str):
    """The text of a param of which only that it changed is of interest."""


def _values(params: Iterable[str]) -> dict[str, Any]:
    """Return what params record, by what they are."""
    found: dict[str, Any] = {}
    for param in params:
        with suppress(ValueError, SyntaxError):  # of a record of a former version
            value = ast.literal_eval(param)
            for text in map(str, value if isinstance(value, list) else [value]):
                name, equals, recorded = text.partition("=")
                digests = ((re.fullmatch(pattern, text), shown) for pattern, shown in DIGESTS.items())
                if digest := next((shown.format(match[1]) for match, shown in digests if match), None):
                    found[digest] = Digest(text)
                elif name.startswith("input."):
                    found[OTHER_INPUTS] = Digest(found.get(OTHER_INPUTS, "") + text)
                elif equals:
                    found[name] = json.loads(recorded)
    return found


def _key(name: str, value: object, settings: Mapping[str, object]) -> str:
    """Return the key of the setting with a name and a value; the name unless it is exactly one."""
    found = [key for key, each in settings.items() if f".{key}".endswith(f".{name}") and each == value]
    return found[0] if len(found) == 1 else name
