"""The order of items: by source, then by index as a number."""

import math
import re

Key = tuple[str, tuple[float, tuple[tuple[str, int], ...]]]


def item_key(id_: str) -> Key:
    """Return the sort key of an item's id, ``source/index``.

    Integer indices come first, by value; all others follow in natural order, in which runs of digits compare
    as numbers (``a2`` before ``a10``).
    """
    source, _, index = id_.partition("/")
    if re.fullmatch(r"-?\d+", index):
        return source, (int(index), ())
    parts = re.findall(r"(\D*)(\d*)", index)
    return source, (math.inf, tuple((text, int(digits or -1)) for text, digits in parts))
