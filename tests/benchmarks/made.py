"""What tests of several benchmarks make: tables of rows, and replies of a chat server."""

import json
from collections.abc import Iterable
from typing import Any

import polars as pl


def frame_of(type_: Any, rows: Iterable[Any] = ()) -> pl.DataFrame:
    """Return a table of this type with these rows, in the order of its columns."""
    return pl.DataFrame([*rows], schema=pl.Schema(type_.columns), orient="row")


def chat(text: str | None, finish: str = "stop") -> tuple[int, dict[str, str], str]:
    """Return a server's reply with this text."""
    message = {"role": "assistant", "content": text}
    return 200, {}, json.dumps({"choices": [{"message": message, "finish_reason": finish}]})
