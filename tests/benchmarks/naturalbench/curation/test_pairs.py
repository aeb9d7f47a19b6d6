import itertools

import numpy as np
import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.naturalbench.curation import pairs
from benchc.benchmarks.naturalbench.curation.mismatch import EncoderVectors
from benchc.benchmarks.naturalbench.curation.pairs import (
    Pair,
    chosen_pairs,
    mined_pairs,
    pair_id,
    random_pairs,
)
from benchc.randomness import seed_of

IDS = [f"set/{number:03d}" for number in range(60)]


def chosen(mismatches: list[Pair], most: int = 10**6, seed: int = 1, ids: list[str] = IDS) -> list[Pair]:
    first, second = (np.array([pair[k] for pair in mismatches], dtype=np.int64) for k in (0, 1))
    return mined_pairs(ids, first, second, most=most, seed=seed)


MISMATCHES = st.sets(
    st.tuples(st.integers(0, 59), st.integers(0, 59)).filter(lambda pair: pair[0] < pair[1]), max_size=80
)


@given(MISMATCHES, st.randoms(use_true_random=False))
def test_pairs_are_disjoint_mismatches_and_none_is_left(mismatches: set[Pair], random: object) -> None:
    found = chosen(sorted(mismatches))
    used = [sample for pair in found for sample in pair]
    assert len(set(used)) == len(used)
    assert set(found) <= mismatches
    # None could be added.
    assert all(a in used or b in used for a, b in mismatches)
    # The order of the mismatches' rows does not matter.
    shuffled = sorted(mismatches)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert chosen(shuffled) == found


@given(MISMATCHES, st.integers(1, 20))
def test_fewer_pairs_are_the_first_ones(mismatches: set[Pair], most: int) -> None:
    every = chosen(sorted(mismatches))
    assert chosen(sorted(mismatches), most) == every[:most]


def test_names_decide_not_rows() -> None:
    assert [chosen([], ids=IDS[:samples]) for samples in (0, 1, 60)] == [[]] * 3
    mismatches = list(itertools.combinations(range(2, 60, 2), 2))
    # The same samples among fewer others have other rows.
    few = IDS[2::2]
    rows = [(few.index(IDS[a]), few.index(IDS[b])) for a, b in mismatches]
    found = [{(IDS[a], IDS[b]) for a, b in chosen(mismatches, seed=seed)} for seed in range(5)]
    for seed, pairs_ in enumerate(found):
        assert {(few[a], few[b]) for a, b in chosen(rows, seed=seed, ids=few)} == pairs_
    assert found[1] != found[2]
    # A partner is drawn uniformly.
    mismatches = [(0, other) for other in range(1, 11)]
    partners = [chosen(mismatches, seed=seed)[0][1] for seed in range(1000)]
    counts = np.bincount(partners, minlength=11)[1:]
    # The first free sample draws sample 0, or is drawn by it; both are uniform.
    assert counts.min() > 60 and counts.max() < 150


def test_random_pairs_are_disjoint_and_allowed() -> None:
    def is_allowed(one: int, other: int) -> bool:
        return (one + other) % 3 != 0

    found = random_pairs(IDS, range(10, 60), is_allowed, count=12, seed=1)
    used = [sample for pair in found for sample in pair]
    assert len(found) == 12 and len(set(used)) == 24 and min(used) >= 10
    assert all(is_allowed(a, b) and a < b for a, b in found)
    # The first sample in the hashed order is paired with the next one that is allowed.
    first, *others = sorted(range(10, 60), key=lambda sample: seed_of(1, "random pairs", IDS[sample]))
    assert set(found[0]) == {first, next(other for other in others if is_allowed(first, other))}
    assert random_pairs(IDS, [*range(59, 9, -1)], is_allowed, count=12, seed=1) == found
    assert random_pairs(IDS, range(10, 60), is_allowed, count=5, seed=1) == found[:5]
    assert random_pairs(IDS, range(4), lambda one, other: False, count=5, seed=1) == []
    assert random_pairs(IDS, range(60), is_allowed, count=0, seed=1) == []


def test_a_random_pair_has_two_images_of_one_data_set_and_no_sample_of_a_mined_pair() -> None:
    # Two data sets; of four samples of each, two captions of one image. All but s/0 and s/1 are matched.
    ids = [f"{dataset}/{number}" for dataset in "st" for number in range(4)]
    samples = {
        "id": ids,
        "dataset": [id_[0] for id_ in ids],
        "image": [id_[:2] + "AABC"[int(id_[2])] for id_ in ids],
    }
    captions, mismatches = pl.DataFrame(samples), pl.DataFrame({"a": ["s/0"], "b": ["s/2"]})
    axes = np.eye(8, dtype=np.float32)
    turned = axes[[0, 3, 2, 1, 4, 5, 6, 7]]
    encoder = EncoderVectors("e", axes[:, None], turned)
    for seed in range(9):
        # The captions of s/1 and s/3 are in each other's place, so that they are a mismatch.
        found = chosen_pairs(captions, mismatches, [encoder], most=5, random=9, seed=seed)
        rows = found.select("a", "b", pl.col("method").cast(pl.String)).rows()
        assert rows[0] == ("s/0", "s/2", "mined")
        of_t = {tuple(sorted(row[:2])) for row in rows[1:]}
        assert of_t in [{("t/0", "t/2"), ("t/1", "t/3")}, {("t/0", "t/3"), ("t/1", "t/2")}, {("t/2", "t/3")}]
        assert {row[2] for row in rows[1:]} == {"random"}


def test_samples_are_matched_unless_all_encoders_mismatch_them() -> None:
    axes = np.eye(3, dtype=np.float32)
    right = EncoderVectors("right", axes[:, None], axes)
    wrong = EncoderVectors("wrong", axes[:, None], axes[[1, 0, 2]])
    assert pairs.are_matched([right])(0, 1) and pairs.are_matched([right, wrong])(0, 1)
    assert not pairs.are_matched([wrong])(0, 1)
    assert not pairs.are_matched([wrong, wrong])(1, 0)
    # Sample 2 is right, and both similarities across are 0, as is that of sample 0: a tie.
    assert pairs.are_matched([wrong])(2, 0)


def test_the_frame_has_the_smaller_id_first() -> None:
    frame = pairs.pairs_frame(IDS, [(5, 9), (1, 30)], [(2, 3)])
    assert frame["a"].to_list() == ["set/001", "set/005", "set/002"]
    assert frame["b"].to_list() == ["set/030", "set/009", "set/003"]
    assert frame["method"].cast(pl.String).to_list() == ["mined", "mined", "random"]
    assert frame["pair"][0] == pair_id("set/001", "set/030")
    assert frame["pair"].str.contains("^[0-9a-f]{16}$").all()
    assert frame["pair"].n_unique() == 3 and pair_id("a", "b") != pair_id("b", "a")
