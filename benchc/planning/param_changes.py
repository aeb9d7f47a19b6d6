"""What changed in the params of a job, from Snakemake's record of them.

Each param is a digest of code (``file digest``), a list of contents of files (``file size digest``), a digest
of the record of the configuration, ``input.name=JSON`` of an output's inputs, or a setting, ``name=JSON``.
"""

import ast
import json
import re
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any

from benchc.config.differing import differences
from benchc.config.resolved import RECORD

DIGESTS = {
    rf"({RECORD}) [0-9a-f]{{32}}": "{}",
    r"(\S+\.py) [0-9a-f]{32}": "code of {}",
    r"(.+?)(?: \d+)? [0-9a-f]{32}": "content of {}",
}
OTHER_INPUTS = "other input files"
UNKNOWN = "other params"


def param_changes(
    old: Collection[str], new: Collection[str], settings: Mapping[str, object] = MappingProxyType({})
) -> list[str]:
    """Return one phrase for each change, such as ``code of FILE`` or ``pool.per_task: 6 -> 7``.

    ``old`` and ``new``: params, as ``repr`` writes them, that only the record or only the present job has.
    ``settings``: the run's, by keys with their sections; a setting that has the name and the present value of
    exactly one is shown by its key.
    """
    before, after = _values(old), _values(new)
    found = []
    for name in sorted(before.keys() | after.keys()):
        lost, added = before.get(name), after.get(name)
        if isinstance(lost, Digest) or isinstance(added, Digest):
            found += [name] if lost != added else []
        else:
            found += differences(_key(name, added, settings), lost, added)
    return list(dict.fromkeys(found)) or [UNKNOWN]


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
