"""Mining is compared with all pairs in float64, on vectors with ties, and in blocks of several sizes."""

import itertools
import string
import tracemalloc
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from benchc.benchmarks.naturalbench.curation import mismatch, scan
from benchc.benchmarks.naturalbench.curation.mismatch import EncoderVectors, Mined, find_mismatches
from benchc.benchmarks.naturalbench.schemas.mismatches import MISMATCHES
from benchc.schemas.parquet import write_table


def unit(values: np.ndarray) -> np.ndarray:
    result: np.ndarray = (values / np.linalg.norm(values, axis=-1, keepdims=True)).astype(np.float32)
    return result


def encoded(
    samples: int, size: int = 24, queries: int = 1, towards: float = 0.3, seed: int = 0
) -> EncoderVectors:
    """Return random samples whose texts are turned towards the first query of their images."""
    random = np.random.default_rng(seed)
    images = random.normal(size=(samples, queries, size))
    texts = random.normal(size=(samples, size)) + towards * images[:, 0]
    return EncoderVectors(f"e{seed}", unit(images), unit(texts))


def names(samples: int) -> list[str]:
    return [f"set/{number:04d}" for number in range(samples)]


def margins(encoder: EncoderVectors) -> np.ndarray:
    """Return the margin of every pair (paper, eq. 1) from float64 products."""
    found = np.einsum("aqd,bd->abq", encoder.images.astype(float), encoder.texts.astype(float)).max(axis=-1)
    own = np.diag(found)
    result: np.ndarray = np.maximum(found, found.T) - np.minimum(own[:, None], own)
    return result


def by_brute_force(encoders: Sequence[EncoderVectors], images: Sequence[str]) -> set[tuple[int, int]]:
    smallest = np.min([margins(encoder) for encoder in encoders], axis=0)
    pairs = itertools.combinations(range(len(images)), 2)
    return {(a, b) for a, b in pairs if smallest[a, b] > 0 and images[a] != images[b]}


def pairs_of(found: Mined) -> list[tuple[int, int]]:
    return list(zip(found.first.tolist(), found.second.tolist(), strict=True))


def mined(encoders: Sequence[EncoderVectors], keep: int = 10**6, **options: object) -> Mined:
    ids = names(len(encoders[0].texts))
    defaults = {"keep_by": "hash", "seed": 1}
    return find_mismatches(ids, ids, encoders, keep=keep, **(defaults | options))  # type: ignore[arg-type]


@pytest.mark.parametrize("block", [1, 7, 4096])
@pytest.mark.parametrize("keep_by", ["hash", "hardest"])
def test_all_mismatches_of_all_encoders_are_found(block: int, keep_by: str) -> None:
    encoders = [encoded(50), encoded(50, size=13, queries=3, towards=0.6, seed=1)]
    found = mined(encoders, keep_by=keep_by, block=block)
    wanted = by_brute_force(encoders, names(50))
    assert 0 < len(wanted) < 50 * 49 / 2
    assert pairs_of(found) == sorted(wanted)
    assert (found.mismatches, found.left_out) == (len(wanted), 0)
    # Each encoder excludes pairs that the other does not.
    assert all(len(wanted) < len(by_brute_force([one], names(50))) for one in encoders)


def test_a_dense_and_a_sparse_look_of_later_encoders_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    encoders = [encoded(40, towards=0.2), encoded(40, queries=2, seed=3)]
    found = []
    for share in (0.0, 1.0):
        monkeypatch.setattr(mismatch, "SPARSE", share)
        found.append(pairs_of(mined(encoders, keep=3, keep_by="hardest")))
    assert found[0] == found[1]


@hypothesis_settings(max_examples=25)
@given(
    st.integers(2, 9),
    st.integers(1, 3),
    st.lists(st.integers(0, 3), min_size=9, max_size=9),
    st.integers(0, 2**32),
    st.sampled_from([1, 2, 7, 64]),
)
def test_samples_with_equal_vectors_are_decided_alike(
    samples: int, queries: int, copies: list[int], seed: int, block: int
) -> None:
    distinct = encoded(4, size=11, queries=queries, seed=seed)
    rows = copies[:samples]
    encoder = EncoderVectors("copies", distinct.images[rows], distinct.texts[rows])
    found = set(pairs_of(mined([encoder], block=block)))
    exact = margins(distinct)
    for a, b in itertools.combinations(range(samples), 2):
        # A pair of equal samples has four equal similarities: a tie, which is no mismatch.
        wanted = rows[a] != rows[b] and exact[rows[a], rows[b]] > 0
        assert ((a, b) in found) == wanted


def test_a_tie_is_no_mismatch_and_the_least_excess_is_one() -> None:
    # S(a, a) = S(b, b) = S(b, a) = 0.6: a tie.
    images, texts = [[[1, 0, 0]], [[1, 0, 0]]], [[0.6, 0.8, 0], [0.6, 0, 0.8]]
    tie = EncoderVectors("tie", np.array(images, np.float32), np.array(texts, np.float32))
    assert pairs_of(mined([tie])) == []
    above = tie.texts.copy()
    above[0, 0] = np.nextafter(np.float32(0.6), np.float32(1))
    found = mined([EncoderVectors("above", tie.images, above)])
    assert (pairs_of(found), found.mismatches) == ([(0, 1)], 1)
    frame = mismatch.mismatch_frame(names(2), [EncoderVectors("above", tie.images, above)], found)
    assert 0 < frame["margin"][0] < 1e-6


@pytest.mark.parametrize("keep_by", ["hash", "hardest"])
@pytest.mark.parametrize("queries", [1, 2])
def test_kept_mismatches_do_not_depend_on_blocks(keep_by: str, queries: int) -> None:
    encoder = encoded(40, queries=queries, towards=0.1)
    # Equal vectors give margins that are equal to the bit, which partners break.
    doubled = EncoderVectors("d", np.concatenate([encoder.images] * 2), np.concatenate([encoder.texts] * 2))
    found = [pairs_of(mined([doubled], keep=4, keep_by=keep_by, block=block)) for block in (1, 7, 64, 4096)]
    assert found[0] == found[1] == found[2] == found[3]
    assert len(found[0]) <= 4 * 80


def test_the_hash_keeps_the_smallest_of_each_sample() -> None:
    encoder = encoded(60, towards=0.1)
    every = pairs_of(mined([encoder]))
    hashes = mismatch.sample_hashes(names(60), 1)
    keys = {pair: int(scan.pair_hash(hashes[pair[0]], hashes[pair[1]])) for pair in every}
    wanted = set()
    for sample in range(60):
        wanted |= set(sorted((pair for pair in every if sample in pair), key=keys.__getitem__)[:5])
    found = mined([encoder], keep=5)
    assert pairs_of(found) == sorted(wanted)
    assert found.left_out == len(every) - len(wanted) > 0
    assert len(wanted) <= 5 * 60
    assert pairs_of(mined([encoder], keep=5, seed=2)) != pairs_of(found)


def hardest(encoders: Sequence[EncoderVectors], keep: int) -> list[tuple[int, int]]:
    """Return the kept pairs from float64 margins of all pairs; of equal margins the first partners."""
    found, wanted = np.min([margins(encoder) for encoder in encoders], axis=0), set()
    for sample in range(len(found)):
        partners = sorted((-margin, other) for other, margin in enumerate(found[sample]) if margin > 0)
        wanted |= {(min(sample, other), max(sample, other)) for _, other in partners[:keep]}
    return sorted(wanted)


def test_the_hardest_are_those_of_the_largest_smallest_margin() -> None:
    encoders = [encoded(60, towards=0.1), encoded(60, towards=0.2, seed=5)]
    assert pairs_of(mined(encoders, keep=3, keep_by="hardest")) == hardest(encoders, 3)
    # Of equal margins the first partners are kept.
    random = np.random.default_rng(0)
    # Components of -1, 0 and 1 give margins that are whole numbers, and so equal to the bit.
    images, texts = (random.integers(-1, 2, (90, *shape, 6)).astype(np.float32) for shape in ((1,), ()))
    encoder = EncoderVectors("e", images, texts)
    wanted = hardest([encoder], 3)
    for block in (1, 7, 32, 4096):
        assert pairs_of(mined([encoder], keep=3, keep_by="hardest", block=block)) == wanted


def test_the_hardest_of_margins_that_differ_by_less_than_float32_tells() -> None:
    random = np.random.default_rng(0)
    one, other = unit(random.normal(size=(2, 256)))
    first = np.arange(120) % 2 == 0
    # The images of one half look like the captions of the other: each of their pairs has a margin near 1.
    images, texts = np.where(first[:, None], one, other), np.where(first[:, None], other, one)
    noise = 3e-8 * random.normal(size=(2, 120, 256))
    encoder = EncoderVectors("e", unit(images + noise[0])[:, None], unit(texts + noise[1]))
    near = margins(encoder)[np.ix_(first, ~first)]
    assert np.ptp(near) < 1e-6 and len(np.unique(near)) == near.size
    wanted = hardest([encoder], 3)
    for block in (1, 7, 4096):
        assert pairs_of(mined([encoder], keep=3, keep_by="hardest", block=block)) == wanted


def test_kept_mismatches_are_a_uniform_draw() -> None:
    # All pairs are mismatched: every caption describes every image but its own.
    samples = 40
    images = np.tile(np.array([[1, 0]], np.float32), (samples, 1))[:, None]
    texts = np.tile(np.array([[1, 0]], np.float32), (samples, 1))
    texts[::2] = [0, 1]
    encoder = EncoderVectors("e", images, texts)
    counts = np.zeros((samples, samples))
    for seed in range(200):
        for a, b in pairs_of(mined([encoder], keep=1, seed=seed)):
            counts[a, b] += 1
    possible = [counts[a, b] for a, b in by_brute_force([encoder], names(samples))]
    # A pair is kept by one of its samples in about 1.5 of 30 draws; a draw by order would leave many at 0.
    assert min(possible) > 0 and max(possible) < 5 * np.mean(possible)


def test_the_hash_of_a_pair_depends_on_every_bit_and_on_the_order() -> None:
    hashes = np.array([0, 1, 2**63, 2**64 - 1], dtype=np.uint64)
    first, second = (np.array(part) for part in zip(*itertools.product(range(4), repeat=2), strict=True))
    assert len(set(scan.pair_hashes(hashes, first, second).tolist())) == 16
    bits = np.unpackbits(scan.pair_hashes(hashes, first, second).view(np.uint8))
    assert 0.4 < bits.mean() < 0.6
    # By splitmix64 in integers of Python: other pairs would be drawn by another hash.
    assert hex(scan.pair_hash(np.uint64(1), np.uint64(2))) == "0x848a139037105040"
    assert scan.pair_hashes(hashes, np.array([1]), np.array([2])) == scan.pair_hash(hashes[1], hashes[2])
    # Two captions of one image are no pair.
    encoder = encoded(30, towards=0.0)
    ids = names(30)
    images = [f"set://{number // 3}" for number in range(30)]
    found = find_mismatches(ids, images, [encoder], keep=100, keep_by="hash", seed=1, block=4)
    assert pairs_of(found) == sorted(by_brute_force([encoder], images))
    assert not any(a // 3 == b // 3 for a, b in pairs_of(found))
    assert found.mismatches < mined([encoder]).mismatches


@given(st.permutations(range(12)))
@hypothesis_settings(max_examples=15)
def test_a_sample_keeps_the_same_partners_among_others(order: list[int]) -> None:
    """Ids decide, not places: removing samples or renaming others leaves the hash of a pair."""
    encoder = encoded(12, towards=0.0)
    chosen = sorted(order[:6])
    ids = [f"set/{letter}" for letter in string.ascii_lowercase[:12]]
    part, own = EncoderVectors("e", encoder.images[chosen], encoder.texts[chosen]), [ids[k] for k in chosen]
    few, every = (
        find_mismatches(given, given, [vectors], keep=20, keep_by="hash", seed=3)
        for given, vectors in ((own, part), (ids, encoder))
    )
    inside = {(a, b) for a, b in pairs_of(every) if a in chosen and b in chosen}
    assert {(chosen[a], chosen[b]) for a, b in pairs_of(few)} == inside
    np.testing.assert_array_equal(mismatch.sample_hashes(ids, 3)[chosen], mismatch.sample_hashes(own, 3))


def test_wrong_arguments_are_refused_and_one_sample_has_no_mismatch() -> None:
    for ids, encoders, message in (
        (["b", "a"], [encoded(2)], "ascending"),
        (["a", "a"], [encoded(2)], "ascending and different"),
        (names(3), [encoded(2)], "vectors of 3 samples"),
        (names(2), [encoded(3)], "vectors of 2 samples"),
        (names(3), [], "at least one"),
    ):
        with pytest.raises(ValueError, match=message):
            find_mismatches(ids, ids, encoders, keep=1, keep_by="hash", seed=0)
    found = mined([encoded(1)])
    assert (found.mismatches, found.left_out, len(found.first)) == (0, 0, 0)


def test_the_frame_has_the_similarities_of_each_encoder(tmp_path: object) -> None:
    encoders = [encoded(20), encoded(20, queries=3, seed=1)]
    found = mined(encoders, keep=2)
    frame = mismatch.mismatch_frame(names(20), encoders, found)
    assert frame["encoder"].to_list() == ["e0", "e1"] * len(found.first)
    assert frame["a"].to_list() == sorted(frame["a"])
    write_table(frame, f"{tmp_path}/m.parquet", MISMATCHES)
    for encoder in encoders:
        products = np.einsum("aqd,bd->abq", encoder.images, encoder.texts).max(axis=-1)
        for row in frame.filter(pl.col("encoder") == encoder.name).iter_rows(named=True):
            a, b = int(row["a"][-4:]), int(row["b"][-4:])
            wanted = [products[a, a], products[b, b], products[a, b], products[b, a]]
            np.testing.assert_allclose([row[f"s_{k}"] for k in ("aa", "bb", "ab", "ba")], wanted, atol=1e-6)
            assert row["margin"] == pytest.approx(max(wanted[2:]) - min(wanted[:2]), abs=1e-6)
            assert row["margin"] > 0


def test_memory_grows_with_samples_not_with_pairs() -> None:
    encoder = encoded(3000, size=8, towards=0.0)
    block = 128
    mined([encoded(10, size=8)], keep=4)  # compiles
    tracemalloc.start()
    try:
        found = mined([encoder], keep=4, block=block)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.mismatches > 0.3 * 3000 * 2999 / 2
    # Heaps of a key and a partner, blocks of four buffers and of candidates; all pairs would have 36 MB.
    assert peak < 3000 * 4 * 16 + 8 * 4 * block**2 + 4_000_000


def test_the_tolerance_covers_the_rounding_of_products() -> None:
    encoder = encoded(300, size=768, towards=0.05)
    scanner = mismatch._Scanner([encoder], np.arange(300), 128)
    exact = np.einsum("ad,bd->ab", encoder.images[:, 0].astype(float), encoder.texts.astype(float))
    rounded = encoder.images[:, 0] @ encoder.texts.T
    assert np.abs(exact - rounded).max() < scanner.tolerances[0] / 2 < 1e-4
    assert (str(scanner.count), len([*scanner.blocks()])) == ("6", 6)
    np.testing.assert_allclose(encoder.own(), np.diag(exact), atol=1e-15)
