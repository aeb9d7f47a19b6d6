"""CSV files of other programs: their encodings, and what is wrong with them."""

from pathlib import Path

import pytest

from benchc.csv_rows import read_rows
from benchc.errors import InputError


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("狗é", "utf-8"), ("é", "utf-8-sig"), ("狗", "gb18030"), ("café ", "cp1252"), ("“so” ", "cp1252")],
)
def test_the_encoding_is_found(tmp_path: Path, text: str, encoding: str) -> None:
    (tmp_path / "a.csv").write_bytes(f'name,x\n"{text}\n, two",1\n'.encode(encoding))
    assert list(read_rows(tmp_path / "a.csv", ("name",))) == [(2, {"name": f"{text}\n, two"})]


def test_what_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    with pytest.raises(InputError, match=rf"^{path}: cannot be read \(No such file or directory\)"):
        list(read_rows(path, ("name",)))
    path.write_text('name\n"open')
    with pytest.raises(InputError, match=rf"^{path}: cannot be read as CSV near line 2 \(unexpected end"):
        list(read_rows(path, ("name",)))
    path.write_text("")
    with pytest.raises(InputError, match="has no column 'name'"):
        list(read_rows(path, ("name",)))


def test_the_encodings_may_be_fewer(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("name\n狗\n".encode("gb18030"))
    with pytest.raises(InputError, match="row 2: the byte 0xb9 is not of UTF-8; save the file as UTF-8"):
        list(read_rows(tmp_path / "a.csv", ("name",), ("utf-8-sig",)))
    (tmp_path / "a.csv").write_bytes(b"name\n\x80\xff\x81\n")
    with pytest.raises(InputError, match=r"is not of UTF-8 or GB 18030 or Windows-1252; save"):
        list(read_rows(tmp_path / "a.csv", ("name",)))


@pytest.mark.parametrize(
    ("start", "format_"),
    [
        (b"PAR1", "a Parquet file"),
        (b"PK\x03\x04", "an Excel workbook or a ZIP archive"),
        (b"\x1f\x8b", "a file compressed with gzip"),
        (b'{"id": 1}', "a file of JSON"),
        ("name\n".encode("utf-16"), "text in UTF-16"),
        (b"\xfe\xff\0n", "text in UTF-16"),
    ],
)
def test_another_format_is_named(tmp_path: Path, start: bytes, format_: str) -> None:
    (tmp_path / "a.csv").write_bytes(start + b"\x15\x04\x81")
    with pytest.raises(InputError, match=f"a.csv: is {format_}; save it as a CSV file in UTF-8"):
        list(read_rows(tmp_path / "a.csv", ("name",)))


def test_a_byte_order_mark_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("\N{ZERO WIDTH NO-BREAK SPACE}name\n狗\n".encode("gb18030"))
    assert list(read_rows(tmp_path / "a.csv", ("name",))) == [(2, {"name": "狗"})]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "id,answer\n1,no, it is\n",
            "row 2: has more cells than the header; put a text with commas in quotes",
        ),
        ("id,answer\n1\n", "row 2: has fewer cells than the header; complete it"),
        ("id,answer,answer\n1,no,yes\n", "has two columns 'answer'; remove one"),
        ("id, answer ,answer\n1,no,yes\n", "has two columns 'answer'; remove one"),
        ("id,answer,more\n1,no,\n\n2,no,a\0b\n", "row 4: contains a NUL character; remove it"),
    ],
)
def test_no_cell_is_lost(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=f"^{tmp_path / 'a.csv'}: {message}$"):
        list(read_rows(tmp_path / "a.csv", ("id", "answer")))
