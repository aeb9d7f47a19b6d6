"""Files between stages round-trip, or are refused."""

import itertools

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import (
    ContentHash,
    TableError,
    TableType,
    content_hash,
    iterate_groups,
    read_footer,
    read_table,
    write_table,
)

SMALL = TableType("small", 1, {"id": pl.String, "n": pl.Int64, "x": pl.List(pl.Float32)})


def small(rows=3):
    return pl.DataFrame(
        {
            "id": [f"a/{i}" for i in range(rows)],
            "n": list(range(rows)),
            "x": [[0.5] * i for i in range(rows)],
        },
        schema=SMALL.columns,
    )


def test_a_table_and_its_footer_round_trip(tmp_path):
    path = tmp_path / "deep" / "t.parquet"
    write_table(small(), path, SMALL, {"model": "图", "n": 1})
    assert read_table(path, SMALL).equals(small())
    assert read_table(path, SMALL, ["n"]).columns == ["n"]
    assert read_footer(path) == {"model": "图", "n": 1}
    assert list(path.parent.iterdir()) == [path]


def test_the_same_table_is_the_same_bytes(tmp_path):
    for name in "ab":
        write_table(small(), tmp_path / name, SMALL, {"b": 1, "a": 2})
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_other_columns_are_refused_and_the_old_file_stays(tmp_path):
    path = tmp_path / "t.parquet"
    write_table(small(), path, SMALL)
    with pytest.raises(TableError, match="a small table has the columns"):
        write_table(small().rename({"n": "m"}), path, SMALL)
    assert read_table(path, SMALL).equals(small())


def test_a_truncated_file_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    write_table(small(200), path, SMALL)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(TableError, match=r"t\.parquet: not a complete Parquet file"):
        read_table(path, SMALL)


def test_an_edited_file_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    write_table(small(), path, SMALL)
    metadata = {
        key: value for key, value in pl.read_parquet_metadata(path).items() if key.startswith("benchc")
    }
    small().with_columns(n=pl.col("n") + 1).write_parquet(path, metadata=metadata)
    with pytest.raises(TableError, match=r"edited or damaged; delete it and run snakemake again$"):
        read_table(path, SMALL)


def test_another_type_or_version_is_refused(tmp_path):
    path = tmp_path / "t.parquet"
    write_table(small(), path, SMALL)
    with pytest.raises(TableError, match="expected a items table of version 2, found small"):
        read_table(path, ITEMS)
    with pytest.raises(TableError, match="of version 2, found small of version 1"):
        read_table(path, TableType("small", 2, SMALL.columns))
    with pytest.raises(TableError, match=r"no such file; run snakemake to create it$"):
        read_table(tmp_path / "none.parquet", SMALL)


@given(
    wanted=st.sets(st.integers(0, 9)),
    at_once=st.integers(1, 4),
    lengths=st.lists(st.integers(1, 3), min_size=10, max_size=10),
)
def test_groups_are_yielded_in_order(tmp_path_factory, wanted, at_once, lengths):
    path = tmp_path_factory.mktemp("groups") / "t.parquet"
    ids = [f"a/{i}" for i, length in enumerate(lengths) for _ in range(length)]
    frame = pl.DataFrame({"id": ids, "n": range(len(ids)), "x": [[1.0]] * len(ids)}, schema=SMALL.columns)
    write_table(frame, path, SMALL)
    names = {f"a/{i}" for i in wanted}
    found = list(iterate_groups(path, SMALL, "id", names, at_once))
    expected = [frame.filter(pl.col("id") == f"a/{i}") for i in sorted(wanted)]
    assert len(found) == len(expected)
    assert all(a.equals(b) for a, b in zip(found, expected, strict=True))


def test_scores_with_enums_round_trip(tmp_path):
    values = dict.fromkeys(SCORES.columns) | {"id": "a/1", "ras": -0.5, "regime": "stable"}
    scores = pl.DataFrame([values, {**values, "regime": "hesitant"}], schema=SCORES.columns)
    write_table(scores, tmp_path / "t.parquet", SCORES)
    assert read_table(tmp_path / "t.parquet", SCORES).equals(scores)
    assert content_hash(scores) != content_hash(scores.reverse())


items = st.lists(
    st.tuples(
        st.text(max_size=4),
        st.none() | st.text(max_size=3),
        st.lists(st.text(max_size=2), max_size=3),
        st.integers(0, 5),
        st.lists(st.binary(max_size=4), max_size=2),
    ),
    max_size=4,
)


def frame_of(rows):
    return pl.DataFrame(
        [
            {
                "id": id_,
                "question": id_,
                "hint": hint,
                "options": options,
                "answer": answer,
                "category": "",
                "l2_category": "",
                "images": [{"bytes": image, "path": None} for image in images],
                "image_keys": [f"{id_}#{index}" for index in range(len(images))],
            }
            for id_, hint, options, answer, images in rows
        ],
        schema=ITEMS.columns,
    )


@given(a=items, b=items)
def test_only_equal_contents_have_equal_hashes(a, b):
    assert (content_hash(frame_of(a)) == content_hash(frame_of(b))) == (a == b)


@given(items, st.lists(st.integers(0, 4), max_size=3))
def test_the_hash_does_not_depend_on_how_rows_are_split(rows, cuts):
    frame = frame_of(rows)
    content = ContentHash()
    for first, last in itertools.pairwise([0, *sorted(cuts), 4]):
        content.update(frame[first:last])
    assert content.hexdigest() == content_hash(frame)


@given(items)
def test_any_items_round_trip(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("items") / "t.parquet"
    write_table(frame_of(rows), path, ITEMS)
    assert read_table(path, ITEMS).equals(frame_of(rows))


def test_nulls_and_lengths_are_in_the_hash():
    lists = [None, [], [None], [""], ["", ""], ["ab"], ["a", "b"]]
    frames = [pl.DataFrame({"x": [value]}, schema={"x": pl.List(pl.String)}) for value in lists]
    frames += [pl.DataFrame({"x": [value]}, schema={"x": pl.Int64}) for value in (None, 0)]
    structs = [None, {"bytes": None, "path": None}, {"bytes": b"", "path": None}]
    frames += [pl.DataFrame({"x": [value]}, schema={"x": ITEMS.columns["images"].inner}) for value in structs]
    assert len({content_hash(frame) for frame in frames}) == len(frames)
