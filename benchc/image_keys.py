"""What an image is called, and the seed of its noise: items that share an image share its noise."""

import re

from benchc.randomness import seed_of

# Neither an id, `source/index`, nor a path inside a folder begins like this.
NAMED = re.compile(r"[^/:]+://")


def derived_key(item: str, index: int) -> str:
    """Return the key of image ``index`` (0-based) of an item whose source does not name its images."""
    return f"{item}#{index}"


def named_key(source: str, name: str) -> str:
    """Return the key of an image that ``source``, an id without ``/`` and ``:``, calls ``name``."""
    return f"{source}://{name}"


def image_seed(seed: int, key: str, corruption: str, severity: int) -> int:
    """Return the seed of one image under one corruption and severity, in [0, 2**63).

    ``seed`` is the run's, ``key`` one of :func:`derived_key` or :func:`named_key`. Of a derived key its item
    and index are hashed each by itself. Raises ValueError for a key of neither form.
    """
    if NAMED.match(key):
        return seed_of(seed, key, corruption, severity)
    item, hash_sign, index = key.rpartition("#")
    if not (hash_sign and index.isdecimal()):
        raise ValueError(f"{key!r} is no key of an image: item#0, item#1, ... or source://name")
    return seed_of(seed, item, int(index), corruption, severity)
