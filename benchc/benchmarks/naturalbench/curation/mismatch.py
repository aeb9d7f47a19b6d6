"""Pairs of samples that all encoders mismatch (paper, eq. 1), found among all pairs.

With S(i, t), the similarity of an image and a caption, a pair of samples a and b is mismatched where
max(S(a, b), S(b, a)) > min(S(a, a), S(b, b)); a tie is no mismatch.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from benchc.benchmarks.naturalbench.curation import scan
from benchc.benchmarks.naturalbench.schemas.mismatches import MISMATCHES
from benchc.progress import track
from benchc.randomness import seed_of

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]
KeepBy = Literal["hash", "hardest"]

BLOCK = 4096  # samples
# Where fewer of a block's pairs are left, they are cheaper one by one than as a product of matrices.
SPARSE = 1 / 64
LARGEST = np.iinfo(np.uint64).max


@dataclass(frozen=True)
class EncoderVectors:
    """The unit vectors of N samples by an encoder of Q queries: images float32[N, Q, d], texts [N, d]."""

    name: str
    images: Floats
    texts: Floats

    def own(self) -> Doubles:
        """Return the similarity of each image and its own text, float64[N]."""
        every = np.arange(len(self.texts))
        return scan.similarities(self.images, self.texts, every, every)

    def margins(self, first: Indices, second: Indices, own: Doubles) -> Doubles:
        """Return max(S(a, b), S(b, a)) - min(S(a, a), S(b, b)) of pairs of rows, float64."""
        cross = np.maximum(
            scan.similarities(self.images, self.texts, first, second),
            scan.similarities(self.images, self.texts, second, first),
        )
        margins: Doubles = cross - np.minimum(own[first], own[second])
        return margins


@dataclass(frozen=True)
class Mined:
    """Kept mismatches, as pairs of rows with ``first < second``, sorted; ``mismatches``: of all, how many."""

    first: Indices
    second: Indices
    mismatches: int

    @property
    def left_out(self) -> int:
        """The number of mismatches that are not kept."""
        return self.mismatches - len(self.first)


def sample_hashes(ids: Sequence[str], seed: int) -> Hashes:
    """Return a hash of each sample; ``seed`` is the run's."""
    return np.array([seed_of(seed, "mismatch", id_) for id_ in ids], dtype=np.uint64)


def find_mismatches(
    ids: Sequence[str],
    images: Sequence[str],
    encoders: Sequence[EncoderVectors],
    *,
    keep: int,
    keep_by: KeepBy,
    seed: int,
    block: int = BLOCK,
) -> Mined:
    """Return the mismatches of all encoders that at least one of their two samples keeps.

    A sample keeps ``keep`` mismatches: those of the smallest hash of ``seed`` and the two ids, a uniform
    draw, or those whose smallest margin over the encoders is largest. So at most ``keep`` times N are
    returned. They do not depend on ``block``, the number of samples whose pairs are compared at a time, nor
    on threads.

    Args:
        ids: of the N samples, ascending.
        images: key of each sample's image; two samples of one image are no pair.
        encoders: at least one.

    Raises ValueError where ids are not ascending, or an encoder has other than N samples.
    """
    if not encoders or any(len(encoder.texts) != len(ids) for encoder in encoders):
        raise ValueError(f"each encoder, of at least one, has the vectors of {len(ids)} samples")
    if any(one >= other for one, other in pairwise(ids)):
        raise ValueError("ids must be ascending and different")
    places = {name: number for number, name in enumerate(dict.fromkeys(images))}
    pictures = np.array([places[name] for name in images], dtype=np.int64)
    shape = (len(ids), min(keep, len(ids)))
    kept = _Kept(
        np.full(shape, LARGEST, dtype=np.uint64),
        np.full(shape, len(ids), dtype=np.int64),
        np.arange(len(ids)),
    )
    scanner = _Scanner(encoders, pictures, block)
    hashes = sample_hashes(ids, seed)
    count = 0
    for rows, columns in track(scanner.blocks(), label="mine", unit="blocks", total=scanner.count):
        margins = scanner.margins(rows, columns)
        inside = int(np.count_nonzero(margins))
        count += inside
        if inside and keep_by == "hash":
            kept.by_hash(margins, inside, rows, columns, hashes)
        elif inside:
            kept.hardest(margins, inside, rows, columns, scanner)
    first, second = kept.pairs()
    return Mined(first, second, count)


class _Scanner:
    """Finds the mismatches of one block of pairs after another, in buffers of a fixed size."""

    def __init__(self, encoders: Sequence[EncoderVectors], pictures: Indices, block: int) -> None:
        self.encoders = encoders
        self.own = [encoder.own() for encoder in encoders]
        # Of a sum of d products of float32, and of the few operations after it. Vectors have unit length.
        sizes = [encoder.texts.shape[1] for encoder in encoders]
        self.tolerances = [np.float32((size + 8) * 2.0**-24) for size in sizes]
        self._pictures = pictures
        size = min(block, len(pictures))
        self._slices = [slice(first, first + size) for first in range(0, len(pictures), size)]
        self._buffers = np.empty((4, size * size), dtype=np.float32)

    @property
    def count(self) -> int:
        """The number of blocks."""
        return len(self._slices) * (len(self._slices) + 1) // 2

    def blocks(self) -> Iterator[tuple[slice, slice]]:
        """Yield rows and columns of each block on and above the diagonal."""
        for number, rows in enumerate(self._slices):
            for columns in self._slices[number:]:
                yield rows, columns

    def margins(self, rows: slice, columns: slice) -> Floats:
        """Return the smallest margin over the encoders, float32[R, C]; 0 where one of them has no mismatch.

        Valid until the next call.
        """
        height, width = (len(self._pictures[part]) for part in (rows, columns))
        margins, *parts = (buffer[: height * width].reshape(height, width) for buffer in self._buffers)
        scan.start(margins, self._pictures[rows], self._pictures[columns], columns.start - rows.start)
        for number, encoder in enumerate(self.encoders):
            own = self.own[number]
            sparse = bool(np.count_nonzero(margins) <= SPARSE * margins.size)
            if sparse or self._narrow(margins, parts, number, rows, columns):
                scan.settle(
                    margins,
                    encoder.images[rows],
                    encoder.texts[rows],
                    own[rows],
                    encoder.images[columns],
                    encoder.texts[columns],
                    own[columns],
                    sparse,
                )
        return margins

    def _narrow(
        self, margins: Floats, parts: Sequence[Floats], number: int, rows: slice, columns: slice
    ) -> int:
        encoder, own = self.encoders[number], self.own[number].astype(np.float32)
        found, other, spare = parts
        _products(encoder.images[rows], encoder.texts[columns], found, spare)
        # Transposed, as the images of the columns are beside the texts of the rows.
        _products_transposed(encoder.texts[rows], encoder.images[columns], other, spare)
        return scan.narrow(margins, found, other, own[rows], own[columns], self.tolerances[number])


@dataclass
class _Kept:
    """The smallest keys of each sample, and its partners: heaps [N, keep]."""

    keys: Hashes
    partners: Indices
    every: Indices

    def by_hash(self, margins: Floats, inside: int, rows: slice, columns: slice, hashes: Hashes) -> None:
        worst = self.keys[:, 0]
        first, second, keys = scan.hashed_candidates(
            margins, inside, hashes[rows], hashes[columns], worst[rows], worst[columns]
        )
        scan.insert(self.keys, self.partners, self.every[rows][first], self.every[columns][second], keys)

    def hardest(self, margins: Floats, inside: int, rows: slice, columns: slice, scanner: _Scanner) -> None:
        # What rounding may have made too small is a candidate.
        least = (_margin_of(self.keys[:, 0]) - 2 * max(scanner.tolerances)).astype(np.float32)
        above, beside = scan.hard_candidates(margins, inside, least[rows], least[columns])
        first, second = self.every[rows][above], self.every[columns][beside]
        parts = zip(scanner.encoders, scanner.own, strict=True)
        exact = np.min([encoder.margins(first, second, own) for encoder, own in parts], axis=0)
        scan.insert(self.keys, self.partners, first, second, _key_of(exact))

    def pairs(self) -> tuple[Indices, Indices]:
        """Return the kept pairs, each once, sorted."""
        samples, places = np.nonzero(self.partners < len(self.every))
        partners = self.partners[samples, places]
        smaller, larger = np.minimum(samples, partners), np.maximum(samples, partners)
        codes = np.unique(smaller * len(self.every) + larger)
        return codes // len(self.every), codes % len(self.every)


def _key_of(margins: Doubles) -> Hashes:
    """Return keys that are small for large margins: positive float64 are ordered like their bits."""
    return LARGEST - margins.view(np.uint64)


def _margin_of(keys: Hashes) -> Doubles:
    return (LARGEST - keys).view(np.float64)


def _products(images: Floats, texts: Floats, result: Floats, spare: Floats) -> None:
    """Write the similarities of images [R, Q, d] and texts [C, d] to ``result`` [R, C]: the best query's."""
    np.matmul(images[:, 0], texts.T, out=result)
    for query in range(1, images.shape[1]):
        np.matmul(images[:, query], texts.T, out=spare)
        np.maximum(result, spare, out=result)


def _products_transposed(texts: Floats, images: Floats, result: Floats, spare: Floats) -> None:
    np.matmul(texts, images[:, 0].T, out=result)
    for query in range(1, images.shape[1]):
        np.matmul(texts, images[:, query].T, out=spare)
        np.maximum(result, spare, out=result)


def mismatch_frame(ids: Sequence[str], encoders: Sequence[EncoderVectors], found: Mined) -> pl.DataFrame:
    """Return kept mismatches as a frame of the type MISMATCHES, one row for each encoder, sorted by a and b.

    A margin is computed before similarities are rounded to float32.
    """
    names = pl.Series("id", ids, pl.String)
    a, b = names[found.first], names[found.second]
    parts = []
    for number, encoder in enumerate(encoders):
        own = encoder.own()
        cross = {
            "s_ab": scan.similarities(encoder.images, encoder.texts, found.first, found.second),
            "s_ba": scan.similarities(encoder.images, encoder.texts, found.second, found.first),
        }
        margin = np.maximum(cross["s_ab"], cross["s_ba"]) - np.minimum(own[found.first], own[found.second])
        columns = {"s_aa": own[found.first], "s_bb": own[found.second], **cross, "margin": margin}
        parts.append(
            pl.DataFrame(
                {"a": a, "b": b} | {name: values.astype(np.float32) for name, values in columns.items()}
            ).with_columns(pl.lit(encoder.name).alias("encoder"), pl.lit(number).alias("number"))
        )
    frame = pl.concat(parts).sort("a", "b", "number")
    return frame.select(*MISMATCHES.columns)
