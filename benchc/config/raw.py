"""Raw values of a configuration, of which any may have a wrong type."""

from collections.abc import Mapping
from typing import Any


def texts(value: object) -> list[tuple[int, str]]:
    """Return the strings in a list with their positions; none where ``value`` is not a list."""
    if not isinstance(value, list):
        return []
    return [(position, text) for position, text in enumerate(value) if isinstance(text, str)]


def at(raw: Mapping[str, Any], key: str) -> object:
    """Return the value under a key, whose dots separate the keys of blocks; None where there is none."""
    *blocks, last = key.split(".")
    for name in blocks:
        raw = block(raw, name)
    return raw.get(last)


def block(raw: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the mapping under a key, or an empty one."""
    value = raw.get(key)
    return value if isinstance(value, Mapping) else {}
