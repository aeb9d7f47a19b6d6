"""Shorten a name. Imports no matplotlib, for tables."""


def shorten(name: str, length: int) -> str:
    """Return ``name``, with an ellipsis for its middle where it is longer than ``length`` characters."""
    if len(name) <= length:
        return name
    tail = (length - 1) // 3
    return f"{name[: length - 1 - tail].rstrip()}…{name[len(name) - tail :].lstrip()}"
