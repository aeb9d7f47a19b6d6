"""Rows of csv, JSON Lines and Parquet files become the items that they would be in a TSV."""

import json
import os
import shutil
import string
from pathlib import Path
from typing import Any

import PIL.Image
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import write_table
from benchc.schemas.pool import POOL
from benchc.sources.error import SourceError
from benchc.sources.item_images import pixel_digest
from benchc.sources.reader_options import ReaderOptions
from benchc.sources.references import AnswerFile, read_references
from benchc.sources.rows import data_file, read_header
from benchc.sources.vlmevalkit import opened_source, read_vlmevalkit
from tests.sources.data_files import (
    question,
    write_as_folder,
    write_as_json_lines,
    write_as_parquet,
    write_as_tsv,
    write_csv,
    write_json_lines,
    write_parquet,
)
from tests.sources.tsv_files import BLUE, RED, encoded, image_bytes


def rgba() -> bytes:
    import io

    file = io.BytesIO()
    PIL.Image.new("RGBA", (9, 7), (10, 20, 30, 40)).save(file, "PNG")
    return file.getvalue()


QUESTIONS = [
    question(10, [RED], hint="Look closely.", **{"l2-category": "look"}),
    question(9, [BLUE, RED], answer="C", options=["1", 'two, "2"', "été\n3"], **{"l2-category": "count"}),
    question(11, [rgba()], options=[*string.ascii_lowercase], answer="D", **{"l2-category": "look"}),
]


def facts(path: Path, options: ReaderOptions | None = None) -> list[dict[str, Any]]:
    """Return the items of a file with pixels in place of image files."""
    items, report = read_vlmevalkit(path, "s", options)
    assert dict(items.schema) == dict(pl.Schema(ITEMS.columns))
    assert report.is_empty(), report.rows()
    rows = items.to_dicts()
    for row in rows:
        row["images"] = [pixel_digest(image["bytes"]) for image in row["images"]]
    return rows


def reasons(path: Path, options: ReaderOptions | None = None) -> tuple[list[str], list[str]]:
    items, report = read_vlmevalkit(path, "s", options)
    return items["id"].to_list(), report["reason"].to_list()


def test_the_same_questions_are_the_same_items_in_every_format(tmp_path: Path) -> None:
    expected = facts(write_as_tsv(tmp_path, QUESTIONS))
    assert [row["id"] for row in expected] == ["s/9", "s/10", "s/11"]
    assert [len(row["options"]) for row in expected] == [3, 2, 26]
    assert [len(row["images"]) for row in expected] == [2, 1, 1]
    assert facts(write_as_folder(tmp_path, QUESTIONS)) == expected
    assert facts(write_as_json_lines(tmp_path, QUESTIONS, paths=True)) == expected
    assert facts(write_as_json_lines(tmp_path, QUESTIONS, paths=False)) == expected
    assert facts(write_as_parquet(tmp_path, QUESTIONS)) == expected


def test_a_row_may_name_the_row_that_has_its_image(tmp_path: Path) -> None:
    questions = [question(1, "2"), question(2, [BLUE])]
    expected = facts(write_as_tsv(tmp_path, questions))
    assert expected[0]["images"] == [pixel_digest(BLUE)]
    assert facts(write_as_folder(tmp_path, questions)) == expected
    assert facts(write_as_json_lines(tmp_path, questions, paths=False)) == expected
    rows = [{"image": 2, **question(1, "")}, {"image": encoded(BLUE), **question(2, "")}]
    rows = [{name: value for name, value in row.items() if name != "images"} for row in rows]
    assert facts(write_json_lines(tmp_path / "number.jsonl", rows)) == expected


def test_a_folder_of_images_as_hugging_face_lays_it_out(tmp_path: Path) -> None:
    write_as_folder(tmp_path, QUESTIONS[:1], "metadata.csv", "file_name")
    write_csv(tmp_path / "other.csv", [{"a": "b"}])
    assert data_file(tmp_path) == tmp_path / "metadata.csv"
    # Images are named by a column, by which rows share them.
    options = ReaderOptions(image_column="file_name")
    assert facts(tmp_path / "metadata.csv", options)[0]["image_keys"] == ["s://img/10_0.png"]


def test_rows_without_an_index_are_numbered_over_all_shards(tmp_path: Path) -> None:
    rows = [
        {"image": {"bytes": RED, "path": "a.png"}, "question": "?", "choices": ["x", "y"], "answer": 1}
    ] * 3
    for shard in range(2):
        write_parquet(tmp_path / f"test-{shard:05}-of-00002.parquet", rows)
    path = data_file(tmp_path)
    assert path.name == "test-00000-of-00002.parquet"
    found = facts(path, ReaderOptions(answer_form="index"))
    assert [(row["id"], row["answer"]) for row in found] == [(f"s/{number}", 1) for number in range(6)]
    # The Hub's folder of a split.
    (tmp_path / "repo/data").mkdir(parents=True)
    write_as_parquet(tmp_path / "repo/data", QUESTIONS)
    assert data_file(tmp_path / "repo").parent.name == "data"
    (tmp_path / "test-00001-of-00002.parquet").unlink()
    with pytest.raises(SourceError, match="is one of 2 shards, but its folder has the numbers 0; fetch all"):
        read_vlmevalkit(path, "s", ReaderOptions(answer_form="index"))
    # The first twice, one of them with the Hub's older ending.
    shutil.copy(path, tmp_path / "test-00000-of-00002-0123abcd.parquet")
    with pytest.raises(SourceError, match="has the numbers 0, 0; fetch all of them, each once"):
        read_vlmevalkit(path, "s", ReaderOptions(answer_form="index"))


def test_class_labels_that_are_numbers_are_no_indices(tmp_path: Path) -> None:
    plain = {"image": {"bytes": RED, "path": "a.png"}, "question": "?", "choices": ["w", "x", "y", "z"]}
    rows = [plain | {"answer": number, "category": number} for number in range(4)]
    names = ["1", "2", "3", "4"]
    path = write_parquet(tmp_path / "my.parquet", rows, {"answer": names, "category": names})
    found = facts(path, ReaderOptions(answer_form="index"))
    assert [(row["answer"], row["category"]) for row in found] == [(0, "1"), (1, "2"), (2, "3"), (3, "4")]
    letters = write_parquet(tmp_path / "letters.parquet", rows, {"answer": [*"DCBA"]})
    assert [row["answer"] for row in facts(letters)] == [3, 2, 1, 0]


def test_a_parquet_file_with_a_column_twice_is_refused(tmp_path: Path) -> None:
    table = pa.table([["a"], ["b"]], names=["question", "question"])
    pq.write_table(table, tmp_path / "my.parquet")
    with pytest.raises(SourceError, match="has several columns 'question'; rename or remove them"):
        read_vlmevalkit(tmp_path / "my.parquet", "s")


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ([], "has no csv, JSON Lines or Parquet file; add metadata.csv"),
        (["a.csv", "b.jsonl"], "has data in a.csv, b.jsonl; name one of these files"),
        (
            ["test-00000-of-00001.parquet", "train-00000-of-00002.parquet", "train-00001-of-00002.parquet"],
            "has data in test-00000-of-00001.parquet, train-00000-of-00002.parquet; name one",
        ),
    ],
)
def test_a_folder_without_one_data_file_is_refused(tmp_path: Path, names: list[str], sentence: str) -> None:
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(SourceError, match=sentence):
        data_file(tmp_path)


def test_columns_of_other_names_are_read(tmp_path: Path) -> None:
    image, other = ({"bytes": data, "path": None} for data in (RED, BLUE))
    rows = [
        {
            "id": "a",
            "image_1": image,
            "image_2": other,
            "prompt": "?",
            "list": ["x", "y"],
            "label": "y",
            "kind": "k",
        },
        {
            "id": "b",
            "image_1": image,
            "image_2": None,
            "prompt": "?",
            "list": ["x", "x"],
            "label": "x",
            "kind": "k",
        },
        {
            "id": "c",
            "image_1": image,
            "image_2": None,
            "prompt": "?",
            "list": ["x", "y"],
            "label": "z",
            "kind": "k",
        },
    ]
    path = write_parquet(tmp_path / "my.parquet", rows)
    columns = {
        "index": "id",
        "image": ["image_1", "image_2"],
        "question": "prompt",
        "options": "list",
        "answer": "label",
        "category": "kind",
    }
    options = ReaderOptions(columns=columns, answer_form="text", exclude={"kind": "none"})
    items, report = read_vlmevalkit(path, "s", options)
    assert items["id"].to_list() == ["s/a"] and items["answer"].to_list() == [1]
    assert [[image["bytes"] for image in row] for row in items["images"].to_list()] == [[RED, BLUE]]
    assert items["category"].to_list() == ["k"]
    assert report["reason"].to_list() == [
        "the answer 'x' is the text of 2 options",
        "the answer 'z' is the text of no options",
    ]
    with pytest.raises(
        SourceError, match=r"has no column 'topic', which columns.category names; its columns"
    ):
        read_vlmevalkit(path, "s", ReaderOptions(columns={"category": "topic"}))


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (0, 0),
        ("1", 1),
        ("1.0", 1),
        (2, "the answer is option 2 from 0, which has no text"),
        (-1, "the answer '-1' is not the index of an option, from 0"),
        ("A", "the answer 'A' is not the index of an option, from 0"),
        (True, "the answer 'true' is not the index of an option, from 0"),
        (None, "the answer '' is not the index of an option, from 0"),
        (1e300, "the answer '1e+300' is not the index of an option, from 0"),
    ],
)
def test_an_index_is_counted_from_0_where_a_key_says_so(
    tmp_path: Path, answer: object, found: int | str
) -> None:
    row = {"image": encoded(RED), "question": "?", "options": ["x", "y"]}
    path = write_json_lines(tmp_path / "my.jsonl", [{**row, "answer": 0}, {**row, "answer": answer}])
    items, report = read_vlmevalkit(path, "s", ReaderOptions(answer_form="index"))
    assert [*items["answer"][1:], *report["reason"]] == [found]


def test_no_number_is_taken_for_an_option_without_the_key(tmp_path: Path) -> None:
    row = {"image": encoded(RED), "question": "?", "options": ["x", "y"]}
    path = write_json_lines(tmp_path / "my.jsonl", [{**row, "answer": 0}, {**row, "answer": "B"}])
    assert reasons(path) == (["s/1"], ["the answer '0' is not one option letter"])


@pytest.mark.parametrize("text", ["['red', 'blue']", '["red", "blue"]'])
def test_a_list_of_options_may_be_text(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.png").write_bytes(RED)
    rows = [{"image": "a.png", "question": "?", "options": text, "answer": "B"}]
    assert facts(write_csv(tmp_path / "my.csv", rows))[0]["options"] == ["red", "blue"]


def test_a_row_without_options_in_a_list_is_open_ended_where_a_key_says_so(tmp_path: Path) -> None:
    row = {"image": encoded(RED), "question": "?", "answer": "A", "options": ["x", "y"]}
    rows = [row, row | {"options": [], "answer": "a dog"}, row | {"options": None, "answer": "a cat"}]
    path = write_json_lines(tmp_path / "my.jsonl", rows)
    assert [row["options"] for row in facts(path, ReaderOptions(open_ended=True))] == [["x", "y"], [], []]
    items, report = read_vlmevalkit(path, "s")
    assert items.height == 1 and report.height == 2


def test_answers_to_open_questions_are_found_by_the_same_columns(tmp_path: Path) -> None:
    rows = [
        {"image": encoded(data), "ask": "?", "says": says}
        for data, says in ((RED, ["dark red", "red"]), (BLUE, ["blue"]))
    ]
    path = write_json_lines(tmp_path / "my.jsonl", rows)
    columns = {"question": "ask", "answer": "says"}
    items, _ = read_vlmevalkit(path, "s", ReaderOptions(columns=columns, answer_lists=True))
    pool = items.with_columns(source=pl.lit("s"), task=pl.lit("t")).select(list(POOL.columns))
    write_table(pool, tmp_path / "pool.parquet", POOL)
    found = read_references(tmp_path / "pool.parquet", {"s": AnswerFile(path, True, columns)})
    assert found.select("truth", "answers").rows() == [("dark red", ["dark red", "red"]), ("blue", [])]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder of data beside which a file lies, with links to it."""
    folder = tmp_path / "data"
    (folder / "sub").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(RED)
    (folder / "inside.png").write_bytes(BLUE)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "up").symlink_to(tmp_path)
    (folder / "loop.png").symlink_to(folder / "loop.png")
    (folder / "good.png").symlink_to(folder / "inside.png")
    os.mkfifo(folder / "pipe.png")
    return folder


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        (
            "../secret.png",
            "image '../secret.png' is not a path below the folder of the data; copy the file there",
        ),
        ("sub/../../secret.png", "is not a path below the folder of the data"),
        ("{folder}/inside.png", "is not a path below the folder of the data"),
        ("..", "image '..' is not a path below the folder of the data"),
        ("link.png", "image 'link.png' is a link out of the folder of the data; copy the file there"),
        ("up/secret.png", "image 'up/secret.png' is a link out of the folder of the data"),
        (
            "loop.png",
            "image 'loop.png' is neither a file below the folder of the data, an image in base64, nor",
        ),
        ("pipe.png", "image 'pipe.png' is neither a file"),
        ("sub", "image 'sub' is neither a file"),
        ("absent.png", "image 'absent.png' is neither a file"),
        ("img/absent.png", "image 'img/absent.png' is no file below the folder of the data"),
        ("x\udc80.png", "contains half of a character"),
        ("broken.png", "image 1: these 40 bytes are not a complete image"),
    ],
)
def test_an_image_out_of_the_folder_is_refused(outside: Path, name: str, reason: str) -> None:
    (outside / "broken.png").write_bytes(RED[:40])
    row = {"question": "?", "options": ["x", "y"], "answer": "A"}
    rows = [{**row, "image": "good.png"}, {**row, "image": name.format(folder=outside)}]
    ids, found = reasons(write_json_lines(outside / "my.jsonl", rows))
    assert ids == ["s/0"] and len(found) == 1 and reason in found[0]


def test_the_path_of_a_parquet_file_without_bytes_is_one_below_its_folder(outside: Path) -> None:
    rows = [
        {"image": {"bytes": None, "path": path}, "question": "?", "options": ["x", "y"], "answer": "A"}
        for path in ("inside.png", "../secret.png")
    ]
    ids, found = reasons(write_parquet(outside / "my.parquet", rows))
    assert ids == ["s/0"] and "is not a path below the folder" in found[0]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "is no JSON ("),
        (b"[1]", "is no JSON object"),
        (b"7", "is no JSON object"),
        (b"\xff\xfe", "is no JSON ("),
        (b"[" * 10**5, "is no JSON (RecursionError)"),
        (b'{"question": ' + b"9" * 5000 + b"}", "is no JSON ("),
        (b'{"question": "\\u0000"}', "contains a NUL character"),
        (b'{"question": "\\ud800"}', "contains half of a character"),
        (b'{"question": NaN, "image": "a.png", "options": ["x", "y"], "answer": "A"}', "has no question"),
        (b'{"question": "?", "options": "red", "answer": "A"}', "its options are no list of texts"),
        (b'{"question": "?", "options": [["x"], "y"], "answer": "A"}', "its options are no list of texts"),
        (
            b'{"question": "?", "options": ' + json.dumps(["x"] * 27).encode() + b"}",
            "has 27 options, more than",
        ),
        (
            b'{"question": "?", "options": ["x", null, "y"], "answer": "A", "image": "a.png"}',
            "option B is empty",
        ),
        (b'{"question": "?", "options": ["x", "y"], "answer": "A", "image": []}', "has no image"),
        (b'{"question": "?", "options": ["x", "y"], "answer": "A", "image": "[3"}', "image '[3' is neither"),
    ],
)
def test_a_bad_line_is_a_rejected_row(tmp_path: Path, line: bytes, reason: str) -> None:
    (tmp_path / "a.png").write_bytes(RED)
    good = b'{"question": "?", "options": ["x", "y"], "answer": "A", "image": "a.png"}\n'
    (tmp_path / "my.jsonl").write_bytes(good + line + b"\n\n" + good)
    items, report = read_vlmevalkit(tmp_path / "my.jsonl", "s")
    assert items["id"].to_list() == ["s/0", "s/2"]
    assert report["line"].to_list() == [2] and report["reason"][0].startswith(reason)


def test_a_bad_row_of_a_csv_and_of_parquet_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(RED)
    row = {"image": "a.png", "question": "?", "A": "x", "B": "y", "answer": "A"}
    path = write_csv(tmp_path / "my.csv", [row, row | {"answer": "C"}, row | {"B": "nan"}])
    path.write_text(path.read_text() + "a.png,?\n")
    assert reasons(path) == (
        ["s/0"],
        [
            "the answer is C, an option without text",
            "has fewer than two options (1)",
            "has 2 fields where the header has 5",
        ],
    )
    rows = [row | {"image": {"bytes": data, "path": None}} for data in (RED, RED[:50], None)]
    ids, found = reasons(write_parquet(tmp_path / "my.parquet", rows))
    assert ids == ["s/0"] and found[0].startswith("image 1: these 50 bytes are not a complete image")
    assert found[1] == "has no image"


def test_a_file_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    files = {
        "list.jsonl": b'[{"question": "?"}]',
        "empty.jsonl": b"",
        "text.parquet": b"version https://git-lfs.github.com/spec/v1",
        "semicolon.csv": b"image;question\n",
        "latin.csv": "image,größe\n".encode("latin-1"),
        "cut.csv": b'image,question,answer\na.png,"?',
        "list.json": b'[{"question": "?"}]',
    }
    sentences = [
        "is a JSON list; write one object per line",
        "has no JSON object; write one per line",
        "is not a complete Parquet file",
        "its columns are image;question, since its fields are not separated by commas",
        "is not UTF-8",
        "is not comma-separated text",
        ".json files are not read; convert it to a TSV, csv, JSON Lines",
    ]
    for (name, content), sentence in zip(files.items(), sentences, strict=True):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(SourceError, match=sentence):
            read_vlmevalkit(tmp_path / name, "s")
    path = write_as_parquet(tmp_path, QUESTIONS)
    data = bytearray(path.read_bytes())
    start = pq.read_metadata(path).row_group(0).column(1).data_page_offset
    data[start : start + 60] = os.urandom(60)
    path.write_bytes(bytes(data))
    with pytest.raises(SourceError):
        read_vlmevalkit(path, "s")


def test_images_of_columns_that_are_not_read_stay_on_disk(tmp_path: Path) -> None:
    rows = [
        {
            "image": {"bytes": RED, "path": None},
            "thumb": {"bytes": BLUE, "path": None},
            "question": "?",
            "raw": BLUE,
        }
    ]
    path = write_parquet(tmp_path / "my.parquet", rows)
    assert {"thumb", "raw"} < {*read_header(path)}
    from benchc.sources.rows import read_rows

    (row,) = read_rows(path)
    assert (row.values["thumb"], row.values["raw"], row.images) == ("", "", [(RED, None)])
    (row,) = read_rows(path, images=False)
    assert row.images == [] and row.values["question"] == "?"


def test_many_images_are_read_in_bounded_pieces(tmp_path: Path) -> None:
    # Decoders ignore what follows an image.
    questions = [question(number, [image_bytes((number, 0, 0)) + bytes(2**22)]) for number in range(30)]
    path = write_as_folder(tmp_path, questions)
    with opened_source(path, "s", folder=tmp_path) as found:
        assert "images" not in found.texts.columns
        sizes = [frame.height for frame in found.frames()]
        assert sum(sizes) == 30 and max(sizes) <= 8
        assert pl.concat(found.frames({"s/3", "s/29"}))["id"].to_list() == ["s/3", "s/29"]
        assert found.images["pixels"].n_unique() == 30 and found.rows == 30
    assert sorted(file.name for file in tmp_path.iterdir()) == ["img", "my.csv"]


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["A", "B", "a.png", "../a.png", "/etc/passwd", "[", "['x']", "0", encoded(RED)]),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=3), each, max_size=2),
    max_leaves=5,
)
NAMES = st.sampled_from(
    ["index", "image", "images", "question", "options", "A", "B", "answer", "category", "hint"]
)
FUZZ = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
READERS = st.builds(
    ReaderOptions,
    answer_form=st.sampled_from(["letter", "index", "text"]),
    open_ended=st.booleans(),
    pixel_keys=st.booleans(),
)
GOOD = {
    "image": encoded(RED),
    "question": "?",
    "options": ["A", "y"],
    "A": "A",
    "B": "y",
    "answer": "A",
    "index": "g",
}


def check_read(path: Path, options: ReaderOptions) -> None:
    """Read a file: it has items and a report of all other rows, or it is refused in one line."""
    try:
        with opened_source(path, "s", options) as found:
            kept = found.texts.height
            rejected = found.report.filter(kind="rejected").height
            assert kept + rejected == found.rows
            assert sum(frame.height for frame in found.frames()) == kept
            assert found.texts["options"].list.len().is_between(0, 26).all()
    except SourceError as error:
        assert "\n" not in str(error)


@FUZZ
@given(st.lists(st.dictionaries(NAMES, VALUES) | VALUES, max_size=4), READERS, st.booleans())
@example(rows=[{"\n": None}], options=ReaderOptions(), good=False)
def test_any_json_lines_are_items_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, rows: list[object], options: ReaderOptions, good: bool
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / "my.jsonl"
    write_json_lines(
        path, [GOOD | {"answer": "0" if options.answer_form == "index" else "A"}, *rows] if good else rows
    )
    check_read(path, options)


@FUZZ
@given(st.binary(max_size=60), READERS, st.sampled_from(["my.jsonl", "my.csv", "my.parquet", "my.tsv"]))
def test_any_bytes_are_items_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, options: ReaderOptions, name: str
) -> None:
    path = tmp_path_factory.mktemp("fuzz") / name
    path.write_bytes(data)
    check_read(path, options)


@FUZZ
@given(st.lists(st.dictionaries(NAMES, VALUES.map(str)), min_size=1, max_size=4), READERS, st.booleans())
def test_any_csv_is_items_or_one_sentence(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]], options: ReaderOptions, good: bool
) -> None:
    rows = [{name: text.encode(errors="replace").decode() for name, text in row.items()} for row in rows]
    path = write_csv(tmp_path_factory.mktemp("fuzz") / "my.csv", [GOOD, *rows] if good else rows)
    check_read(path, options)
