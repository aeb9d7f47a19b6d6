"""What changed in the params of a job, from Snakemake's record of them.

The record has no names of params. A param of the rules is a digest of code (`file digest`), the sampled
content of a user's file (`file size digest`), options (`--steps 300 --seed 1`), a setting of a table or
figure (`key=value`), its inputs, a model (JSON with an `id`), a digest of the record of the configuration, or
another value.
"""

import ast
import json
import re
import shlex
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from textwrap import shorten
from types import MappingProxyType
from typing import Any

from benchc.config.resolved import RECORD

DIGESTS = {
    r"(\S+\.py) [0-9a-f]{32}": "code of {}",
    r"(.+) \d+ [0-9a-f]{32}": "content of {}",
    rf"({RECORD}) [0-9a-f]{{32}}": "{}",
}
OTHER_INPUTS = "other input files"
MODELS = "models"
UNNAMED = "setting"
WIDTH = 50  # of a value that is shown; of longer ones only the name is


def param_changes(
    old: Collection[str],
    new: Collection[str],
    names: Mapping[str, str] = MappingProxyType({}),
    settings: Mapping[str, object] = MappingProxyType({}),
) -> list[str]:
    """Return one phrase for each change, such as ``code of FILE`` or ``dtype (float32 → bfloat16)``.

    ``old`` and ``new``: params, as ``repr`` writes them, that only the record or only the present job has.
    ``names``: those of present params. ``settings``: the run's, by keys with their sections; a changed option
    that has the name and the value of exactly one is shown by its key.
    """
    before, after = _values(old), _values(new)
    found = []
    for name in sorted(before.keys() | after.keys()):
        lost, added = before[name] - after[name], after[name] - before[name]
        if lost or added:
            shown = _only_name(old, new, names) if name == UNNAMED else name
            found.append(_phrase(_key(shown, added, settings), lost, added))
    return found or ["the order of a list"]


def _only_name(old: Iterable[str], new: Iterable[str], names: Mapping[str, str]) -> str:
    """Return the name of the one param whose values have none."""
    before, after = ([param for param in params if UNNAMED in _values([param])] for params in (old, new))
    return names.get(after[0], UNNAMED) if len(before) == len(after) == 1 else UNNAMED


def _key(name: str, added: set[str], settings: Mapping[str, object]) -> str:
    """Return the key of the setting with a param's name and new values; the name unless it is exactly one."""
    found = [
        key
        for key, value in settings.items()
        if key.rpartition(".")[2] == name
        and (added <= set(map(str, value)) if isinstance(value, list) else added == _texts(value))
    ]
    return found[0] if len(found) == 1 else name


def _texts(value: object) -> set[str]:
    return set() if value is None else {str(value)}


def flat(settings: Mapping[str, Any], section: str = "") -> dict[str, object]:
    """Return nested settings by keys with their sections, such as ``corruptions.alpha``."""
    found: dict[str, object] = {}
    for key, value in settings.items():
        found |= flat(value, f"{section}{key}.") if isinstance(value, dict) else {f"{section}{key}": value}
    return found


def _values(params: Iterable[str]) -> defaultdict[str, set[str]]:
    """Return the values of params by what they are."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for param in params:
        try:
            value = ast.literal_eval(param)
        except ValueError:  # the repr of a class of its own
            value = param
        for each in value if isinstance(value, list) else [value]:
            for name, text in _named(str(each)):
                found[name].add(text)
    return found


def _named(text: str) -> Iterator[tuple[str, str]]:
    """Yield what a param is, and its value; of command-line options, each."""
    for pattern, name in DIGESTS.items():
        if match := re.fullmatch(pattern, text):
            yield name.format(match[1]), text
            return
    if text.startswith("--"):
        yield from _options(shlex.split(text))
    elif match := re.fullmatch(r"([a-z_]+)=(.*)", text, re.DOTALL):
        yield match[1], match[2]
    elif _model(text):
        yield MODELS, text
    elif "<results>/" in text:
        yield OTHER_INPUTS, text
    elif text:
        yield UNNAMED, text


def _options(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    options: list[list[str]] = []
    for word in words:
        if word.startswith("--"):
            options.append([word.removeprefix("--").replace("-", "_")])
        else:
            options[-1].append(word)
    for name, *arguments in options:
        yield name, " ".join(arguments) or "on"


def _phrase(name: str, lost: set[str], added: set[str]) -> str:
    old, new = (", ".join(sorted(values)) or "none" for values in (lost, added))
    if name.startswith(("code of ", "content of ")) or name in (OTHER_INPUTS, RECORD):
        return name
    if name == MODELS:
        return f"{name} ({', '.join(_model_changes(lost, added))})"
    if len(old) + len(new) <= WIDTH:
        return f"{name} ({old} → {new})"
    return f"{name} {shorten(new if added else old, WIDTH, placeholder='…')}" if name == UNNAMED else name


def _model(text: str) -> dict[str, Any] | None:
    """Return the description of a model; None for another text."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) and "id" in found else None


def _model_changes(lost: Iterable[str], added: Iterable[str]) -> Iterator[str]:
    """Yield ``+ id``, ``- id``, or ``key of id`` for each changed key."""
    old, new = ({model["id"]: model for model in map(json.loads, texts)} for texts in (lost, added))
    for id_ in sorted(old.keys() | new.keys()):
        if id_ not in old or id_ not in new:
            yield f"{'+' if id_ in new else '-'} {id_}"
        else:
            keys = sorted(old[id_].keys() | new[id_].keys())
            yield from (f"{key} of {id_}" for key in keys if old[id_].get(key) != new[id_].get(key))
