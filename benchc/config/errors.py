"""Validation errors of a configuration, one line each: the file, the key, its value and what it should be."""

import datetime
import json
import re
import reprlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args

from pydantic import BaseModel, RootModel, ValidationError
from pydantic_core import ErrorDetails

from benchc.config.strict import PATTERNS
from benchc.errors import InputError
from benchc.redaction import without_keys
from benchc.suggestion import suggestion

LONGEST_VALUE = 60

Place = tuple[str | int, ...]


class ConfigError(InputError):
    """A configuration is invalid. ``errors`` has one line for each error, without keys in addresses."""

    def __init__(self, errors: Sequence[str]) -> None:
        super().__init__(*map(without_keys, errors))
        self.errors = self.args

    def __str__(self) -> str:
        return "\n".join(self.errors)


def validation_errors(
    error: ValidationError, model: type[BaseModel], content: object, file: str
) -> list[str]:
    """Return one line for each key of ``content``, which was read from ``file``, that ``model`` refused."""
    lines: dict[Place, str] = {}
    for details in error.errors(include_url=False):
        if details["type"] == "default_factory_not_called":  # since another key is wrong
            continue
        place = _place(details["loc"], content)
        match details["type"]:
            case "missing":
                place = details["loc"]
                page = getattr(model, "PAGE", "docs/configuration.md")
                lines[place] = f"{dotted(place)} is missing; {page} describes it"
            case "extra_forbidden":
                lines[place] = (
                    f"unknown key {dotted(place)}{suggestion(place[-1], _known_keys(model, place))}"
                )
            case "invalid_key":
                place = details["loc"]
                where = f" in {dotted(place[:-1])}" if place[:-1] else ""
                lines[place] = f"key {shown(details['input'])}{where} should be text (put it in quotes)"
            case "value_error":
                lines[place] = f"{dotted(place)} {details['ctx']['error']}".strip()
            case _ if details["loc"][-1:] == ("[key]",):
                lines[details["loc"]] = f"id is {shown(details['input'])}, but should {_should(details)}"
            case _ if place in lines:  # another branch of a union
                lines[place] += f" or {_should(details).removeprefix('be ')}"
            case _:
                value = shown(details["input"])
                lines[place] = f"{dotted(place) or 'the content'} is {value}, but should {_should(details)}"
    return [f"{file}: {line}." for line in lines.values()]


def unknown(file: str, key: str, value: object, known: Iterable[str], kind: str) -> str:
    """Return the line for a ``value`` that is not one of ``known``, the values of a ``kind``."""
    return f"{file}: {key} is {shown(value)}, but there is no such {kind}{suggestion(value, list(known))}."


def shown(value: object) -> str:
    """Return ``value`` as JSON in one line, without secrets in addresses, cut off where it is long."""
    text = ""
    try:
        # No further than needed: YAML's aliases can make a small file a huge value.
        for piece in json.JSONEncoder(ensure_ascii=False).iterencode(value):
            text += piece
            if len(text) > LONGEST_VALUE:
                break
    except (TypeError, ValueError):  # ValueError: a YAML alias inside its own anchor
        text = reprlib.repr(value) if isinstance(value, dict | list) else str(value)
    # What is cut off would not be recognized as a secret.
    text = without_keys(text)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def dotted(place: Place) -> str:
    """Return the path of a key as ``a.b[0]``; a key that is more than a word is quoted."""
    text = ""
    for part in place:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if re.fullmatch(r"[\w.-]+", part) else f".{json.dumps(part)}"
    return text.removeprefix(".")


def _place(location: Place, content: Any) -> Place:
    """Return the part of ``location`` that is in the content: pydantic adds the branch of a union to it."""
    for depth, part in enumerate(location):
        try:
            content = content[part]
        except (LookupError, TypeError):
            return location[:depth]
    return location


def _should(details: ErrorDetails) -> str:
    """Return pydantic's message from the verb on: "be greater than or equal to 1"."""
    value = details["input"]
    match details["type"]:
        case "model_type" | "dict_type":
            return "be a mapping"
        case "none_required":
            return "be null"
        case "string_pattern_mismatch":
            pattern = details["ctx"]["pattern"]
            return f"be {PATTERNS.get(pattern, f'text that matches {pattern}')}"
    should = details["msg"].partition(" should ")[2].replace(" after validation", "")
    if (
        details["type"] in ("int_type", "float_type")
        and isinstance(value, str)
        and re.match(r"[-+.\d]", value)
    ):
        return f"{should} (YAML reads it as text: write no quotes, and 1.0e-3 instead of 1e-3)"
    if details["type"] == "string_type" and isinstance(value, datetime.date | int | float):
        return f"{should} (put it in quotes)"
    return should


def _known_keys(model: type[BaseModel], place: Place) -> list[str]:
    """Return the keys of the block in which ``place`` is."""
    model = next(_models(model))
    for part in place[:-1]:
        if part in model.model_fields:
            model = next(_models(model.model_fields[part].annotation), model)
    return list(model.model_fields)


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, RootModel):
        annotation = annotation.model_fields["root"].annotation
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models(argument)
