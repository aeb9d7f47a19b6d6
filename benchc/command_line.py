"""Types of command-line arguments, by which cyclopts reads and checks them."""

import re
from collections.abc import Sequence
from typing import Annotated, Any

from cyclopts import Parameter, Token


def _json(hint: Any, tokens: Sequence[Token]) -> Any:
    # Imported here because only some stages need it.
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(hint).validate_json(tokens[0].value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise ValueError(f"{place}: {first['msg']}" if place else first["msg"]) from error


def _whole(hint: Any, tokens: Sequence[Token]) -> int:
    text = tokens[0].value
    if not re.fullmatch("-?[0-9]+", text):
        raise ValueError(f"{text!r} is not a whole number")
    return int(text)


def _at_least(least: int) -> Any:
    def check(hint: Any, value: int | None) -> None:
        if value is not None and value < least:
            raise ValueError(f"it should be at least {least}")

    return check


def _at_most(most: int) -> Any:
    def check(hint: Any, value: int | None) -> None:
        if value is not None and value > most:
            raise ValueError(f"it should be at most {most:,}")

    return check


# One JSON text, for a mapping or another type that options cannot be read into without losing types.
Json = Parameter(converter=_json, n_tokens=1, accepts_keys=False, json_list=False, metavar="JSON")
PositiveInt = Annotated[int, Parameter(converter=_whole, validator=_at_least(1))]
NaturalInt = Annotated[int, Parameter(converter=_whole, validator=_at_least(0))]
Seed = NaturalInt
# At most as many as analysis.draws of a configuration.
Draws = Annotated[int, Parameter(converter=_whole, validator=(_at_least(1), _at_most(100_000)))]


def _source_id(hint: Any, value: str) -> None:
    # As in the catalogue: ids and image keys begin with it.
    if not re.fullmatch("[a-z0-9][a-z0-9.-]*", value):
        raise ValueError("an id has lower-case letters, digits, dots and dashes")


SourceId = Annotated[str, Parameter(validator=_source_id)]
