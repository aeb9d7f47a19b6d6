import itertools
import math
import os
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.schemas import parquet
from benchc.schemas.content_hash import ContentHashes, content_hashes
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import (
    TableError,
    TableFile,
    TableType,
    arrow_table,
    iterate_groups,
    read_footer,
    read_table,
    write_table,
)
from tests.footers import footer_of

SMALL = TableType("small", 1, {"id": pl.String, "n": pl.Int64, "x": pl.List(pl.Float32)})


def small(rows=3):
    columns = {"id": [f"a/{i}" for i in range(rows)], "n": range(rows), "x": [[0.5] * i for i in range(rows)]}
    return pl.DataFrame(columns, schema=SMALL.columns)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "t.parquet"


def test_a_table_and_its_footer_round_trip(tmp_path):
    path = tmp_path / "deep" / "t.parquet"
    write_table(small(), path, SMALL, footer_of({"model": "图", "n": 1}))
    assert read_table(path, SMALL).equals(small())
    assert read_table(path, SMALL, ["n"]).columns == ["n"]
    assert read_footer(path) == {"model": "图", "n": 1}
    assert list(path.parent.iterdir()) == [path]


def test_the_same_table_is_the_same_bytes(tmp_path):
    for name, facts in (("a", {"b": 1, "a": 2}), ("b", {"a": 2, "b": 1})):
        write_table(small(), tmp_path / name, SMALL, footer_of(facts))
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_other_columns_are_refused_and_the_old_file_stays(path):
    write_table(small(), path, SMALL)
    with pytest.raises(TableError, match="a small table has the columns"):
        write_table(small().rename({"n": "m"}), path, SMALL)
    assert read_table(path, SMALL).equals(small())


def test_another_file_is_refused(path):
    with pytest.raises(TableError, match=r"no such file; run snakemake to create it$"):
        read_table(path, SMALL)
    write_table(small(200), path, SMALL)
    with pytest.raises(TableError, match="expected a items table of version 2, found small"):
        read_table(path, ITEMS)
    with pytest.raises(TableError, match="of version 2, found small of version 1"):
        read_table(path, TableType("small", 2, SMALL.columns))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(TableError, match=r"t\.parquet: not a complete Parquet file"):
        read_table(path, SMALL)


def edited(path, frame, **changed):
    """Rewrite a table with other values as another program would: with all of its metadata."""
    metadata = {key: text for key, text in pl.read_parquet_metadata(path).items() if key.startswith("benchc")}
    pq.write_table(arrow_table(frame).replace_schema_metadata(metadata | changed), path)


ROOT = Path(__file__).resolve().parents[2]
# Writes tables of 100,000 equal rows to one path; each call gives all rows another number.
WRITER = """
import sys
import polars as pl
from benchc.schemas.parquet import TableType, write_table

table = TableType("numbers", 1, {"n": pl.Int64})
first, last, path = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
for number in range(first, last):
    print(number, flush=True)
    write_table(pl.DataFrame({"n": [number] * 100_000}), path, table)
"""
WRITTEN = TableType("numbers", 1, {"n": pl.Int64})


def writer(first, last, path):
    command = [sys.executable, "-c", WRITER, str(first), str(last), str(path)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def test_a_killed_or_a_second_process_leaves_no_part_of_a_table(path, tmp_path):
    killed, second = writer(0, 10**9, path), writer(10**9, 10**9 + 15, path)
    seen = set()
    while second.poll() is None:
        if path.exists():
            seen |= set(read_table(path, WRITTEN)["n"].unique())
            assert read_table(path, WRITTEN)["n"].n_unique() == 1
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    frame = read_table(path, WRITTEN)
    assert frame.height == 100_000 and frame["n"].n_unique() == 1
    assert min(seen) < 10**9 <= max(seen)
    # What a killed process leaves is hidden, and no table by its name.
    assert [file.name for file in tmp_path.iterdir() if not file.name.startswith(".")] == ["t.parquet"]
    assert list(tmp_path.glob("*.parquet")) == [path]


def test_edited_and_older_tables_are_refused(path):
    write_table(small(), path, SMALL, footer_of({"seed": 1}))
    for more in range(1, 5):  # some of these have smaller hashes, some larger ones
        edited(path, small().with_columns(n=pl.col("n") + more))
        assert read_table(path, SMALL, ["id", "x"]).equals(small().select("id", "x"))
        for read in (["n"], ["id", "n"], None):
            with pytest.raises(TableError, match=r"edited or damaged; delete it and run snakemake again$"):
                read_table(path, SMALL, read)
    edited(path, small(), **{"benchc.footer": '{"seed": 2}'})
    for read in (read_footer, lambda path: read_table(path, SMALL)):
        with pytest.raises(TableError, match=r"footer is damaged, edited or .*; delete it and run snakemake"):
            read(path)
    metadata = {"table": "small", "version": "1", "content": "0" * 32, "footer": "{}"}
    small().write_parquet(path, metadata={f"benchc.{name}": value for name, value in metadata.items()})
    older = r"^.* of another version of benchc; delete it and run snakemake again"
    with pytest.raises(TableError, match=older):
        read_table(path, SMALL)


def flipped(data, bit):
    return data[: bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1 :]


def contents(path):
    """Return all that can be read of a SMALL table."""
    with TableFile(path, SMALL) as file:
        rows = file.rows([0, 2])
    return read_table(path, SMALL), rows, read_footer(path)


def test_no_flipped_bit_is_unnoticed(path):
    write_table(small(), path, SMALL, footer_of({"seed": 1}))
    data, (table, rows, footer) = path.read_bytes(), contents(path)
    noticed = 0
    for bit in range(0, 8 * len(data), 23):
        path.write_bytes(flipped(data, bit))
        try:
            found = contents(path)
        except TableError as error:
            assert str(error).endswith("; delete it and run snakemake again") and "\n" not in str(error)
            noticed += 1
        else:
            assert found[0].equals(table) and found[1].equals(rows) and found[2] == footer
    assert noticed > len(data) / 7


def test_no_flipped_bit_of_the_metadata_moves_rows(path, monkeypatch):
    """Rows are found by the numbers of rows of the groups before, which no checksum is of."""
    monkeypatch.setattr(parquet, "ROW_GROUP_BYTES", 16)
    table = pl.DataFrame({"n": range(7)})
    write_table(table, path, WRITTEN)
    assert pq.ParquetFile(path).num_row_groups == 4
    data, expected = path.read_bytes(), table[[1, 3]]
    first = len(data) - 8 - int.from_bytes(data[-8:-4], "little")
    noticed = 0
    # Up to what the footer's own digest and the schema check.
    for bit in range(8 * first, 8 * data.index(b"ARROW:schema")):
        path.write_bytes(flipped(data, bit))
        try:
            with TableFile(path, WRITTEN) as file:
                found = file.rows([1, 3])
                height = file.height
        except TableError:
            noticed += 1
        else:
            assert found.equals(expected) and height == 7
    assert noticed


def test_rows_are_read_from_their_row_groups(path, monkeypatch):
    monkeypatch.setattr(parquet, "ROW_GROUP_BYTES", 1)
    write_table(small(5), path, SMALL)
    file = pq.ParquetFile(path)
    assert file.num_row_groups == 5
    # No checksum is of them.
    assert file.metadata.row_group(0).column(0).statistics is None
    with TableFile(path, SMALL) as file:
        for rows in ([1, 3, 4], [0, 4]):
            assert file.rows(rows).equals(small(5)[rows])
        assert file.rows([4], ["n"]).equals(small(5)[[4]].select("n"))


@pytest.mark.parametrize("rows", [[0], [0, 1, 1]])
def test_a_group_of_another_number_of_rows_is_refused(path, monkeypatch, rows):
    write_table(small(2), path, SMALL)
    read = pq.ParquetFile.read_row_group
    monkeypatch.setattr(pq.ParquetFile, "read_row_group", lambda *a, **b: read(*a, **b).take(rows))
    with TableFile(path, SMALL) as file, pytest.raises(TableError, match="edited or damaged; delete it"):
        file.rows([0])


PARTS = pl.List(pl.Struct({"y": pl.Float64}))
NUMBER_COLUMNS = {"id": pl.String, "x": pl.Float64, "logits": pl.List(pl.Float32), "parts": PARTS}
NUMBERS = TableType("numbers", 1, NUMBER_COLUMNS, minus_inf=("logits",))


def numbers(**values):
    row = {"x": 1.0, "logits": [1.0, None], "parts": [{"y": None}]}
    rows = [{"id": "a/1", **row}, {"id": "a/2", **row, **values}, {"id": "a/3", **dict.fromkeys(row)}]
    return pl.DataFrame(rows, schema=NUMBERS.columns)


@pytest.mark.parametrize(
    "values",
    [
        *({"x": value} for value in (math.nan, math.inf, -math.inf)),
        *({"logits": value} for value in ([1.0, math.nan], [math.inf])),
        {"parts": [{"y": 1.0}, {"y": math.nan}]},
    ],
)
def test_nan_and_infinite_numbers_are_not_written(path, values):
    (column,) = values
    with pytest.raises(TableError, match=rf"{column} would have NaN or infinite .* in 1 row, first .* a/2, "):
        write_table(numbers(**values), path, NUMBERS)
    with pytest.raises(TableError, match=rf"{column} would have .* in 2 rows, first that of a/2, "):
        more = numbers(**values).with_columns(id="b/" + pl.col("id"))
        write_table(pl.concat([numbers(**values), more]), path, NUMBERS)
    without = small().with_columns(id=pl.Series(["a/0", None, "a/2"]))
    with pytest.raises(TableError, match=r"t.parquet: row 1 would have no id, so it is not written"):
        write_table(without, path, SMALL)
    assert not list(path.parent.iterdir())
    frame = numbers(logits=[1.0, -math.inf])  # as the type has it
    write_table(frame, path, NUMBERS)
    assert read_table(path, NUMBERS).equals(frame)


def test_files_of_finished_runs_keep_their_hashes(path):
    """Recorded: a change would say of every file of a finished run that it was edited."""
    types = {
        "id": pl.String,
        "n": pl.Int64,
        "ok": pl.Boolean,
        "x": pl.List(pl.Float32),
        "kind": pl.Enum("ab"),
    }
    columns = {"id": ["图", None], "n": [None, 7], "ok": [True, None], "x": [[0.5, None], None]}
    hashes = content_hashes(pl.DataFrame(columns | {"kind": ["b", None]}, schema=types))
    assert hashes == {
        "id": "8e32b182239e62a06946294f1b1f4e2b",
        "n": "c7c007013455c449fed1458179c210f8",
        "ok": "03a322ef4cd849c6fb11acd06fc0bd12",
        "x": "1d3718599bda9284f29172f1a77fb4d7",
        "kind": "6fea230d12532d70a7b64e9087e4be8f",
    }
    write_table(small(), path, SMALL, footer_of({"model": "图"}))
    assert pl.read_parquet_metadata(path)["benchc.digest"] == "8e03b549150fcbfbd0aa9d6cb7ae3409"


def test_a_type_without_exact_values_is_refused():
    # As floats, these would have one hash.
    for digits in ("0.10000000000000000001", "0.10000000000000000002"):
        frame = pl.DataFrame({"x": pl.Series([Decimal(digits)], dtype=pl.Decimal(38, 20))})
        with pytest.raises(TypeError, match="no columns of the type Decimal"):
            content_hashes(frame)


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


def test_scores_with_enums_round_trip(path):
    values = dict.fromkeys(SCORES.columns) | {"id": "a/1", "ras": -0.5, "regime": "stable"}
    scores = pl.DataFrame([values, {**values, "regime": "hesitant"}], schema=SCORES.columns)
    write_table(scores, path, SCORES)
    assert read_table(path, SCORES).equals(scores)
    assert content_hashes(scores) != content_hashes(scores.reverse())


TEXT = st.text(max_size=3)
IMAGES = st.lists(st.binary(max_size=4), max_size=2)
items = st.lists(
    st.tuples(TEXT, st.none() | TEXT, st.lists(TEXT, max_size=3), st.integers(0, 5), IMAGES), max_size=4
)


def frame_of(rows):
    named = [
        (
            *(id_, id_, hint, options, answer, "", ""),
            [{"bytes": image, "path": None} for image in images],
            [f"{id_}#{index}" for index in range(len(images))],
        )
        for id_, hint, options, answer, images in rows
    ]
    return pl.DataFrame(named, schema=ITEMS.columns, orient="row")


@given(a=items, b=items)
def test_only_equal_contents_have_equal_hashes(a, b):
    assert (content_hashes(frame_of(a)) == content_hashes(frame_of(b))) == (a == b)


@given(items, st.lists(st.integers(0, 4), max_size=3))
def test_the_hash_does_not_depend_on_how_rows_are_split(rows, cuts):
    frame = frame_of(rows)
    content = ContentHashes()
    for first, last in itertools.pairwise([0, *sorted(cuts), 4]):
        content.update(frame[first:last])
    assert content.hexdigests() == content_hashes(frame)


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
    assert len({content_hashes(frame)["x"] for frame in frames}) == len(frames)
