import pytest

from benchc.errors import InputError
from benchc.schemas.printed import read_table_csv


def test_empty_cells_are_null_and_numbers_below_them_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "x,\n" * 200 + "y,0.5\n")
    table = read_table_csv(tmp_path / "t.csv")
    assert table["b"].null_count() == 200 and table["b"][-1] == 0.5


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, r"t\.csv: no such file; run snakemake"),
        (b"", r"t\.csv: cannot be read \(.*\); delete it"),
        (b"a,b\n1,2,3\n\xff\xfe", r"t\.csv: cannot be read \(.*\); delete it"),
    ],
)
def test_a_file_that_is_not_a_table_is_refused_in_one_line(tmp_path, content, message):
    if content is not None:
        (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        read_table_csv(tmp_path / "t.csv")
    assert len(str(caught.value).splitlines()) == 1
