"""How a generated answer ended. The cache of predictions depends on this module, so it has nothing else."""

from typing import Literal, get_args

# The model ended it; it has the most tokens allowed; or a server withheld it, or a part of it.
Finish = Literal["stop", "length", "content_filter"]
FINISHES: tuple[str, ...] = get_args(Finish)
