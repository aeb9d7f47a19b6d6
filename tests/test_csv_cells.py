"""Texts that a spreadsheet would compute are cells that it shows, and are read as they were."""

import csv
import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from benchc.csv_cells import cell_of, text_of
from benchc.rendering.output import Table
from benchc.rendering.write_table import write
from benchc.schemas.printed import csv_text, read_csv, read_table_csv

TEXTS = st.text(st.sampled_from("'=+-@\t\r\n＝1.e5 a,\"")) | st.text()


@pytest.mark.parametrize(
    ("text", "cell"),
    [
        *((f"{mark}cmd|'/c calc'!A1", f"'{mark}cmd|'/c calc'!A1") for mark in "=+-@\t\r\n＝＋－＠"),
        *(("-0.12", "-0.12"), ("-5", "-5"), ("-1e-05", "-1e-05"), ("-1\n", "'-1\n"), ("-1+1", "'-1+1")),
        *(("", ""), ("a=b", "a=b"), ("'tis", "'tis"), ("'=x", "''=x"), ("''-", "'''-"), ("-", "'-")),
    ],
)
def test_a_formula_gets_an_apostrophe(text: str, cell: str) -> None:
    assert (cell_of(text), text_of(cell)) == (cell, text)


def test_the_files_of_a_table_have_no_formula(tmp_path: Path) -> None:
    frame = pl.DataFrame({"model": ["@SUM(1)"], "shift": [-0.12]})
    write(Table(frame, published=frame), prefix=tmp_path / "t", formats=("csv", "published"))
    for file in (tmp_path / "t.csv", tmp_path / "t_published.csv"):
        assert file.read_text() == "model,shift\n'@SUM(1),-0.12\n"
        assert_frame_equal(read_table_csv(file), frame)


@given(TEXTS)
@example("'-5")
@example("''-5")
def test_a_text_is_read_as_it_was(text: str) -> None:
    assert text_of(cell_of(text)) == text


@given(st.lists(TEXTS, min_size=1))
@example(["'-5", "''-5", "-1\n"])
def test_a_frame_is_read_as_it_was(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    frame = pl.DataFrame({"=x": texts, "n": -0.5, "none": pl.Series([None] * len(texts), dtype=pl.String)})
    text = csv_text(frame)
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    assert header == ["'=x", "n", "none"]
    assert [row[:2] for row in rows] == [[cell_of(each), "-0.5"] for each in texts]
    path: Path = tmp_path_factory.getbasetemp() / "a.csv"
    path.write_text(text, encoding="utf-8", newline="")
    assert_frame_equal(read_csv(path, schema_overrides={"'=x": pl.String, "none": pl.String}), frame)
