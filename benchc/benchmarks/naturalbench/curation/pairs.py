"""The choice of pairs among mismatches, and of random pairs beside them."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.naturalbench.curation.mismatch import EncoderVectors, sample_hashes
from benchc.benchmarks.naturalbench.curation.scan import pair_hashes
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.randomness import seed_of

Indices = npt.NDArray[np.int64]
Pair = tuple[int, int]


def chosen_pairs(
    captions: pl.DataFrame,
    mismatches: pl.DataFrame,
    encoders: Sequence[EncoderVectors],
    *,
    most: int,
    random: int,
    seed: int,
) -> pl.DataFrame:
    """Return up to ``most`` mined pairs and ``random`` random ones, of type PAIRS.

    A random pair has two images of one data set that not all encoders mismatch, and no sample of a mined
    pair.

    Args:
        captions: id, dataset and image of all samples (as CAPTIONS), ascending by id
        mismatches: a and b (as MISMATCHES)
        encoders: vectors of the samples; only random pairs need them
        most: mined pairs
        random: random pairs
        seed: the run's

    Raises InputError where no pair is mismatched, and for random pairs without encoders.
    """
    if random and not encoders:
        raise InputError("--random-pairs needs --embeddings, since a random pair is no mismatch; give them")
    ids, datasets, images = (captions[name].to_list() for name in ("id", "dataset", "image"))
    place = {id_: number for number, id_ in enumerate(ids)}
    rows = mismatches.select("a", "b").unique()
    first, second = (np.array([place[id_] for id_ in rows[name]], dtype=np.int64) for name in ("a", "b"))
    mined = mined_pairs(ids, first, second, most=most, seed=seed)
    if not mined:
        raise InputError(
            f"no pair of {pluralize(len(ids), 'sample')} is mismatched by all encoders; add samples, or "
            "remove an encoder from curate.mine.encoders"
        )
    drawn: list[Pair] = []
    if random:
        matched = are_matched(encoders)

        def is_allowed(one: int, other: int) -> bool:
            return datasets[one] == datasets[other] and images[one] != images[other] and matched(one, other)

        rest = set(range(len(ids))) - {sample for pair in mined for sample in pair}
        drawn = random_pairs(ids, rest, is_allowed, count=random, seed=seed)
    return pairs_frame(ids, mined, drawn)


def mined_pairs(ids: Sequence[str], first: Indices, second: Indices, *, most: int, seed: int) -> list[Pair]:
    """Return up to ``most`` pairs of samples, of which none is in two pairs.

    Samples are taken in a hashed order. A free one is paired with a free sample that it is mismatched with:
    that of the smallest hash of the pair, by which mining also keeps mismatches, so that a smaller number of
    kept ones changes few pairs.

    Args:
        ids: of all samples, ascending.
        first: the mismatches' samples as rows of ``ids``, and ``second``, the larger ones.
        seed: the run's.
    """
    keys = pair_hashes(sample_hashes(ids, seed), first, second)
    one, two = np.concatenate([first, second]), np.concatenate([second, first])
    order = np.lexsort((two, np.concatenate([keys, keys]), one))
    partners = two[order].tolist()
    ends = np.cumsum(np.bincount(one, minlength=len(ids))).tolist()
    free = [True] * len(ids)
    pairs: list[Pair] = []
    for sample in _hashed_order(ids, range(len(ids)), seed, "mined pairs"):
        if len(pairs) == most:
            break
        start = ends[sample - 1] if sample else 0
        partner = next((other for other in partners[start : ends[sample]] if free[other]), None)
        if free[sample] and partner is not None:
            free[sample] = free[partner] = False
            pairs.append((min(sample, partner), max(sample, partner)))
    return pairs


def random_pairs(
    ids: Sequence[str], rest: Iterable[int], is_allowed: Callable[[int, int], bool], *, count: int, seed: int
) -> list[Pair]:
    """Return up to ``count`` pairs of the samples ``rest``, rows of ``ids``, of which none is in two pairs.

    In a hashed order, each free sample is paired with the next free one with which it ``is_allowed``.
    """
    pending = _hashed_order(ids, rest, seed, "random pairs")
    pairs: list[Pair] = []
    while pending and len(pairs) < count:
        sample = pending.pop(0)
        place = next((k for k, other in enumerate(pending) if is_allowed(sample, other)), None)
        if place is not None:
            other = pending.pop(place)
            pairs.append((min(sample, other), max(sample, other)))
    return pairs


def are_matched(encoders: Sequence[EncoderVectors]) -> Callable[[int, int], bool]:
    """Return a function that says whether not all encoders mismatch the samples of two rows."""
    own = [encoder.own() for encoder in encoders]

    def matched(sample: int, other: int) -> bool:
        first, second = np.array([sample]), np.array([other])
        margins = (
            encoder.margins(first, second, mine).item() for encoder, mine in zip(encoders, own, strict=True)
        )
        return not all(margin > 0 for margin in margins)

    return matched


def pair_id(a: str, b: str) -> str:
    """Return the id of the pair of two samples: 16 hex digits."""
    return f"{seed_of('pair', a, b):016x}"


def pairs_frame(ids: Sequence[str], mined: Sequence[Pair], drawn: Sequence[Pair]) -> pl.DataFrame:
    """Return pairs of rows of ``ids`` as a frame of type PAIRS: the mined ones by a, then the random ones."""
    rows = [
        (pair_id(ids[a], ids[b]), ids[a], ids[b], method)
        for method, pairs in (("mined", mined), ("random", drawn))
        for a, b in sorted(pairs)
    ]
    return pl.DataFrame(rows, schema=pl.Schema(PAIRS.columns), orient="row")


def _hashed_order(ids: Sequence[str], samples: Iterable[int], seed: int, label: str) -> list[int]:
    return sorted(samples, key=lambda sample: (seed_of(seed, label, ids[sample]), ids[sample]))
