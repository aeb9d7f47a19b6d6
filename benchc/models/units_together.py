"""Whether units of a question pass through a model together. Imports nothing heavy."""

from typing import Literal, get_args

# "if_equal": where this changes no bit.
UnitsTogether = Literal["if_equal", "always", "never"]

UNITS_TOGETHER: tuple[str, ...] = get_args(UnitsTogether)
