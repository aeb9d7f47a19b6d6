"""JSON of files and servers that are not ours."""

import json
from typing import Any, TypeGuard


def json_content(text: str | bytes) -> Any:
    """Return the content of JSON in UTF-8; raises ValueError where it is none, or too deeply nested."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error


def is_text(value: object) -> TypeGuard[str]:
    """Return whether a value is a text that can be stored: JSON and Python may escape half of a character."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False
