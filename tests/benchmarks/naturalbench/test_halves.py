from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.benchmarks.naturalbench.halves import halves, in_both
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.benchmarks.naturalbench.schemas.halves import HALVES, TEST, TRAIN
from benchc.errors import InputError
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.subset import SUBSET
from scripts.naturalbench.split_groups import split_groups
from tests.benchmarks.made import frame_of
from tests.benchmarks.naturalbench.simulated import group_rows

# Of each group, two of a few images.
images = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=4), st.sets(st.integers(0, 30), min_size=2, max_size=2), min_size=4
)


@given(images, st.integers(0, 3))
@settings(max_examples=200, deadline=None)
def test_halves_are_equal_and_the_same_in_any_order(groups, seed):
    found = halves(groups, seed)
    assert list(found) == list(groups)
    counts = Counter(found.values())
    assert 0 <= counts[TEST] - counts[TRAIN] <= 1
    assert halves(dict(reversed(groups.items())), seed) == found
    shared = {image for name in groups for image in groups[name] if found[name] == TRAIN}
    shared &= {image for name in groups for image in groups[name] if found[name] == TEST}
    assert in_both(groups, found) == len(shared)


@given(st.integers(2, 40), st.integers(0, 20), st.integers(0, 5))
@settings(max_examples=100, deadline=None)
def test_pairs_that_share_their_images_are_in_one_half(pairs, single, seed):
    """As of a pair of images with questions of two types; what is cut is at most one pair."""
    groups = {f"{kind}{pair}": {2 * pair, 2 * pair + 1} for pair in range(pairs) for kind in "ym"}
    groups |= {f"s{number}": {-2 * number - 1, -2 * number - 2} for number in range(single)}
    found = halves(groups, seed)
    cut = sum(found[f"y{pair}"] != found[f"m{pair}"] for pair in range(pairs))
    assert cut <= 1 and in_both(groups, found) == 2 * cut
    # With a single group, the halves can be equal without a cut.
    if single:
        assert cut == 0
    # All share an image: they are cut in the middle.
    found = halves({f"g{number}": {0, number + 1} for number in range(10)}, 0)
    assert Counter(found.values()) == {TRAIN: 5, TEST: 5}


def test_the_seed_chooses_the_half_of_each_group():
    groups = {f"g{number}": {2 * number, 2 * number + 1} for number in range(200)}
    first, second = halves(groups, 0), halves(groups, 1)
    assert 60 < sum(first[name] != second[name] for name in groups) < 140
    # No half is made of the first groups.
    assert 30 < sum(first[f"g{number}"] == TRAIN for number in range(100)) < 70
    # Too few groups are an error of one line.
    with pytest.raises(InputError, match="has 3 groups, but each half needs 2; add groups"):
        halves({f"g{number}": {number} for number in range(3)}, 0)


def test_the_stage_writes_the_items_of_both_halves(tmp_path, capsys):
    """Groups of random pairs are in none; equal images have one content, whatever they are called."""
    groups = group_rows(14, methods=("mined", "random"))
    rows = []
    for row in groups.iter_rows(named=True):
        # Groups 0 and 2 have the same images, 4 and 6, ...
        pair = int(row["group"][1:]) // 4
        item = dict.fromkeys(POOL.columns) | {
            "id": row["id"],
            "image_keys": [f"s://{row['group']}{row['i_idx']}"],
            "images": [{"bytes": f"{pair} {row['i_idx']}".encode(), "path": None}],
        }
        rows.append(item)
    write_table(frame_of(POOL, rows), tmp_path / "items.parquet", POOL)
    write_table(groups, tmp_path / "groups.parquet", GROUPS)
    parts = {name: tmp_path / f"{name}.parquet" for name in ("output", "train", "test", "questions")}
    split_groups(pool=tmp_path / "items.parquet", groups=tmp_path / "groups.parquet", seed=5, **parts)
    halves_found = read_table(parts["output"], HALVES)
    assert halves_found["group"].to_list() == [f"g{number}" for number in range(0, 14, 2)]
    half_of = dict(halves_found.rows())
    assert Counter(half_of.values()) == {TRAIN: 3, TEST: 4}
    assert all(half_of[f"g{number}"] == half_of[f"g{number + 2}"] for number in (0, 4, 8))
    ids = {name: read_table(parts[name], SUBSET)["id"].to_list() for name in ("train", "test", "questions")}
    for name, half in (("train", TRAIN), ("test", TEST)):
        expected = [row["id"] for row in groups.iter_rows(named=True) if half_of.get(row["group"]) == half]
        assert ids[name] == expected
    assert ids["questions"] == [id_ for id_ in ids["test"] if id_.endswith("0")]
    footer = read_footer(parts["output"])
    assert (footer["images"], footer["in_both"], footer["seed"]) == (8, 0, 5)
    assert "3 groups to train and 4 to test; of 8 images, 0 are in both halves" in capsys.readouterr().out
