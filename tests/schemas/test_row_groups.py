import itertools

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.schemas import row_groups
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.parquet import TableError, iterate_groups, read_footer, read_table, write_table
from benchc.schemas.row_groups import table_writer
from tests.footers import footer_of

BYTES = pl.col("image").struct.field("bytes").bin.size()


def corrupted(*sizes: int) -> pl.DataFrame:
    rows = [(f"a/{n}#0", 1, {"bytes": bytes([n]) * size, "path": None}) for n, size in enumerate(sizes)]
    return pl.DataFrame(rows, schema=CORRUPTED.columns, orient="row")


def write(path, frame, cuts=(), footer=None):
    with table_writer(path, CORRUPTED, BYTES, footer=footer_of(footer)) as writer:
        bounds = [0, *sorted(cuts), frame.height]
        for first, last in itertools.pairwise(bounds):
            writer.append(frame[first:last])


@pytest.fixture(autouse=True)
def small_groups(monkeypatch):
    monkeypatch.setattr(row_groups, "IMAGE_ROW_GROUP_BYTES", 100)


def test_a_group_ends_before_the_row_that_would_make_it_too_large(tmp_path):
    frame = corrupted(40, 60, 1, 99, 101, 0, 250, 30)
    write(tmp_path / "t.parquet", frame, footer={"seed": 3})
    file = pq.ParquetFile(tmp_path / "t.parquet")
    groups = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
    assert groups == [2, 2, 1, 2, 1]
    assert read_table(tmp_path / "t.parquet", CORRUPTED).equals(frame)
    assert read_footer(tmp_path / "t.parquet") == {"seed": 3}
    chosen = list(iterate_groups(tmp_path / "t.parquet", CORRUPTED, "image_key", {"a/3#0", "a/6#0"}))
    assert [row["image_key"][0] for row in chosen] == ["a/3#0", "a/6#0"]


@given(sizes=st.lists(st.integers(0, 120), max_size=8), cuts=st.lists(st.integers(0, 8), max_size=4))
def test_the_bytes_do_not_depend_on_how_rows_are_appended(tmp_path_factory, sizes, cuts):
    folder = tmp_path_factory.mktemp("rows")
    frame = corrupted(*sizes)
    write(folder / "a", frame)
    write(folder / "b", frame, [min(cut, len(sizes)) for cut in cuts])
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()
    # Reading all columns compares with the hash, which equals that of a table written in one call.
    assert read_table(folder / "a", CORRUPTED).equals(frame)
    write_table(frame, folder / "c", CORRUPTED)
    contents = [pl.read_parquet_metadata(folder / name)["benchc.content"] for name in "ac"]
    assert contents[0] == contents[1]


def test_the_bytes_of_large_rows_do_not_depend_on_how_they_are_appended(tmp_path, monkeypatch):
    monkeypatch.undo()
    # Larger than a page.
    frame = corrupted(*[2**20] * 3)
    write(tmp_path / "a", frame)
    write(tmp_path / "b", frame, [1, 2])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "t.parquet"
    write(path, corrupted(1))
    with pytest.raises(TableError, match="a corrupted table has the columns"):
        write(path, corrupted(1).rename({"image_key": "name"}))
    assert read_table(path, CORRUPTED).equals(corrupted(1))
    assert list(tmp_path.iterdir()) == [path]


def test_zstd_stores_an_image_of_several_rows_once(tmp_path, monkeypatch):
    monkeypatch.undo()
    data = np.random.default_rng(0).bytes(50_000)
    rows = [(f"a/{number}#0", 1, {"bytes": data, "path": None}) for number in range(10)]
    frame = pl.DataFrame(rows, schema=CORRUPTED.columns, orient="row")
    with table_writer(tmp_path / "t.parquet", CORRUPTED, BYTES, compression="zstd") as writer:
        writer.append(frame)
    assert read_table(tmp_path / "t.parquet", CORRUPTED).equals(frame)
    assert (tmp_path / "t.parquet").stat().st_size < 70_000
