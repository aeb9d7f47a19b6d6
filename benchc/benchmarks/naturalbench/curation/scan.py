"""Compiled loops over blocks of pairs: which of them are mismatched, and which mismatches are kept.

A similarity is decided in float64 with one order of additions. Products of matrices in float32 decide only
what rounding cannot change, so that no result depends on the size or the place of a block.
"""

import numpy as np
import numpy.typing as npt
from numba import njit

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]  # in a block
Hashes = npt.NDArray[np.uint64]

NO_MARGIN = np.float32(0)  # the margin of a pair that is no mismatch
IN_DOUBT = np.float32(-1)
# Of the hash function splitmix64.
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
FACTORS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
STEP = np.uint64(0x9E3779B97F4A7C15)
ZERO = np.float32(0)


@njit(cache=True, nogil=True)
def similarity(image: Floats, text: Floats) -> float:
    """Return the largest dot product of the vectors of an image, float32[Q, d], with that of a text."""
    best = -np.inf
    size = len(text)
    whole = size - size % 8
    for query in range(len(image)):
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
        for k in range(0, whole, 8):
            s0 += np.float64(image[query, k]) * np.float64(text[k])
            s1 += np.float64(image[query, k + 1]) * np.float64(text[k + 1])
            s2 += np.float64(image[query, k + 2]) * np.float64(text[k + 2])
            s3 += np.float64(image[query, k + 3]) * np.float64(text[k + 3])
            s4 += np.float64(image[query, k + 4]) * np.float64(text[k + 4])
            s5 += np.float64(image[query, k + 5]) * np.float64(text[k + 5])
            s6 += np.float64(image[query, k + 6]) * np.float64(text[k + 6])
            s7 += np.float64(image[query, k + 7]) * np.float64(text[k + 7])
        for k in range(whole, size):
            s0 += np.float64(image[query, k]) * np.float64(text[k])
        best = max(best, ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7)))
    return best


@njit(cache=True, nogil=True)
def similarities(images: Floats, texts: Floats, first: Indices, second: Indices) -> Doubles:
    """Return the similarity of the image ``first[n]`` and the text ``second[n]`` for all n."""
    result = np.empty(len(first))
    for n in range(len(first)):
        result[n] = similarity(images[first[n]], texts[second[n]])
    return result


@njit(cache=True, nogil=True)
def start(margins: Floats, images: Indices, other_images: Indices, later: int) -> None:
    """Set ``margins`` to infinity for the pairs to look at, else to 0.

    These are the pairs of two images, of a diagonal block those above its diagonal. ``later``: the first row
    of the columns, less that of the rows.
    """
    rows, columns = margins.shape
    for i in range(rows):
        for j in range(columns):
            wanted = j + later > i and images[i] != other_images[j]
            margins[i, j] = np.float32(np.inf) if wanted else ZERO


@njit(cache=True, nogil=True)
def narrow(
    margins: Floats,
    found: Floats,
    other: Floats,
    own: Floats,
    other_own: Floats,
    tolerance: np.float32,
) -> int:
    """Lower ``margins``, float32[R, C], to those of one encoder: 0 for no mismatch, -1 for one in doubt.

    ``found`` and ``other``: similarities of the rows' images and the columns' texts, and of the columns'
    images and the rows' texts, float32[R, C]; ``own`` and ``other_own``: those of rows and columns with
    themselves; ``tolerance``: by how much rounding may change a margin. Returns the number of those in doubt.
    """
    rows, columns = margins.shape
    doubts = 0
    for i in range(rows):
        mine = own[i]
        for j in range(columns):
            margin = max(found[i, j], other[i, j]) - min(mine, other_own[j])
            before = margins[i, j]
            sure = min(margin, before) if margin > tolerance else IN_DOUBT
            sure = NO_MARGIN if margin < -tolerance or before <= ZERO else sure
            margins[i, j] = sure
            doubts += 1 if sure < ZERO else 0
    return doubts


@njit(cache=True, nogil=True)
def settle(
    margins: Floats,
    images: Floats,
    texts: Floats,
    own: Doubles,
    other_images: Floats,
    other_texts: Floats,
    other_own: Doubles,
    everything: bool,
) -> None:
    """Compute margins in doubt exactly, or ``everything`` that is not 0; 0 for no mismatch.

    The vectors of rows and columns are float32[., Q, d] and float32[., d]; ``own`` and ``other_own``: their
    similarities with themselves.
    """
    rows, columns = margins.shape
    for i in range(rows):
        for j in range(columns):
            value = margins[i, j]
            if value < ZERO or (everything and value > ZERO):
                cross = max(similarity(images[i], other_texts[j]), similarity(other_images[j], texts[i]))
                exact = cross - min(own[i], other_own[j])
                # A pair in doubt has lost its margin by earlier encoders, which may be smaller still.
                largest = np.float64(value) if value > ZERO else exact
                margins[i, j] = np.float32(min(exact, largest)) if exact > 0 else ZERO


@njit(cache=True, nogil=True)
def pair_hash(first: np.uint64, second: np.uint64) -> np.uint64:
    """Return a hash of two hashes, in this order: splitmix64 of each in turn."""
    value = STEP
    for part in (first, second):
        value = (value ^ part) + STEP
        value = (value ^ (value >> SHIFTS[0])) * FACTORS[0]
        value = (value ^ (value >> SHIFTS[1])) * FACTORS[1]
        value = value ^ (value >> SHIFTS[2])
    return value


@njit(cache=True, nogil=True)
def pair_hashes(hashes: Hashes, first: Indices, second: Indices) -> Hashes:
    """Return the hash of each pair of samples ``first[n]`` and ``second[n]``, given those of samples."""
    result = np.empty(len(first), dtype=np.uint64)
    for n in range(len(first)):
        result[n] = pair_hash(hashes[first[n]], hashes[second[n]])
    return result


@njit(cache=True, nogil=True)
def hashed_candidates(
    margins: Floats,
    count: int,
    hashes: Hashes,
    other_hashes: Hashes,
    worst: Hashes,
    other_worst: Hashes,
) -> tuple[Places, Places, Hashes]:
    """Return row, column and hash of the mismatches of a block that rows or columns may keep.

    ``count``: the mismatches in the block; ``worst``: the largest hash that each sample keeps so far.
    """
    first = np.empty(count, dtype=np.int32)
    second = np.empty(count, dtype=np.int32)
    keys = np.empty(count, dtype=np.uint64)
    taken = 0
    rows, columns = margins.shape
    for i in range(rows):
        for j in range(columns):
            if margins[i, j] > ZERO:
                key = pair_hash(hashes[i], other_hashes[j])
                if key <= worst[i] or key <= other_worst[j]:
                    first[taken], second[taken], keys[taken] = i, j, key
                    taken += 1
    return first[:taken], second[:taken], keys[:taken]


@njit(cache=True, nogil=True)
def hard_candidates(margins: Floats, count: int, least: Floats, other_least: Floats) -> tuple[Places, Places]:
    """Return row and column of the mismatches whose margin is at least that of a row or column."""
    first = np.empty(count, dtype=np.int32)
    second = np.empty(count, dtype=np.int32)
    taken = 0
    rows, columns = margins.shape
    for i in range(rows):
        for j in range(columns):
            margin = margins[i, j]
            if margin > ZERO and (margin >= least[i] or margin >= other_least[j]):
                first[taken], second[taken] = i, j
                taken += 1
    return first[:taken], second[:taken]


@njit(cache=True, nogil=True)
def insert(keys: Hashes, partners: Indices, first: Indices, second: Indices, values: Hashes) -> None:
    """Let both samples of each pair keep it if its value is among their smallest; partners break ties.

    ``keys`` and ``partners``: those of each sample, [N, K], of which the first is the largest (a heap).
    """
    size = keys.shape[1]
    for n in range(len(first)):
        for one, two in ((first[n], second[n]), (second[n], first[n])):
            key, heap, names = values[n], keys[one], partners[one]
            if key > heap[0] or (key == heap[0] and two >= names[0]):
                continue
            place = 0
            while True:
                child = 2 * place + 1
                if child >= size:
                    break
                right = child + 1
                if right < size and (
                    heap[right] > heap[child] or (heap[right] == heap[child] and names[right] > names[child])
                ):
                    child = right
                if heap[child] < key or (heap[child] == key and names[child] < two):
                    break
                heap[place], names[place] = heap[child], names[child]
                place = child
            heap[place], names[place] = key, two
