"""Rows become items as published, or are in the report with a reason."""

import base64
import csv
import lzma
import os
import re
from collections.abc import Callable
from contextlib import nullcontext
from io import StringIO
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.schemas.items import ITEMS
from benchc.sources import item_images, stored_images, tsv
from benchc.sources.error import SourceError
from benchc.sources.report import summary
from benchc.sources.vlmevalkit import ReaderOptions, read_vlmevalkit
from tests.sources.tsv_files import BLUE, RED, encoded, image_bytes, open_row, row, write_tsv
from tests.test_images import png_header


def read(
    tmp_path: Path, rows: list[dict[str, str]], switches: ReaderOptions | None = None
) -> tuple[list[dict[str, object]], list[tuple[str, str, str]]]:
    """Return the items as dictionaries, and the report as (id, kind, reason)."""
    path = write_tsv(tmp_path / "source.tsv", rows)
    items, report = read_vlmevalkit(path, "s", switches)
    assert dict(items.schema) == dict(pl.Schema(ITEMS.columns))
    return items.to_dicts(), report.select("id", "kind", "reason").rows()


def test_a_plain_row(tmp_path: Path) -> None:
    items, report = read(tmp_path, [row(7, hint="Look closely.")])
    assert items == [
        {
            "id": "s/7",
            "question": "Which colour is it?",
            "hint": "Look closely.",
            "options": ["red", "blue"],
            "answer": 0,
            "category": "colour",
            "l2_category": "look",
            "images": [{"bytes": RED, "path": None}],
            "image_keys": ["s/7#0"],
        }
    ]
    assert report == []


def test_texts_are_read_byte_for_byte(tmp_path: Path) -> None:
    odd = row(
        1,
        question='  Say "什么"\tor\r\nnot? \n',
        hint=" ",
        A="\nfor x in y:\n    print(x)\n",
        B=" None ",
        C="3.50",
        category="风景与建筑 (Scenery Building)",
    )
    items, report = read(tmp_path, [odd])
    assert items[0]["question"] == odd["question"]
    assert items[0]["hint"] == " "
    assert items[0]["options"] == [odd["A"], " None ", "3.50"]
    assert items[0]["category"] == odd["category"]
    assert report == []


@given(
    st.lists(
        st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1),
        min_size=2,
        max_size=8,
    )
)
@settings(max_examples=60)
def test_any_option_texts_are_read_unchanged(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str]
) -> None:
    # Only the two spellings of a missing value are not kept, and white space is rejected.
    texts = [text if text not in ("nan", "NaN") and text.strip() else "x" for text in texts]
    options = dict(zip("ABCDEFGH", texts, strict=False))
    folder = tmp_path_factory.mktemp("any")
    path = write_tsv(folder / "source.tsv", [{**row(1), "C": "", **options}], quoting=csv.QUOTE_ALL)
    items, _ = read_vlmevalkit(path, "s")
    assert items["options"].to_list() == [texts]


@pytest.mark.parametrize("absent", ["", "nan", "NaN"])
def test_missing_options_at_the_end_are_dropped_and_missing_texts_are_null(
    tmp_path: Path, absent: str
) -> None:
    items, _ = read(tmp_path, [row(1, C=absent, hint=absent, **{"l2-category": absent})])
    assert items[0]["options"] == ["red", "blue"]
    assert items[0]["hint"] is None
    assert items[0]["l2_category"] is None


@pytest.mark.parametrize("text", ["None", "NA", "null", "N/A", "0", "-"])
def test_texts_that_some_libraries_read_as_missing_are_options(tmp_path: Path, text: str) -> None:
    items, _ = read(tmp_path, [row(1, C=text)])
    assert items[0]["options"] == ["red", "blue", text]


def test_both_spellings_of_the_second_category(tmp_path: Path) -> None:
    other = row(1)
    other["l2_category"] = other.pop("l2-category")
    assert read(tmp_path, [other])[0][0]["l2_category"] == "look"


def test_items_are_ordered_by_index_as_a_number(tmp_path: Path) -> None:
    items, _ = read(tmp_path, [row(index) for index in ("10", "b10", "9", "b2", "100")])
    assert [item["id"] for item in items] == ["s/9", "s/10", "s/100", "s/b2", "s/b10"]


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"question": ""}, "has no question"),
        ({"question": " \n\u3000"}, "the question is only white space"),
        ({"B": " \t"}, "option B is only white space"),
        ({"C": "\xa0"}, "option C is only white space"),
        ({"image": " "}, "has no image"),
        ({"image": "iVBORw0KGgo="}, "image 'iVBORw0KGgo=' is neither an image in base64 nor the index of a"),
        ({"image": "3"}, "shares the image of row '3', which has none of its own"),
        ({"question": "a\0b"}, "contains a NUL character"),
        ({"A": "", "answer": "B"}, "option A is empty, but a later one is not"),
        ({"B": "", "C": "green"}, "option B is empty, but a later one is not"),
        ({"B": ""}, "has fewer than two options (1)"),
        ({"A": ""}, "the answer is A, an option without text"),
        ({"A": "", "B": ""}, "the answer is A, an option without text"),
        ({"answer": "C"}, "the answer is C, an option without text"),
        ({"answer": "F"}, "the answer is F, an option without text"),
        ({"answer": "AB"}, "the answer 'AB' is not one option letter"),
        ({"answer": ""}, "the answer '' is not one option letter"),
        ({"answer": "a"}, "the answer 'a' is not one option letter"),
        ({"image": ""}, "has no image"),
        ({"image": "no base64! " * 10}, "image 1 is not base64"),
        ({"image": encoded(b"not an image" * 10)}, "image 1: these "),
        ({"image": encoded(RED[:40] + RED[44:])}, "image 1: these "),
        ({"image": encoded(image_bytes(size=(400, 300), form="JPEG")[:-500])}, "image 1: these "),
        (
            {"image": "data:image/png;base64," + encoded(RED)},
            "image 1 begins with 'data:image/png;base64'; remove this prefix",
        ),
        (
            {"image": encoded(png_header(13_000, 13_000) + bytes(9))},
            "image 1: the image has 13,000 × 13,000 pixels",
        ),
        (
            {"image": f"['{encoded(RED)}', '{encoded(b'no image at all')}']"},
            "image 2: these 15 bytes are not a complete image in a known format",
        ),
        ({"image": f"['{encoded(RED)}'" + ", broken]"}, "has a broken list of images"),
        (
            {"image": "[" + "0, " * 30 + "1]"},
            "has a list of images that is empty or not of strings",
        ),
        ({"image": "99"}, "image '99' is neither an image in base64 nor the index of a row"),
    ],
)
def test_a_row_that_cannot_become_an_item_is_refused_with_its_reason(
    tmp_path: Path, values: dict[str, str], reason: str
) -> None:
    items, report = read(tmp_path, [row(1), row(2, **values), row(3, image="")])
    assert [item["id"] for item in items] == ["s/1"]
    assert [(id_, kind) for id_, kind, _ in report] == [("s/2", "rejected"), ("s/3", "rejected")]
    assert report[0][2].startswith(reason)


def test_a_repeated_or_missing_index_is_refused(tmp_path: Path) -> None:
    items, report = read(tmp_path, [row(1), row(1, question="Again?"), row("")])
    assert [item["question"] for item in items] == ["Which colour is it?"]
    assert report == [
        ("s/1", "rejected", "index 1 is that of an earlier row"),
        ("s/", "rejected", "has no index"),
    ]


def test_a_row_of_another_length_is_refused(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "source.tsv", [row(1), row(2)])
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], lines[2].rpartition("\t")[0], ""]))
    items, report = read_vlmevalkit(path, "s")
    assert items["id"].to_list() == ["s/1"]
    assert report.rows() == [("s/2", 3, "rejected", "has 9 fields where the header has 10")]


def test_equal_options_are_kept_and_noted(tmp_path: Path) -> None:
    items, report = read(tmp_path, [row(1, B="red"), row(2, B="red", image="")])
    assert [item["options"] for item in items] == [["red", "red"]]
    assert report == [("s/1", "note", "two options have the same text"), ("s/2", "rejected", "has no image")]


def test_several_images_with_paths(tmp_path: Path) -> None:
    both = f"['{encoded(RED)}', '{encoded(BLUE)}']"
    items, report = read(
        tmp_path, [row(1, image=both, image_path="['a.png', 'b.png']"), row(2, image_path="c.png")]
    )
    assert items[0]["images"] == [{"bytes": RED, "path": "a.png"}, {"bytes": BLUE, "path": "b.png"}]
    assert items[1]["images"] == [{"bytes": RED, "path": "c.png"}]
    assert report == []


def test_paths_that_do_not_match_the_images_are_refused(tmp_path: Path) -> None:
    _, report = read(tmp_path, [row(1), row(2, image_path="['a.png', 'b.png']")])
    assert report == [("s/2", "rejected", "image_path names 2 files, but image has 1")]


def test_a_row_may_share_the_image_of_an_earlier_or_a_later_one(tmp_path: Path) -> None:
    items, report = read(tmp_path, [row(1, image="2"), row(2, image=encoded(BLUE)), row(3, image="2")])
    assert [item["images"] for item in items] == [[{"bytes": BLUE, "path": None}]] * 3
    assert report == []


def test_every_row_has_images_of_its_own_unless_a_column_names_them(tmp_path: Path) -> None:
    both = f"['{encoded(RED)}', '{encoded(BLUE)}']"
    rows = [row(1, image=both, photo="7"), row(2, image="1", photo="7")]
    items, _ = read(tmp_path, rows)
    # Row 2 shares its images by reference, and has different noise, as in Bench-C.
    assert [item["image_keys"] for item in items] == [["s/1#0", "s/1#1"], ["s/2#0", "s/2#1"]]


def test_a_column_names_images(tmp_path: Path) -> None:
    both = f"['{encoded(RED)}', '{encoded(BLUE)}']"
    rows = [
        row(1, photo="393225"),
        row(2, photo="1#0", image=encoded(BLUE)),
        row(3, photo="['393225', '1#0']", image=both),
        row(4, photo="[393225, 393225]", image=f"['{encoded(RED)}', '{encoded(RED)}']"),
        row(5, photo="393225", image="1"),
    ]
    items, report = read(tmp_path, rows, ReaderOptions(image_column="photo"))
    assert [item["image_keys"] for item in items] == [
        ["s://393225"],
        ["s://1#0"],
        ["s://393225", "s://1#0"],
        ["s://393225", "s://393225"],
        ["s://393225"],
    ]
    assert report == []


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        (
            {"photo": "x", "image": encoded(BLUE)},
            "names its image 'x', which is the name of a different image",
        ),
        ({"photo": ""}, "column 'photo' does not name every image"),
        ({"photo": "nan"}, "column 'photo' does not name every image"),
        ({"photo": "['']"}, "column 'photo' does not name every image"),
        ({"photo": "[None]"}, "column 'photo' does not name every image"),
        ({"photo": "[]"}, "column 'photo' does not name every image"),
        ({"photo": "[x"}, None),
        ({"photo": "[x]"}, "column 'photo' has a broken list of names (ValueError)"),
        ({"photo": "['x', 'y']"}, "photo names 2 images, but the row has 1"),
        (
            {"photo": "y", "image": f"['{encoded(BLUE)}', '{encoded(BLUE)}']"},
            "photo names 1 images, but the row has 2",
        ),
    ],
)
def test_a_row_whose_names_do_not_fit_its_images_is_refused(
    tmp_path: Path, values: dict[str, str], reason: str | None
) -> None:
    rows = [row(1, photo="x"), row(2, **values), row(3, photo="y", image=encoded(BLUE))]
    items, report = read(tmp_path, rows, ReaderOptions(image_column="photo"))
    # A refused row does not claim a name.
    assert [item["id"] for item in items] == (["s/1", "s/3"] if reason else ["s/1", "s/2", "s/3"])
    assert report == ([("s/2", "rejected", reason)] if reason else [])


def test_a_refused_row_names_no_image(tmp_path: Path) -> None:
    both = f"['{encoded(BLUE)}', '{encoded(BLUE)}']"
    rows = [row(1, photo="x"), row(2, photo="['y', 'x']", image=both), row(3, photo="y")]
    items, report = read(tmp_path, rows, ReaderOptions(image_column="photo"))
    assert [item["image_keys"] for item in items] == [["s://x"], ["s://y"]]
    assert [id_ for id_, *_ in report] == ["s/2"]


def test_a_missing_column_of_names_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="has no column 'photo'"):
        read(tmp_path, [row(1)], ReaderOptions(image_column="photo"))


def test_image_files_stay_as_published(tmp_path: Path) -> None:
    for form in ("PNG", "JPEG", "WEBP", "GIF", "BMP"):
        data = image_bytes(form=form)
        items, _ = read(tmp_path, [row(1, image=encoded(data))])
        assert items[0]["images"] == [{"bytes": data, "path": None}]


def test_options_in_one_column(tmp_path: Path) -> None:
    rows = [
        row(1, choices="['(A) red', '(B) (A) is wrong', '(C)  two\\nlines']", answer="C"),
        row(2, choices="['(A) red', '(B) blue', '(C)']"),
        row(3, choices="['(A) red', 'blue']"),
        row(4, choices="red or blue"),
    ]
    for values in rows:
        for letter in "ABC":
            del values[letter]
    items, report = read(tmp_path, rows, ReaderOptions(options_column="choices"))
    assert [item["options"] for item in items] == [["red", "(A) is wrong", " two\nlines"], ["red", "blue"]]
    assert report == [
        ("s/3", "rejected", "option B in column 'choices' does not start with '(B) '"),
        ("s/4", "rejected", "column 'choices' is not a Python list of strings"),
    ]


def test_circular_copies_are_left_out_but_their_image_may_be_shared(tmp_path: Path) -> None:
    rows = [row(5, image="1000005"), row(1000005, image=encoded(BLUE)), row(1000000)]
    items, report = read(tmp_path, rows, ReaderOptions(index_below=1000000))
    assert [(item["id"], item["images"]) for item in items] == [("s/5", [{"bytes": BLUE, "path": None}])]
    assert report == [
        ("s/1000005", "excluded", "index is 1000000 or larger"),
        ("s/1000000", "excluded", "index is 1000000 or larger"),
    ]


def test_rows_of_another_kind_are_left_out(tmp_path: Path) -> None:
    rows = [row(1, question_type="multiple-choice"), row(2, question_type="sort", answer="BA")]
    rows.append(row(3, question_type="so"))
    items, report = read(tmp_path, rows, ReaderOptions(exclude={"question_type": "sort"}))
    assert [item["id"] for item in items] == ["s/1", "s/3"]
    assert report == [("s/2", "excluded", "question_type is sort")]


def test_rows_with_one_of_several_values_are_left_out(tmp_path: Path) -> None:
    rows = [row(1), row(2, category="look"), row(3, category="count"), row(4, category="look, count")]
    excluded = ReaderOptions(exclude={"category": ["look", "count"], "l2_category": "none"})
    items, report = read(tmp_path, rows, excluded)
    assert [item["id"] for item in items] == ["s/1", "s/4"]
    assert report == [("s/2", "excluded", "category is look"), ("s/3", "excluded", "category is count")]


PIXELS = ReaderOptions(pixel_keys=True)


def test_circular_copies_have_the_key_of_their_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = []
    monkeypatch.setattr(
        stored_images, "image_facts", lambda data: decoded.append(data) or item_images.image_facts(data)
    )
    other = image_bytes((20, 40, 220), form="BMP")  # the pixels of BLUE
    rows = [
        row(5),
        row(6, image=encoded(BLUE)),
        row(1000005, image="5"),
        row(2000005, image="5"),
        row(1000006, image=encoded(BLUE)),
        row(2000006, image=encoded(other)),
        row(3000006, image="9"),
    ]
    items, report = read(tmp_path, rows, PIXELS)
    keys = {item["id"]: item["image_keys"] for item in items}
    assert keys["s/5"] == keys["s/1000005"] == keys["s/2000005"]
    assert keys["s/6"] == keys["s/1000006"] == keys["s/2000006"] != keys["s/5"]
    # Files stay as published, and each is decoded once.
    assert items[-1]["images"] == [{"bytes": other, "path": None}]
    assert sorted(decoded) == sorted([RED, BLUE, other])
    reason = "image '9' is neither an image in base64 nor the index of a row"
    assert report == [("s/3000006", "rejected", reason)]
    # Also in another source, and in any release: keys decide the noise of a run.
    found, _ = read_vlmevalkit(write_tsv(tmp_path / "t.tsv", [row("x")]), "t", PIXELS)
    digest = "7b765469c1ea6d7583290191b3438f5b71646c61a3c4e2a4a22d8d43eec67855"
    assert found["image_keys"].to_list() == [keys["s/5"]] == [[f"sha256://{digest}"]]


def test_a_picture_that_cannot_be_decoded_is_rejected_with_its_copies(tmp_path: Path) -> None:
    rows = [row(1, image=encoded(RED[:-30])), row(2, image="1"), row(3)]
    items, report = read(tmp_path, rows, PIXELS)
    assert [item["id"] for item in items] == ["s/3"]
    assert [(id_, kind) for id_, kind, _ in report] == [("s/1", "rejected"), ("s/2", "rejected")]
    assert "are not a complete image" in report[0][2]
    assert report[1][2] == "shares the image of row '1', which has none of its own"


def test_a_row_with_several_images_is_rejected_where_rows_have_one(tmp_path: Path) -> None:
    both = f"['{encoded(RED)}', '{encoded(BLUE)}']"
    rows = [row(1, image=both), row(2, image="1"), row(3), row(4, image=f"['{encoded(RED)}']")]
    items, report = read(tmp_path, rows, ReaderOptions(one_image=True))
    assert [item["id"] for item in items] == ["s/3", "s/4"]
    reason = "has 2 images, and rows with one are read (one_image)"
    assert report == [("s/1", "rejected", reason), ("s/2", "rejected", reason)]


def test_the_summary_counts_by_reason(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "s.tsv", [row(1), row(2, image=""), row(3, image=""), row(4, answer="")])
    items, report = read_vlmevalkit(path, "s")
    assert summary("s", items.height, report).splitlines() == [
        "s: 1 item",
        "  2 rejected: has no image",
        "  1 rejected: the answer '' is not one option letter",
    ]
    assert summary("s", 1, report, published="17,023").splitlines()[0] == "s: 1 item (published: 17,023)"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"index\timage\tquestion\tA\tA\tanswer\n", "column 'A' occurs twice"),
        (b"index\tl2-category\tl2_category\n", "column 'l2_category' occurs twice"),
        (b"index\timage\tquestion\tA\tB\n", "has no column 'answer'"),
        (b"index\timage\tquestion\tA\tB\tanswer\n", "it has no rows"),
        (b'index\timage\tquestion\tA\tB\tanswer\n1\t"cut off', "is not tab-separated text"),
        (b"index\timage\tquestion\tA\tB\tanswer\n1\t\xff\t\t\t\t\n", "is not UTF-8 .*; save it as UTF-8"),
        ("index\timage\tquestion\tGröße\n".encode("latin-1"), "is not UTF-8 .*; save it as UTF-8"),
        ("index\timage\tquestion\n".encode("utf-16"), "is not UTF-8 .*; save it as UTF-8"),
        ("index\timage\tquestion\n".encode("utf-16-le"), "NUL characters; save the file as text in UTF-8"),
        (b"\t".join(b"%d" % number for number in range(10**5)), "its columns are 0, 1, .* and 99960 more$"),
        (b"1\t" + b"A" * 10**6 + b"\tWhich?\n", "its columns are 1, A{40}…, Which"),
    ],
)
def test_a_broken_file_is_an_error_that_names_it(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "broken.tsv"
    path.write_bytes(content)
    with pytest.raises(SourceError, match=message) as caught:
        read_vlmevalkit(path, "s")
    assert str(caught.value).startswith(str(path))


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file"):
        read_vlmevalkit(tmp_path / "absent.tsv", "s")


def test_a_byte_order_mark_and_line_ends_of_windows_are_accepted(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "source.tsv", [row(1), row(2)])
    plain = read_vlmevalkit(path, "s")[0]
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    items, report = read_vlmevalkit(path, "s")
    assert items.equals(plain) and report.is_empty()


def test_a_field_without_an_end_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tsv, "LARGEST_FIELD", 10**6)
    path = write_tsv(tmp_path / "source.tsv", [row(1)])
    path.write_text(path.read_text() + '2\t"' + "A\n" * 10**6)
    with pytest.raises(SourceError, match=r"field larger than field limit .1000000.*not in double quotes"):
        read_vlmevalkit(path, "s")


@pytest.mark.parametrize("image", ["A" * 1001, f'"{"A" * 1001}"'])
def test_a_field_that_is_too_long_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, image: str
) -> None:
    monkeypatch.setattr(tsv, "LARGEST_FIELD", 1000)
    path = tmp_path / "source.tsv"
    path.write_text(f"index\timage\n1\t{image.replace('A', '', 1)}\n2\t{image}\n")
    rows = tsv.read_rows(path)
    assert len(next(rows).values["image"]) == 1000
    with pytest.raises(SourceError, match=r"line 3 .*field larger than field limit .1000"):
        next(rows)


# Few pieces, so that marks open and close fields, within lines and across them, and are out of place.
PIECES = ['"', '"', '""', "\t", "\t", ",", "\n", "\r", "\r\n", "a", "b c", "\u2028"]


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join), st.sampled_from(["tsv", "csv"]))
@settings(max_examples=1000)
def test_records_are_those_of_the_csv_module(
    tmp_path_factory: pytest.TempPathFactory, text: str, suffix: str
) -> None:
    separator = "\t" if suffix == "tsv" else ","
    header = [f"c{number}" for number in range(30)]
    text = separator.join(header) + "\n" + text
    path = tmp_path_factory.getbasetemp() / f"records.{suffix}"
    path.write_bytes(text.encode())
    expected: list[tuple[int, list[str]]] = []
    found: list[tuple[int, list[str]]] = []
    failure = ""
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        expected += [(reader.line_num, fields) for fields in reader if fields]
    except csv.Error as error:
        failure = f"line {reader.line_num} is not .* text \\({re.escape(str(error))}\\)"
    with pytest.raises(SourceError, match=failure) if failure else nullcontext():
        found += [(line, list(values.values())) for line, values, *_ in tsv.read_rows(path)]
    assert found == expected[1:]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_a_folder_or_pipe_is_refused_at_once(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "source.tsv")
    with pytest.raises(SourceError, match=r"source\.tsv: is a folder, a pipe or a device; give a file"):
        read_vlmevalkit(tmp_path / "source.tsv", "s")


@pytest.mark.parametrize("index", ["9" * 5000, "a\nb", "\x1b[2J"])
def test_an_odd_index_is_rejected(tmp_path: Path, index: str) -> None:
    items, report = read(tmp_path, [row(1), row(index)], ReaderOptions(index_below=10))
    assert [item["id"] for item in items] == ["s/1"]
    assert report == [("s/", "rejected", "the index is not one line of up to 100 characters")]


def test_a_number_that_python_does_not_write_out_is_no_name(tmp_path: Path) -> None:
    items, report = read(
        tmp_path,
        [row(1, photo="[7]"), row(2, photo=f"[0x{'f' * 5000}]")],
        ReaderOptions(image_column="photo"),
    )
    assert [item["image_keys"] for item in items] == [["s://7"]]
    assert report == [("s/2", "rejected", "column 'photo' does not name every image")]


def test_white_space_in_base64_is_no_part_of_it(tmp_path: Path) -> None:
    text = encoded(RED)
    items, report = read(tmp_path, [row(1, image=f" {text[:70]}\r\n{text[70:]}\t\n")])
    assert items[0]["images"] == [{"bytes": RED, "path": None}]
    assert report == []


def test_a_tiny_image_is_no_reference(tmp_path: Path) -> None:
    gif = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
    assert len(encoded(gif)) <= 64
    items, report = read(tmp_path, [row(1, image=encoded(gif))])
    assert [item["images"] for item in items] == [[{"bytes": gif, "path": None}]]
    assert report == []


@pytest.mark.parametrize("category", ["", " ", "nan"])
def test_a_row_without_its_task_type_is_rejected(tmp_path: Path, category: str) -> None:
    rows = [row(1, category=category), row(2, **{"l2-category": category}), row(3)]
    items, report = read(tmp_path, rows, ReaderOptions(task_column="category"))
    assert [item["id"] for item in items] == ["s/2", "s/3"]
    assert items[0]["l2_category"] is None
    reason = "has no category, the task type (task_column of the source)"
    assert report == [("s/1", "rejected", reason)]
    items, _ = read(tmp_path, rows)
    assert len(items) == 3


def test_a_task_column_that_all_rows_lack_is_an_error(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "source.tsv", [row(1, category=""), row(2, category="")])
    with pytest.raises(
        SourceError, match=r"none of its rows .*: has no category, the task type \(task_column"
    ):
        read_vlmevalkit(path, "s", ReaderOptions(task_column="category"))


def test_a_file_without_columns_of_options_has_open_ended_questions(tmp_path: Path) -> None:
    items, report = read(tmp_path, [open_row(3, hint="Look.", answer="A7")])
    assert items == [
        {
            "id": "s/3",
            "question": "Which colour is it?",
            "hint": "Look.",
            "options": [],
            "answer": None,
            "category": "colour",
            "l2_category": "look",
            "images": [{"bytes": RED, "path": None}],
            "image_keys": ["s/3#0"],
        }
    ]
    assert report == []


@pytest.mark.parametrize("answer", ["", "nan", " \n"])
def test_an_open_ended_question_without_an_answer_is_rejected(tmp_path: Path, answer: str) -> None:
    items, report = read(tmp_path, [open_row(1), open_row(2, answer=answer), open_row(3, question="")])
    assert [item["id"] for item in items] == ["s/1"]
    assert report == [("s/2", "rejected", "has no answer"), ("s/3", "rejected", "has no question")]


def test_an_answer_that_may_be_an_option_is_noted(tmp_path: Path) -> None:
    _, report = read(
        tmp_path, [open_row(1, answer="B", choices="['(A) x', '(B) y']"), open_row(2, answer="AB")]
    )
    assert [(id_, kind) for id_, kind, _ in report] == [("s/1", "note")]
    assert "name it (options_column)" in report[0][2]


@pytest.mark.parametrize("kept", ["A", "B", "C"])
def test_a_file_with_one_column_of_options_is_not_open_ended(tmp_path: Path, kept: str) -> None:
    path = write_tsv(tmp_path / "source.tsv", [{**open_row(1), kept: "red"}])
    with pytest.raises(SourceError, match=f"has no column {'B' if kept == 'A' else 'A'!r}"):
        read_vlmevalkit(path, "s")


def word_row(index: int, answer: str, **values: str) -> dict[str, str]:
    return open_row(index, answer=answer, **values)


def test_answer_words_are_the_options(tmp_path: Path) -> None:
    question = "What is it?\nOption: A: a cup; B: a dog;"
    words = ["Yes", "No", " no\n", "A", "B", "a", "b", "C", "Maybe", ""]
    rows = [word_row(number, word, question=question) for number, word in enumerate(words)]
    items, report = read(tmp_path, rows, ReaderOptions(answer_words=True))
    assert [(item["options"], item["answer"]) for item in items] == [
        (["Yes", "No"], 0),
        (["Yes", "No"], 1),
        (["Yes", "No"], 1),
        (["A", "B"], 0),
        (["A", "B"], 1),
    ]
    assert {item["question"] for item in items} == {question}
    # A small a may be the article.
    assert report == [
        (f"s/{number}", "rejected", f"the answer {words[number]!r} is none of Yes, No, A and B")
        for number in range(5, 10)
    ]


def test_answer_words_are_for_a_file_without_options(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "source.tsv", [row(1)])
    with pytest.raises(SourceError, match="has the column 'A' of options, but answer_words"):
        read_vlmevalkit(path, "s", ReaderOptions(answer_words=True))


def test_another_column_may_have_the_category(tmp_path: Path) -> None:
    switches = ReaderOptions(category_column="type", task_column="category")
    rows = [row(1, type="yes_no"), row(2, type="", category="colour")]
    items, report = read(tmp_path, rows, switches)
    assert [item["category"] for item in items] == ["yes_no"]
    assert report == [("s/2", "rejected", "has no category, the task type (task_column of the source)")]
    with pytest.raises(SourceError, match="has no column 'type'"):
        read(tmp_path, [row(1)], switches)


def test_a_file_packed_by_xz_is_read_alike(tmp_path: Path) -> None:
    path = write_tsv(tmp_path / "source.tsv", [row(1), row(2, question="Two\nlines?")])
    packed = tmp_path / "source.tsv.xz"
    packed.write_bytes(lzma.compress(path.read_bytes()))
    assert read_vlmevalkit(packed, "s")[0].equals(read_vlmevalkit(path, "s")[0])
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(SourceError, match="it is not a complete xz file"):
        read_vlmevalkit(packed, "s")
    packed.write_bytes(path.read_bytes())
    with pytest.raises(SourceError, match="it is not a complete xz file"):
        read_vlmevalkit(packed, "s")


def test_answers_may_be_lists(tmp_path: Path) -> None:
    answers = ['["a dog", "It\'s one"]', "['a dog']", "a dog", "[]", '["a dog", 2]', '["a dog", " "]', ""]
    rows = [open_row(number, answer=answer) for number, answer in enumerate(answers)]
    items, report = read(tmp_path, rows, ReaderOptions(answer_lists=True))
    assert [(item["id"], item["options"], item["answer"]) for item in items] == [
        ("s/0", [], None),
        ("s/1", [], None),
    ]
    no_list = 'is no list of texts, such as ["one", "two"]'
    assert report == [
        ("s/2", "rejected", f"the answer 'a dog' {no_list}"),
        ("s/3", "rejected", f"the answer '[]' {no_list}"),
        ("s/4", "rejected", f"the answer '[\"a dog\", 2]' {no_list}"),
        ("s/5", "rejected", "an answer in its list is only white space"),
        ("s/6", "rejected", "has no answer"),
    ]


def test_rows_without_options_may_be_open_ended(tmp_path: Path) -> None:
    open_ended = dict.fromkeys("ABC", "")
    rows = [row(1), row(2, **open_ended, answer="dark red"), row(3, answer="D"), row(4, B="", answer="A")]
    items, report = read(tmp_path, rows, ReaderOptions(open_ended=True))
    assert [(item["options"], item["answer"]) for item in items] == [(["red", "blue"], 0), ([], None)]
    assert report == [
        ("s/3", "rejected", "the answer is D, an option without text"),
        ("s/4", "rejected", "has fewer than two options (1)"),
    ]
    _, rejected = read(tmp_path, rows)
    assert ("s/2", "rejected", "the answer 'dark red' is not one option letter") in rejected
