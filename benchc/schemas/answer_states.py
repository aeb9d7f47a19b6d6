"""What a judge finds in an answer. Imports nothing heavy."""

from typing import Literal, get_args

# Of the option that an answer chooses: how it was found, or why there is none.
Status = Literal["letter", "text", "refused", "ambiguous", "unparsable", "unfinished"]
STATUSES: tuple[str, ...] = get_args(Status)
