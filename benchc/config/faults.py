"""Faults of a configuration, one sentence each: file, key, value found, what is allowed."""

import datetime
import difflib
import json
import math
import re
from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from benchc.config.allowed import Node, allowed, descend, resolve
from benchc.config.strict import ID_ALLOWED

LONGEST_VALUE = 60


class ConfigError(ValueError):
    """A configuration cannot be run. ``faults`` holds one sentence for each thing that is wrong."""

    def __init__(self, faults: Sequence[str]) -> None:
        self.faults = tuple(faults)
        super().__init__("\n".join(self.faults))


def validation_faults(error: ValidationError, model: type[BaseModel], file: str) -> list[str]:
    """Return one sentence for each key of ``file`` that ``model`` refused."""
    schema = model.model_json_schema()
    faults: dict[tuple[str | int, ...], str] = {}
    for details in error.errors(include_url=False):
        # Several branches of one union may fail at one key, which is one fault all the same.
        location, sentence = _sentence(details, schema, file)
        faults.setdefault(location, sentence)
    return list(faults.values())


def unknown(file: str, key: str, value: str, known: Iterable[str], kind: str) -> str:
    """Return the sentence for a ``value`` that should be one of ``known``, things of a ``kind``."""
    names = list(known)
    return f"{file}: {key} is {shown(value)}, which is no {kind}; {suggestion(value, names)}."


def suggestion(value: str, known: Sequence[str]) -> str:
    """Return which of ``known`` the ``value`` was probably meant to be, or else what there is."""
    nearest = difflib.get_close_matches(value, known, n=1)
    if nearest:
        return f"the nearest is {nearest[0]}"
    return f"there are {', '.join(known)}" if known else "there are none"


def shown(value: object) -> str:
    """Return ``value`` as a message shows it: one line, not too long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except TypeError:
        text = str(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def dotted(location: Sequence[str | int]) -> str:
    """Return a location as ``a.b[0]``; keys that are no plain words are quoted."""
    text = ""
    for part in location:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            name = part if re.fullmatch(r"[\w.-]+", part) else json.dumps(part)
            text += f".{name}" if text else name
    return text


def _sentence(details: ErrorDetails, schema: Node, file: str) -> tuple[tuple[str | int, ...], str]:
    full = tuple(part for part in details["loc"] if part != "[key]")
    location, node = descend(schema, full)
    match details["type"]:
        case "extra_forbidden":
            known = _keys(node, schema)
            return full, f"{file}: {dotted(full)} is not a known key; {suggestion(str(full[-1]), known)}."
        case "missing":
            return full, f"{file}: {dotted(full)} is missing; it must be {allowed(node, schema)}."
        case "value_error":
            return location, f"{file}: {dotted(location)} {details['ctx']['error']}."
    if details["loc"] and details["loc"][-1] == "[key]":
        return full, f"{file}: the id {shown(details['input'])} is not of the allowed form: {ID_ALLOWED}."
    where = dotted(location) or "the whole"
    found = shown(details["input"])
    must = f"{file}: {where} is {found}, but must be {allowed(node, schema)}"
    return location, must + _hint(details["input"], node) + "."


def _keys(node: Node, schema: Node) -> list[str]:
    """Return the keys of the mapping that a node is or may be."""
    branches = [resolve(branch, schema) for branch in node.get("anyOf", [node])]
    return [key for branch in branches for key in branch.get("properties", {})]


def _hint(value: object, node: Node) -> str:
    types = {branch.get("type") for branch in node.get("anyOf", [node])}
    if isinstance(value, str) and types & {"number", "integer"} and _is_number(value):
        return " (YAML reads this as text: no quotes, and 1.0e-3 instead of 1e-3)"
    if isinstance(value, float) and not math.isfinite(value):
        return " (infinity and NaN are not allowed)"
    if isinstance(value, datetime.date | int | float) and "string" in types:
        return " (put it in quotes)"
    return ""


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
