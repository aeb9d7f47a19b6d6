"""Equal halves of groups, one to tune models on and one to test them (paper, section 3)."""

from collections.abc import Hashable, Mapping, Set

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from benchc.benchmarks.naturalbench.schemas.halves import TEST, TRAIN
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.randomness import seed_of

_OTHER = {TRAIN: TEST, TEST: TRAIN}
LEAST = 2  # groups of a half: an interval needs them


def halves(images: Mapping[str, Set[Hashable]], seed: int) -> dict[str, str]:
    """Return the half of each group, TRAIN or TEST, in the order of ``images``: the images of each.

    The halves have the same number of groups, of an odd number TEST one more. Groups that share an image,
    also by way of others, are in one half, unless the halves could then not be equal. The rest is by hashes
    of the seed and the groups' names, so that the order of groups changes nothing. Raises InputError for
    fewer than four groups.
    """
    if len(images) < 2 * LEAST:
        raise InputError(
            f"fine_tuning: the run has {pluralize(len(images), 'group')}, but each half needs {LEAST}; add "
            "groups, or remove fine_tuning"
        )
    ranks = {name: seed_of("half", seed, name) for name in images}
    room = {TRAIN: len(images) // 2, TEST: (len(images) + 1) // 2}
    found: dict[str, str] = {}
    # The largest first, since single groups fill what is left.
    for names in sorted(_sharing(images, ranks), key=lambda names: (-len(names), ranks[names[0]])):
        # By a coin in proportion to the room, or else where they fit.
        half = TRAIN if ranks[names[0]] % sum(room.values()) < room[TRAIN] else TEST
        if room[half] < len(names) <= room[_OTHER[half]]:
            half = _OTHER[half]
        for name in names:
            found[name] = half = half if room[half] else _OTHER[half]
            room[half] -= 1
    return {name: found[name] for name in images}


def in_both(images: Mapping[str, Set[Hashable]], half_of: Mapping[str, str]) -> int:
    """Return how many images are of groups of both halves."""
    seen: dict[str, set[Hashable]] = {TRAIN: set(), TEST: set()}
    for name, half in half_of.items():
        seen[half] |= images[name]
    return len(seen[TRAIN] & seen[TEST])


def _sharing(images: Mapping[str, Set[Hashable]], ranks: Mapping[str, int]) -> list[list[str]]:
    """Return the groups that share images, by way of others too, in lists in the order of their ranks."""
    names = sorted(images, key=lambda name: (ranks[name], name))
    numbers: dict[Hashable, int] = {}
    edges = [
        (row, numbers.setdefault(image, len(numbers)))
        for row, name in enumerate(names)
        for image in images[name]
    ]
    rows, columns = np.array(edges).T
    size = len(names) + len(numbers)
    graph = coo_matrix((np.ones(len(edges)), (rows, len(names) + columns)), shape=(size, size))
    _, labels = connected_components(graph, directed=False)
    lists: dict[int, list[str]] = {}
    for name, label in zip(names, labels[: len(names)].tolist(), strict=True):
        lists.setdefault(label, []).append(name)
    return list(lists.values())
