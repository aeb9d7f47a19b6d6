import base64
import csv
import lzma
import os
import re
import tracemalloc
from contextlib import nullcontext
from io import StringIO
from pathlib import Path
from string import ascii_uppercase

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.schemas.items import ITEMS
from benchc.sources import item_images, stored_images, tsv
from benchc.sources.error import SourceError
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


COLOUR = {
    **{"id": "s/7", "question": "Which colour is it?", "hint": "Look closely.", "options": ["red", "blue"]},
    **{"answer": 0, "category": "colour", "l2_category": "look"},
    **{"images": [{"bytes": RED, "path": None}], "image_keys": ["s/7#0"]},
}


def test_a_plain_row_and_one_without_columns_of_options(tmp_path):
    assert read(tmp_path, [row(7, hint="Look closely.", n="3")]) == ([COLOUR], [])
    open_ended = COLOUR | {"options": [], "answer": None}
    assert read(tmp_path, [open_row(7, hint="Look closely.", answer="A7")]) == ([open_ended], [])


def test_texts_are_read_byte_for_byte(tmp_path):
    texts = {"question": '  Say "什么"\tor\r\nnot? \n', "hint": " ", "category": "风景与建筑 (Scenery)"}
    odd = row(1, A="\nfor x in y:\n    print(x)\n", B=" None ", C="3.50", **texts)
    odd["l2_category"] = odd.pop("l2-category")  # files have both spellings
    ((item,), report) = read(tmp_path, [odd])
    for name in ("question", "hint", "category", "l2_category"):
        assert item[name] == odd[name]
    assert (item["options"], report) == ([odd["A"], " None ", "3.50"], [])


BOTH = f"['{encoded(RED)}', '{encoded(BLUE)}']"
BLUES = f"['{encoded(BLUE)}', '{encoded(BLUE)}']"
GIF = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")
FILES = [GIF, *(image_bytes(form=form) for form in ("PNG", "JPEG", "WEBP", "GIF", "BMP"))]
BASE64 = encoded(RED)
ABSENT = ("", "nan", "NaN")
WORDS = ("None", "NA", "null", "N/A", "0", "-")  # which some libraries read as missing


@pytest.mark.parametrize(
    ("values", "field", "expected"),
    [
        *(({"C": text}, "options", ["red", "blue"]) for text in ABSENT),
        *(({"C": text}, "options", ["red", "blue", text]) for text in WORDS),
        *(({"hint": text}, "hint", None) for text in ABSENT),
        *(({"l2-category": text}, "l2_category", None) for text in ABSENT),
        *(({"image": encoded(data)}, "images", [{"bytes": data, "path": None}]) for data in FILES),
        ({"image": f" {BASE64[:70]}\r\n{BASE64[70:]}\t\n"}, "images", [{"bytes": RED, "path": None}]),
        ({"image_path": "c.png"}, "images", [{"bytes": RED, "path": "c.png"}]),
        (
            {"image": BOTH, "image_path": "['a.png', 'b.png']"},
            "images",
            [{"bytes": RED, "path": "a.png"}, {"bytes": BLUE, "path": "b.png"}],
        ),
    ],
)
def test_what_a_field_says(tmp_path, values, field, expected):
    assert len(encoded(GIF)) <= 64  # as an index may be
    ((item,), report) = read(tmp_path, [row(1, **values)])
    assert (item[field], report) == (expected, [])


CHARACTERS = st.characters(exclude_categories=("Cs",), exclude_characters="\0")


@given(st.lists(st.text(CHARACTERS, min_size=1), min_size=2, max_size=8))
@settings(max_examples=40)
def test_any_option_texts_are_read_unchanged(tmp_path_factory, texts):
    # Only the two spellings of a missing value are not kept, and white space is rejected.
    texts = [text if text not in ("nan", "NaN") and text.strip() else "x" for text in texts]
    options = dict(zip("ABCDEFGH", texts, strict=False))
    folder = tmp_path_factory.mktemp("any")
    path = write_tsv(folder / "source.tsv", [{**row(1), "C": "", **options}], quoting=csv.QUOTE_ALL)
    items, _ = read_vlmevalkit(path, "s")
    assert items["options"].to_list() == [texts]


def test_items_are_ordered_by_index_as_a_number(tmp_path):
    items, _ = read(tmp_path, [row(index) for index in ("10", "b10", "9", "1" * 100, "b2", "100")])
    assert [item["id"] for item in items] == ["s/9", "s/10", "s/100", f"s/{'1' * 100}", "s/b2", "s/b10"]


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
        *((values, "the answer is A, an option without text") for values in ({"A": ""}, {"A": "", "B": ""})),
        *(({"answer": letter}, f"the answer is {letter}, an option without text") for letter in "CF"),
        *(({"answer": text}, f"the answer '{text}' is not one option letter") for text in ("AB", "")),
        ({"answer": "a"}, "the answer 'a' is not one option letter: write A"),
        ({"answer": "x" * 21}, f"the answer '{'x' * 20}' is not one option letter"),
        ({"image": ""}, "has no image"),
        ({"image": "no base64! " * 10}, "image 1 is not base64"),
        # VLMEvalKit takes a text of up to 64 characters for the index of another row.
        ({"image": "!" * 64}, f"image '{'!' * 64}' is neither an image in base64 nor the index"),
        ({"image": "!" * 65}, "image 1 is not base64"),
        ({"image": "data:" + "x" * 60}, f"image 1 begins with 'data:{'x' * 25}'; remove this prefix"),
        *(({"image": encoded(data)}, "image 1: these ") for data in (b"no image" * 10, RED[:40] + RED[44:])),
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
        ({"image": "[" + "0, " * 30 + "1]"}, "has a list of images that is empty or not of strings"),
        ({"image": "99"}, "image '99' is neither an image in base64 nor the index of a row"),
        ({"image_path": "['a.png', 'b.png']"}, "image_path names 2 files, but image has 1"),
        ({"image_path": "a.png", "image": BOTH}, "image_path names 1 files, but image has 2"),
    ],
)
def test_a_row_that_cannot_become_an_item_is_refused_with_its_reason(tmp_path, values, reason):
    items, report = read(tmp_path, [row(1), row(2, **values), row(3, image="")])
    assert [item["id"] for item in items] == ["s/1"]
    assert [(id_, kind) for id_, kind, _ in report] == [("s/2", "rejected"), ("s/3", "rejected")]
    assert report[0][2].startswith(reason)


def test_a_row_of_another_length_is_refused(tmp_path):
    path = write_tsv(tmp_path / "source.tsv", [row(1), row(2)])
    path.write_text(path.read_text().rpartition("\t")[0] + "\n")
    items, report = read_vlmevalkit(path, "s")
    assert items["id"].to_list() == ["s/1"]
    assert report.rows() == [("s/2", 3, "rejected", "has 9 fields where the header has 10")]
    path.write_text(path.read_text() + "3" + "\tmore" * 10 + "\n")
    assert read_vlmevalkit(path, "s")[1]["reason"][1] == "has 11 fields where the header has 10"


def test_equal_options_are_kept_and_noted(tmp_path):
    items, report = read(tmp_path, [row(1, B="red"), row(2, B="red", image=""), row(3, B="red")])
    assert [item["options"] for item in items] == [["red", "red"]] * 2
    notes = [(f"s/{number}", "note", "two options have the same text") for number in (1, 3)]
    assert report == [notes[0], ("s/2", "rejected", "has no image"), notes[1]]


def test_a_row_may_share_the_image_of_an_earlier_or_a_later_one(tmp_path):
    items, report = read(tmp_path, [row(1, image="2"), row(2, image=encoded(BLUE)), row(3, image="2")])
    assert [item["images"] for item in items] == [[{"bytes": BLUE, "path": None}]] * 3
    assert report == []


def test_every_row_has_images_of_its_own_unless_a_column_names_them(tmp_path):
    items, _ = read(tmp_path, [row(1, image=BOTH, photo="7"), row(2, image="1", photo="7")])
    # Row 2 shares its images by reference, and has different noise, as in Bench-C.
    assert [item["image_keys"] for item in items] == [["s/1#0", "s/1#1"], ["s/2#0", "s/2#1"]]


def test_a_column_names_images(tmp_path):
    rows = [
        row(1, photo="393225"),
        row(2, photo="1#0", image=encoded(BLUE)),
        row(3, photo="['393225', '1#0']", image=BOTH),
        row(4, photo="[393225, 393225]", image=f"['{encoded(RED)}', '{encoded(RED)}']"),
        row(5, photo="393225", image="1"),
    ]
    items, report = read(tmp_path, rows, ReaderOptions(image_column="photo"))
    red, blue = "s://393225", "s://1#0"
    assert [item["image_keys"] for item in items] == [[red], [blue], [red, blue], [red, red], [red]]
    assert report == []


# What Python cannot read for its depth: it has two errors for that.
TOO_DEEP = (f"['(A) red', {'-' * 10**5}1]", f"['(A) red', {'1+' * 10**4}1]")

UNNAMED = "column 'photo' does not name every image"
TAKEN = "names its image 'x', which is the name of a different image"
BLUE_AND_RED = f"['{encoded(BLUE)}', '{encoded(RED)}']"


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ({"photo": "x", "image": encoded(BLUE)}, TAKEN),
        ({"photo": "['y', 'x']", "image": BLUES}, TAKEN),
        *(
            ({"photo": str([name, name]), "image": BLUE_AND_RED}, TAKEN.replace("x", name[:40], 1))
            for name in ("y", "y" * 41)
        ),
        *(({"photo": text}, UNNAMED) for text in ("", "nan", "['']", "[None]", "[]", f"[0x{'f' * 5000}]")),
        ({"photo": "[x"}, None),
        ({"photo": f"[{2**64 - 1}]"}, None),
        ({"photo": f"[{2**64}]"}, UNNAMED),
        *(
            ({"photo": text}, f"column 'photo' has a broken list of names ({kind})")
            for text, kind in (
                *(("[x]", "ValueError"), ("[1 2]", "SyntaxError"), ("[{[]: 1}]", "TypeError")),
                *zip(TOO_DEEP, ("MemoryError", "RecursionError"), strict=True),
            )
        ),
        ({"photo": "['x', 'y']"}, "photo names 2 images, but the row has 1"),
        ({"photo": "y", "image": BLUES}, "photo names 1 images, but the row has 2"),
    ],
)
def test_a_row_whose_names_do_not_fit_its_images_is_refused(tmp_path, values, reason):
    rows = [row(1, photo="x"), row(2, **values), row(3, photo="y")]
    items, report = read(tmp_path, rows, ReaderOptions(image_column="photo"))
    # A refused row does not claim a name.
    assert [item["id"] for item in items] == (["s/1", "s/3"] if reason else ["s/1", "s/2", "s/3"])
    assert report == ([("s/2", "rejected", reason)] if reason else [])


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        ([row(1)], ReaderOptions(image_column="photo"), "has no column 'photo'"),
        ([row(1)], ReaderOptions(category_column="type"), "has no column 'type'"),
        ([row(1)], ReaderOptions(problem_column="problem"), "has no column 'problem'"),
        ([row(1)], ReaderOptions(exclude={"kind": "sort"}), "has no column 'kind'"),
        ([open_row(1)], ReaderOptions(options_column="choices"), "has no column 'choices'"),
        ([row(1)], ReaderOptions(answer_words=True), "has the column 'A' of options, but answer_words"),
        *(([open_row(1) | {own: "x"}], None, f"has no column '{lack}'") for own, lack in ("AB", "BA", "CA")),
        (
            [row(1, category=""), row(2, category="")],
            ReaderOptions(task_column="category"),
            "none of its rows became an item; the first, in line 2: has no category, the task type",
        ),
    ],
)
def test_a_file_without_what_options_need_is_an_error(tmp_path, rows, options, message):
    with pytest.raises(SourceError, match=message):
        read(tmp_path, rows, options)


NO_LIST = "column 'choices' is not a Python list of strings"
NO_LISTS = ("red or blue", "", "['(A) red'", "('(A) red', '(B) blue')", "['(A) red', 2]", *TOO_DEEP)


def test_options_in_one_column(tmp_path):
    rows = [
        open_row(1, choices="['(A) red', '(B) (A) is wrong', '(C)  two\\nlines']", answer="C"),
        open_row(2, choices="['(A) red', '(B) blue', '(C)']", answer="A"),
        open_row(3, choices="['(A) red', 'blue']", answer="A"),
        *(open_row(4 + number, choices=text, answer="A") for number, text in enumerate(NO_LISTS)),
        open_row("many", choices=str([f"({letter}) x" for letter in f"{ascii_uppercase}{{"]), answer="A"),
        open_row("most", choices=str([f"({letter}) x{letter}" for letter in ascii_uppercase]), answer="A"),
    ]
    items, report = read(tmp_path, rows, ReaderOptions(options_column="choices"))
    *few, most = [item["options"] for item in items]
    assert few == [["red", "(A) is wrong", " two\nlines"], ["red", "blue"]]
    assert most == [f"x{letter}" for letter in ascii_uppercase]
    assert report == [
        ("s/3", "rejected", "option B in column 'choices' does not start with '(B) '"),
        *((f"s/{4 + number}", "rejected", NO_LIST) for number in range(len(NO_LISTS))),
        ("s/many", "rejected", "has 27 options, more than the 26 letters"),
    ]


def test_circular_copies_are_left_out_but_their_image_may_be_shared(tmp_path):
    rows = [row(5, image="1000005"), row(1000005, image=encoded(BLUE)), row(1000000)]
    ((item,), report) = read(tmp_path, rows, ReaderOptions(index_below=1000000))
    assert (item["id"], item["images"]) == ("s/5", [{"bytes": BLUE, "path": None}])
    reason = "index is 1000000 or larger"
    assert report == [("s/1000005", "excluded", reason), ("s/1000000", "excluded", reason)]


def test_rows_with_an_excluded_value_are_left_out(tmp_path):
    rows = [row(1), row(2, kind="sort", answer="BA"), row(3, kind="so"), row(4, category="look")]
    rows += [row(5, category="count"), row(6, category="look, count")]
    excluded = ReaderOptions(exclude={"kind": "sort", "category": ["look", "count"]})
    items, report = read(tmp_path, rows, excluded)
    assert [item["id"] for item in items] == ["s/1", "s/3", "s/6"]
    reasons = {"s/2": "kind is sort", "s/4": "category is look", "s/5": "category is count"}
    assert report == [(id_, "excluded", reason) for id_, reason in reasons.items()]


def test_circular_copies_have_the_key_of_their_original(tmp_path, monkeypatch):
    decoded, options = [], ReaderOptions(pixel_keys=True)
    monkeypatch.setattr(
        stored_images, "image_facts", lambda data: decoded.append(data) or item_images.image_facts(data)
    )
    other = image_bytes((20, 40, 220), form="BMP")  # the pixels of BLUE
    images = {5: encoded(RED), 6: encoded(BLUE), 1000005: "5", 2000005: "5", 1000006: encoded(BLUE)}
    images |= {2000006: encoded(other), 3000006: "9", 7: encoded(RED[:-30]), 1000007: "7"}
    items, report = read(tmp_path, [row(index, image=image) for index, image in images.items()], options)
    keys = {item["id"]: item["image_keys"] for item in items}
    assert keys["s/5"] == keys["s/1000005"] == keys["s/2000005"]
    assert keys["s/6"] == keys["s/1000006"] == keys["s/2000006"] != keys["s/5"] and len(keys) == 6
    # Files stay as published, and each is decoded once.
    assert items[-1]["images"] == [{"bytes": other, "path": None}]
    assert sorted(decoded) == sorted([RED, BLUE, other, RED[:-30]])
    reasons = {id_: reason for id_, _, reason in report}
    assert reasons.keys() == {"s/3000006", "s/7", "s/1000007"}
    assert reasons["s/3000006"] == "image '9' is neither an image in base64 nor the index of a row"
    assert "are not a complete image" in reasons["s/7"]
    assert reasons["s/1000007"] == "shares the image of row '7', which has none of its own"
    # Also in another source, and in any release: keys decide the noise of a run.
    found, _ = read_vlmevalkit(write_tsv(tmp_path / "t.tsv", [row("x")]), "t", options)
    digest = "7b765469c1ea6d7583290191b3438f5b71646c61a3c4e2a4a22d8d43eec67855"
    assert found["image_keys"].to_list() == [keys["s/5"]] == [[f"sha256://{digest}"]]


def test_a_row_with_several_images_is_rejected_where_rows_have_one(tmp_path):
    rows = [row(1, image=BOTH), row(2, image="1"), row(3), row(4, image=f"['{encoded(RED)}']")]
    items, report = read(tmp_path, rows, ReaderOptions(one_image=True))
    assert [item["id"] for item in items] == ["s/3", "s/4"]
    reason = "has 2 images, and rows with one are read (one_image)"
    assert report == [("s/1", "rejected", reason), ("s/2", "rejected", reason)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "no such file"),
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
        (
            b"\t".join(b"%d" % number for number in range(10**5)),
            "its columns are 0, 1, .* and 99960 more; name",
        ),
        (b"\t".join(b"%d" % number for number in range(40)), "its columns are 0, 1, .* 38, 39; name"),
        (b"1\t" + b"A" * 10**6 + b"\tWhich?\n", "its columns are 1, A{40}…, Which"),
        (b"1\t" + b"A" * 40 + b"\tWhich?\n", "its columns are 1, A{40}, Which"),
        (b"question\n", "has no column 'index'; its columns are question; add the column$"),
        (b"a;b\tquestion\n", "its columns are a;b, question; name"),
        (b"a\x1b[2J\tquestion\n", r"its columns are a\\x1b\[2J, question; name"),
        (
            b"index\timage\tquestion\tA\tB\tgold\n",
            r'\(benchc new: --reader\): {"columns": {"answer": "NAME"}}$',
        ),
        (b"label\tindex\timage\tquestion\tA\tB\tid\n", 'by .*: {"columns": {"answer": "label"}}$'),
        (b"index\timage\tquestion\tA\tC\tanswer\tx\n", 'by .*: {"columns": {"B": "NAME"}}$'),
        *((text, "not separated by tabs: save it with them$") for text in (b"a,b\n", b"a;b\n")),
    ],
)
def test_a_broken_file_is_an_error_that_names_it(tmp_path, content, message):
    for name in ("broken.tsv", "broken"):
        path = tmp_path / name
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(SourceError, match=message) as caught:
            read_vlmevalkit(path, "s")
        assert str(caught.value).startswith(str(path))


def test_a_byte_order_mark_and_line_ends_of_windows_are_accepted(tmp_path):
    path = write_tsv(tmp_path / "source.y", [row(1), row(2)])  # a TSV may have any suffix
    plain, _ = read_vlmevalkit(path, "s")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    items, report = read_vlmevalkit(path, "s")
    assert items.equals(plain) and report.is_empty()


@pytest.mark.parametrize("image", ["A" * 1001, f'"{"A" * 1001}"'])
def test_a_field_that_is_too_long_is_an_error(tmp_path, monkeypatch, image):
    monkeypatch.setattr(tsv, "LARGEST_ROW", len(f"2\t{image}\n") - 1)
    path = tmp_path / "source.tsv"
    path.write_text(f"index\timage\n1\t{image.replace('A', '', 1)}\n2\t{image}\n")
    rows = tsv.read_rows(path)
    assert len(next(rows).values["image"]) == 1000
    with pytest.raises(SourceError, match=r"line 3 .*a row of more than 1,00[35] characters"):
        next(rows)


@pytest.mark.parametrize("field", ["A" * 3_000_000, '"' + "A\n" * 1_500_000, '"A\n"\t' * 750_000])
def test_a_small_file_packed_by_xz_does_not_fill_the_memory(tmp_path, monkeypatch, field):
    monkeypatch.setattr(tsv, "LARGEST_ROW", 300_000)
    path = tmp_path / "source.tsv.xz"
    path.write_bytes(lzma.compress(f"index\timage\n1\t{field}\n".encode(), preset=0))
    del field
    tracemalloc.start()
    with pytest.raises(SourceError, match=r"a row of more than 300,000 .*not in double quotes"):
        list(tsv.read_rows(path))
    assert tracemalloc.get_traced_memory()[1] < 8 * 10**6
    tracemalloc.stop()


# Few pieces, so that marks open and close fields, within lines and across them, and are out of place.
PIECES = ['"', '"', '""', "\t", "\t", ",", "\n", "\r", "\r\n", "a", "b c", "\u2028"]


@given(st.lists(st.sampled_from(PIECES), max_size=20).map("".join), st.sampled_from(["tsv", "csv"]))
@settings(max_examples=500)
def test_records_are_those_of_the_csv_module(tmp_path_factory, text, suffix):
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
def test_a_folder_or_pipe_is_refused_at_once(tmp_path, make):
    make(tmp_path / "source.tsv")
    with pytest.raises(SourceError, match=r"source\.tsv: is a folder, a pipe or a device; give a file"):
        read_vlmevalkit(tmp_path / "source.tsv", "s")


ODD = ("9" * 101, "9" * 5000, "a\nb", "\x1b[2J")


@pytest.mark.parametrize(
    ("index", "id_", "reason"),
    [
        ("1", "s/1", "index '1' is that of an earlier row"),
        *((none, "s/", "has no index") for none in ("", " ", "nan")),
        *((odd, "s/", "the index is not one line of up to 100 characters") for odd in ODD),
    ],
)
def test_a_row_without_an_index_of_its_own_is_rejected(tmp_path, index, id_, reason):
    items, report = read(tmp_path, [row(1), row(index, question="Again?")], ReaderOptions(index_below=10))
    assert [item["question"] for item in items] == ["Which colour is it?"]
    assert report == [(id_, "rejected", reason)]


@pytest.mark.parametrize("category", ["", " ", "nan"])
def test_a_row_without_its_task_type_is_rejected(tmp_path, category):
    rows = [row(1, category=category), row(2, **{"l2-category": category}), row(3)]
    items, report = read(tmp_path, rows, ReaderOptions(task_column="category"))
    assert [(item["id"], item["l2_category"]) for item in items] == [("s/2", None), ("s/3", "look")]
    assert report == [("s/1", "rejected", "has no category, the task type (task_column of the source)")]
    assert len(read(tmp_path, rows)[0]) == 3


def test_task_types_have_no_spaces_around_them(tmp_path):
    (item,), _ = read(tmp_path, [row(1, category=" colour", **{"l2-category": "look "})])
    assert (item["category"], item["l2_category"]) == ("colour", "look")


@pytest.mark.parametrize("answer", ["", "nan", " \n"])
def test_an_open_ended_question_without_an_answer_is_rejected(tmp_path, answer):
    items, report = read(tmp_path, [open_row(1), open_row(2, answer=answer), open_row(3, question="")])
    assert [item["id"] for item in items] == ["s/1"]
    assert report == [("s/2", "rejected", "has no answer"), ("s/3", "rejected", "has no question")]


def test_an_answer_that_may_be_an_option_is_noted(tmp_path):
    _, report = read(tmp_path, [open_row(1, answer="B", choices="['(A) x']"), open_row(2, answer="AB")])
    assert [(id_, kind) for id_, kind, _ in report] == [("s/1", "note")]
    assert "name it (options_column)" in report[0][2]


def test_answer_words_are_the_options(tmp_path):
    question = "What is it?\nOption: A: a cup; B: a dog;"
    # A small a may be the article.
    words = ["Yes", "No", " no\n", "A", "B", "a", "b", "C", "Maybe", "", "x" * 21]
    rows = [open_row(number, answer=word, question=question) for number, word in enumerate(words)]
    items, report = read(tmp_path, rows, ReaderOptions(answer_words=True))
    found = [(*item["options"], item["answer"], item["question"]) for item in items]
    expected = [("Yes", "No", 0), ("Yes", "No", 1), ("Yes", "No", 1), ("A", "B", 0), ("A", "B", 1)]
    assert found == [(*each, question) for each in expected]
    assert report == [
        (f"s/{number}", "rejected", f"the answer {words[number][:20]!r} is none of Yes, No, A and B")
        for number in range(5, 11)
    ]


def test_another_column_may_have_the_category(tmp_path):
    rows = [row(1, type="yes_no"), row(2, type="", category="colour")]
    items, report = read(tmp_path, rows, ReaderOptions(category_column="type", task_column="category"))
    assert [item["category"] for item in items] == ["yes_no"]
    assert report == [("s/2", "rejected", "has no category, the task type (task_column of the source)")]


def test_a_file_packed_by_xz_is_read_alike(tmp_path):
    path = write_tsv(tmp_path / "source.tsv", [row(1), row(2, question="Two\nlines?")])
    packed = tmp_path / "source.tsv.xz"
    packed.write_bytes(lzma.compress(path.read_bytes()))
    assert read_vlmevalkit(packed, "s")[0].equals(read_vlmevalkit(path, "s")[0])
    for content in (packed.read_bytes()[:-20], path.read_bytes()):
        packed.write_bytes(content)
        with pytest.raises(SourceError, match="it is not a complete xz file"):
            read_vlmevalkit(packed, "s")


def test_answers_may_be_lists(tmp_path):
    no_list = 'is no list of texts, such as ["one", "two"]'
    answers = {
        '["a dog", "It\'s one"]': None,
        "['a dog']": None,
        "a dog": f"the answer 'a dog' {no_list}",
        "dog": f"the answer 'dog' {no_list}",
        **{text: f"the answer {text[:20]!r} {no_list}" for text in TOO_DEEP},
        "[]": f"the answer '[]' {no_list}",
        '["a dog", 2]': f"the answer '[\"a dog\", 2]' {no_list}",
        '["a dog", " "]': "an answer in its list is only white space",
        "": "has no answer",
        "[" * 10**5: f"the answer '{'[' * 20}' {no_list}",
    }
    rows = [open_row(number, answer=answer) for number, answer in enumerate(answers)]
    items, report = read(tmp_path, rows, ReaderOptions(answer_lists=True))
    found = [(item["id"], item["options"], item["answer"]) for item in items]
    assert found == [("s/0", [], None), ("s/1", [], None)]
    reasons = [(f"s/{number}", "rejected", reason) for number, reason in enumerate(answers.values())]
    assert report == reasons[2:]


def test_rows_without_options_may_be_open_ended(tmp_path):
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


@pytest.mark.parametrize(
    ("options", "noted"),
    [
        (["A. red", "B) blue", "C: green"], True),
        (["(A) red", "(B) "], True),
        (["A. red", "A. blue"], False),
        (["A. red", "blue"], False),
        (["A red", "B.blue"], False),
    ],
)
def test_options_that_begin_with_their_letters_are_noted(tmp_path: Path, options, noted) -> None:
    items, report = read(tmp_path, [row(1, **dict(zip("ABC", options, strict=False)))])
    assert items[0]["options"] == options
    why = "every option begins with its letter, which prompts add; take the letters out of the options"
    assert report == ([("s/1", "note", why)] if noted else [])


def test_options_that_differ_in_white_space_alone_are_noted(tmp_path: Path) -> None:
    items, report = read(tmp_path, [row(1, A="dark red", B=" dark  red")])
    assert [item["options"] for item in items] == [["dark red", " dark  red"]]
    assert report == [("s/1", "note", "two options have the same text")]
