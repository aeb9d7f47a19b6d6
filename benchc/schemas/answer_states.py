"""How answers end, and what a judge finds in them. Imports nothing heavy."""

from typing import Literal, get_args

# Of a generated answer; benchc.models.protocol has the same words, as a part of the prediction cache's key.
Finish = Literal["stop", "length", "content_filter"]
FINISHES: tuple[str, ...] = get_args(Finish)

# Of the option that an answer chooses: how it was found, or why there is none.
Status = Literal["letter", "text", "refused", "ambiguous", "unparsable", "unfinished"]
STATUSES: tuple[str, ...] = get_args(Status)
