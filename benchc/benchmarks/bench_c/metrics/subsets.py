"""Random subsets of a pool of which all selected items and a sample of the others were evaluated."""

import numpy as np
import numpy.typing as npt

from benchc.randomness import generator_of

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def subsets_of_pool(selected: Bools, pool: tuple[int, int], size: int, draws: int, seed: int) -> Floats:
    """Return which items each random subset of the pool contains, 0 or 1, float64[draws, items].

    ``selected``: which evaluated items are selected; ``pool``: the numbers of selected and of other items in
    the pool, at least those that were evaluated. A subset is ``size`` items of the pool, drawn without
    replacement: its number of selected items is hypergeometric, and the evaluated items represent the others
    of their kind. A draw depends only on ``seed``, its number and the other arguments. Raises ValueError
    where ``size`` is not in 1..items of the pool, or a subset may need more items of a kind than were
    evaluated.
    """
    kinds = np.flatnonzero(selected), np.flatnonzero(~selected)
    enough = all(len(kind) >= min(size, count) for kind, count in zip(kinds, pool, strict=True))
    if not enough or not 1 <= size <= sum(pool):
        raise ValueError(
            f"cannot sample {size} items from {len(kinds[0])} selected and {len(kinds[1])} others"
        )
    chosen = np.zeros((draws, len(selected)))
    for draw in range(draws):
        generator = generator_of(seed, "random subset", draw)
        inside = int(generator.hypergeometric(*pool, size))
        for kind, count in zip(kinds, (inside, size - inside), strict=True):
            chosen[draw, generator.choice(kind, count, replace=False)] = 1
    return chosen


def subsets_of_selected(selected: Bools, size: int, draws: int, seed: int) -> Floats:
    """Return the same for subsets of ``size`` selected items; one row where that is all of them.

    Raises ValueError where there are fewer.
    """
    items = np.flatnonzero(selected)
    if size > len(items):
        raise ValueError(f"cannot sample {size} items from {len(items)} selected ones")
    if size == len(items):
        return selected[None].astype(np.float64)
    chosen = np.zeros((draws, len(selected)))
    for draw in range(draws):
        generator = generator_of(seed, "selected subset", draw)
        chosen[draw, generator.choice(items, size, replace=False)] = 1
    return chosen
