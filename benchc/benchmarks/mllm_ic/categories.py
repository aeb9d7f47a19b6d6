"""Which capability each category of a source is of, as a CSV file says, which a user may replace."""

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from benchc.benchmarks.mllm_ic.capabilities import capabilities
from benchc.csv_rows import read_rows
from benchc.errors import InputError
from benchc.suggestion import suggestion

# The group of questions that are left out, and that of the others where groups do not matter.
EXCLUDED, ASKED = "", "asked"
_IGNORED = re.compile(r"[\s_-]")


class Category(NamedTuple):
    """A category of a source with its capability, which is empty where it is left out for a ``reason``."""

    source: str
    category: str
    capability: str
    reason: str


def key_of(source: str, category: str | None) -> str:
    """Return what spellings of a category share: case, spaces, hyphens and underscores do not count."""
    return f"{source}/{_IGNORED.sub('', category or '').casefold()}"


def read_categories(path: Path, sources: Collection[str]) -> dict[str, Category]:
    """Return the categories of ``sources`` that a file has, by :func:`key_of`.

    Raises InputError, with the row, for an unknown capability, a category without capability and reason or
    with both, and one that is there twice.
    """
    names = [each.name for each in capabilities()]
    found: dict[str, Category] = {}
    for number, row in read_rows(path, Category._fields):
        each = Category(**row)
        where, key = f"{path}: row {number}", key_of(each.source, each.category)
        if each.capability and each.capability not in names:
            hint = suggestion(each.capability, names)
            raise InputError(f"{where}: there is no capability {each.capability!r}{hint or '; correct it'}")
        if bool(each.capability) == bool(each.reason):
            raise InputError(
                f"{where}: {each.category} of {each.source} needs a capability, or a reason to leave it out; "
                "give one of them"
            )
        if key in found:
            raise InputError(f"{where}: {each.category} of {each.source} is there twice; remove one")
        found[key] = each
    return {key: each for key, each in found.items() if each.source in sources}


def groups_of(categories: Mapping[str, Category], mini: int | None) -> dict[str, str]:
    """Return the group of each category's questions, in which a mini set is chosen, by its key.

    Without ``mini`` all that are asked are one group, so that no question depends on its capability.
    """
    return {
        key: EXCLUDED if not each.capability else ASKED if mini is None else each.capability
        for key, each in sorted(categories.items())
    }


def without_questions(categories: Iterable[Category], present: Collection[str]) -> dict[str, list[str]]:
    """Return the capabilities that categories name and that have no question, with these categories."""
    found: dict[str, list[str]] = {}
    for each in categories:
        if each.capability and each.capability not in present:
            found.setdefault(each.capability, []).append(f"{each.category} of {each.source}")
    return found
