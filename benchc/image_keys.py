"""Image keys, and the seed of an image's noise: items that share an image share its key and its noise."""

import re

from benchc.randomness import seed_of

# No item id (`source/index`) and no path inside a folder begins like this.
NAMED = re.compile(r"[^/:]+://")
# Of images that are told apart by their pixels, in whatever source they are.
PIXELS = "sha256://"


def derived_key(item: str, index: int) -> str:
    """Return the key of image ``index`` (0-based) of an item whose source does not name its images."""
    return f"{item}#{index}"


def named_key(source: str, name: str) -> str:
    """Return the key of the image that ``source`` calls ``name``; ``source`` contains no ``/`` or ``:``."""
    return f"{source}://{name}"


def pixel_key(digest: str) -> str:
    """Return the key of all images with the pixels that ``digest``, a SHA-256, is of."""
    return f"{PIXELS}{digest}"


def image_seed(seed: int, key: str, corruption: str, severity: int) -> int:
    """Return the seed of one image under one corruption and severity, in [0, 2**63).

    ``seed`` is the run's, ``key`` from :func:`derived_key`, whose item and index are hashed separately, or
    from :func:`named_key` or :func:`pixel_key`. Raises ValueError for any other key.
    """
    if NAMED.match(key):
        return seed_of(seed, key, corruption, severity)
    item, hash_sign, index = key.rpartition("#")
    if not (hash_sign and index.isdecimal()):
        raise ValueError(
            f"{key!r} is not an image key, which is item#0, item#1, ..., source://name or sha256://digest"
        )
    return seed_of(seed, item, int(index), corruption, severity)
