import polars as pl
import pytest
from polars.testing import assert_frame_equal

from benchc.errors import InputError
from benchc.schemas.printed import csv_text, read_csv, read_table_csv


def test_empty_cells_are_null_and_numbers_below_them_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "x,\n" * 200 + "y,0.5\n")
    table = read_table_csv(tmp_path / "t.csv")
    assert table["b"].null_count() == 200 and table["b"][-1] == 0.5


def test_texts_like_numbers_stay_texts(tmp_path):
    (tmp_path / "t.csv").write_text("label,b\n000100,1\n1.10,2\n1e3,3\n")
    table = read_table_csv(tmp_path / "t.csv", "label", "absent")
    assert table["label"].to_list() == ["000100", "1.10", "1e3"] and table["b"].sum() == 6


def test_texts_are_read_as_they_were_and_no_cell_is_a_formula(tmp_path):
    texts = ["=1+1", "'=1", "'a'", "-5", "-5 dogs", "+x", "a=b", "", "=", None]
    frame = pl.DataFrame({"=a": texts, "b": range(len(texts))})
    (tmp_path / "t.csv").write_text(csv_text(frame))
    cells = ["'=a", "'=1+1", "''=1", "'a'", "-5", "'-5 dogs", "'+x", "a=b", '""', "'=", ""]
    assert [line.rpartition(",")[0] for line in csv_text(frame).splitlines()] == cells
    assert_frame_equal(read_csv(tmp_path / "t.csv"), frame)


def test_a_file_has_a_largest_number_of_columns(tmp_path):
    (tmp_path / "t.csv").write_text("," * 999 + "\n")
    assert read_table_csv(tmp_path / "t.csv").width == 1000
    for commas in (1000, 1001):
        (tmp_path / "t.csv").write_text("," * commas + "\n")
        with pytest.raises(InputError, match=r"cannot be read \(it has more than 1,000 columns\); delete it"):
            read_table_csv(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"t\.csv: no such file; run snakemake"),
        ("a folder", r"t\.csv: cannot be read \(.*Is a directory.*\); delete it"),
        (b"", r"t\.csv: cannot be read \(.*\); delete it"),
        (b"a,b\n1,2,3\n", r"t\.csv: cannot be read \(found more fields than .*\); delete it"),
        (b"a,b\n1,2,3\n\xff\xfe", r"t\.csv: cannot be read \(.*\); delete it"),
    ],
)
def test_a_file_that_is_not_a_table_is_refused_in_one_line(tmp_path, content, message):
    if content == "a folder":
        (tmp_path / "t.csv").mkdir()
    elif content is not None:
        (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_table_csv(tmp_path / "t.csv")
    assert len(str(caught.value).splitlines()) == 1
