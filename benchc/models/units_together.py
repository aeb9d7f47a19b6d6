"""Whether units of a question pass through a model together. Imports nothing heavy."""

from typing import Literal

# "if_equal": where this changes no bit.
UnitsTogether = Literal["if_equal", "always", "never"]
