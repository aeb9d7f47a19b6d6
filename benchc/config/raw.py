"""Raw values of a configuration, of which any may be of a wrong type."""

from collections.abc import Mapping
from typing import Any


def texts(value: object) -> list[tuple[int, str]]:
    """Return the texts of a list with their positions; none where ``value`` is no list."""
    if not isinstance(value, list):
        return []
    return [(position, text) for position, text in enumerate(value) if isinstance(text, str)]


def block(raw: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the mapping under a key; an empty one where there is none."""
    value = raw.get(key)
    return value if isinstance(value, Mapping) else {}
