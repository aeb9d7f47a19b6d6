import io
import os
import shutil
import string
from contextlib import nullcontext
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
from benchc.sources.hub_parquet import MOST_PACKED, ROWS_AT_ONCE, opened_parquet
from benchc.sources.image_names import file_below
from benchc.sources.item_images import pixel_digest
from benchc.sources.reader_options import ReaderOptions
from benchc.sources.references import AnswerFile, read_references
from benchc.sources.rows import data_file, read_header, read_rows, referenced_files
from benchc.sources.vlmevalkit import opened_source, read_vlmevalkit
from benchc.user_table import read_user_table
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
from tests.sources.tsv_files import BLUE, RED, encoded, image_bytes, write_tsv


def rgba() -> bytes:
    file = io.BytesIO()
    PIL.Image.new("RGBA", (9, 7), (10, 20, 30, 40)).save(file, "PNG")
    return file.getvalue()


ROW = {"image": encoded(RED), "question": "?", "options": ["x", "y"]}
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


def test_the_same_questions_are_the_same_items_in_every_format(tmp_path):
    expected = facts(write_as_tsv(tmp_path, QUESTIONS))
    assert [row["id"] for row in expected] == ["s/9", "s/10", "s/11"]
    assert [len(row["options"]) for row in expected] == [3, 2, 26]
    assert [len(row["images"]) for row in expected] == [2, 1, 1]
    assert facts(write_as_folder(tmp_path, QUESTIONS)) == expected
    assert facts(write_as_json_lines(tmp_path, QUESTIONS, paths=True)) == expected
    assert facts(write_as_json_lines(tmp_path, QUESTIONS, paths=False)) == expected
    assert facts(write_as_parquet(tmp_path, QUESTIONS)) == expected


def test_a_row_may_name_the_row_that_has_its_image(tmp_path):
    questions = [question(1, "2"), question(2, [BLUE])]
    expected = facts(write_as_tsv(tmp_path, questions))
    assert expected[0]["images"] == [pixel_digest(BLUE)]
    assert facts(write_as_folder(tmp_path, questions)) == expected
    assert facts(write_as_json_lines(tmp_path, questions, paths=False)) == expected
    rows = [{"image": 2, **question(1, "")}, {"image": encoded(BLUE), **question(2, "")}]
    rows = [{name: value for name, value in row.items() if name != "images"} for row in rows]
    assert facts(write_json_lines(tmp_path / "number.jsonl", rows)) == expected


def test_a_folder_of_images_as_hugging_face_lays_it_out(tmp_path):
    write_as_folder(tmp_path, QUESTIONS[:1], "metadata.csv", "file_name")
    write_csv(tmp_path / "other.csv", [{"a": "b"}])
    assert data_file(tmp_path) == tmp_path / "metadata.csv"
    # Images are named by a column, by which rows share them.
    options = ReaderOptions(image_column="file_name")
    assert facts(tmp_path / "metadata.csv", options)[0]["image_keys"] == ["s://img/10_0.png"]


def test_rows_without_an_index_are_numbered_over_all_shards(tmp_path):
    image = {"bytes": RED, "path": "a.png"}
    rows = [{"image": image, "question": "?", "choices": ["x", "y"], "answer": 1}] * 3
    for shard, others in enumerate(({}, {"of the second alone": 1})):
        write_parquet(tmp_path / f"test-{shard:05}-of-00002.parquet", [row | others for row in rows])
    path = data_file(tmp_path)
    assert path.name == "test-00000-of-00002.parquet"
    assert read_header(path) == ["image", "question", "choices", "answer", "A", "B", "index"]
    (tmp_path / "test-00001-of-00002 (1).parquet").touch()  # as a browser names a second copy
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
    # The second twice.
    shutil.copy(path, tmp_path / "test-00001-of-00002.parquet")
    (tmp_path / "test-00000-of-00002-0123abcd.parquet").rename(
        tmp_path / "test-00001-of-00002-0123abcd.parquet"
    )
    with pytest.raises(SourceError, match="has the numbers 0, 1, 1; fetch all"):
        read_vlmevalkit(path, "s", ReaderOptions(answer_form="index"))


def test_class_labels_that_are_numbers_are_no_indices(tmp_path):
    plain = {"image": {"bytes": RED, "path": "a.png"}, "question": "?", "choices": ["w", "x", "y", "z"]}
    rows = [plain | {"answer": number, "category": number} for number in range(4)]
    names = ["1", "2", "3", "4"]
    path = write_parquet(tmp_path / "my.parquet", rows, {"answer": names, "category": names})
    found = facts(path, ReaderOptions(answer_form="index"))
    assert [(row["answer"], row["category"]) for row in found] == [(0, "1"), (1, "2"), (2, "3"), (3, "4")]
    path = write_parquet(tmp_path / "my.parquet", rows, {"answer": [1, 2, 3, 4]})
    assert [row["answer"] for row in facts(path, ReaderOptions(answer_form="index"))] == [0, 1, 2, 3]
    letters = write_parquet(tmp_path / "letters.parquet", rows, {"answer": [*"DCBA"]})
    assert [row["answer"] for row in facts(letters)] == [3, 2, 1, 0]
    renamed = [plain | {"label": number} for number in range(4)]
    path = write_parquet(tmp_path / "renamed.parquet", renamed, {"label": names})
    found = facts(path, ReaderOptions(answer_form="index", columns={"answer": "label"}))
    assert [row["answer"] for row in found] == [0, 1, 2, 3]


def test_a_number_that_is_no_class_stays_a_number(tmp_path):
    # Hugging Face writes -1 where a class is not known.
    row = {"image": {"bytes": RED, "path": None}, "question": "?", "choices": ["x", "y"]}
    rows = [row | {"answer": answer} for answer in (1, -1, 2, 3, None)]
    ids, found = reasons(write_parquet(tmp_path / "my.parquet", rows, {"answer": ["A", "B"]}))
    assert ids == ["s/0"]
    mend = " (answer_form of the source's reader may be index)"
    mends = {"-1": "", "2": mend, "3": "", "": ""}
    assert found == [f"the answer '{text}' is not one option letter{mend}" for text, mend in mends.items()]


@pytest.mark.parametrize(
    "metadata",
    [
        *(b"{", b"[]", b'{"info": 3}', b'{"info": {}}', b'{"info": {"features": []}}'),
        *(b'{"info": {"features": {"answer": %s}}}' % text for text in (b"3", b'{"_type": "ClassLabel"}')),
        b'{"info": {"features": {"answer": {"_type": "ClassLabel", "names": 3}}}}',
        *(
            b'{"info": {"features": {"answer": {"_type": "%s", "names": ["x", "y"]}}}}' % kind
            for kind in (b"Value", b"Audio")
        ),
    ],
)
def test_metadata_that_name_no_classes_change_nothing(tmp_path, metadata):
    row = {"image": RED, "question": "?", "choices": ["x", "y"], "answer": 1}
    table = pa.Table.from_pylist([row]).replace_schema_metadata({"huggingface": metadata})
    pq.write_table(table, tmp_path / "my.parquet")
    (found,) = facts(tmp_path / "my.parquet", ReaderOptions(answer_form="index"))
    assert (found["answer"], found["images"]) == (1, [pixel_digest(RED)])


def test_a_small_parquet_file_with_a_large_column_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("benchc.sources.hub_parquet.LARGEST_UNPACKED", 2**20)
    path = tmp_path / "my.parquet"
    pq.write_table(pa.table({"index": [1], "question": ["a" * (2**20 + 1)]}), path, compression="zstd")
    assert path.stat().st_size < 2**20 / MOST_PACKED
    with pytest.raises(SourceError, match=r"a row group has 1,04.,.* bytes when it is unpacked"):
        read_vlmevalkit(path, "s")
    # As many bytes as a row group may have, or so many times those of the file, are accepted.
    most = pq.read_metadata(path).row_group(0).total_byte_size
    for limits in ((most, 0), (1, most // path.stat().st_size + 1)):
        for name, limit in zip(("LARGEST_UNPACKED", "MOST_PACKED"), limits, strict=True):
            monkeypatch.setattr(f"benchc.sources.hub_parquet.{name}", limit)
        with opened_parquet(path, "Set") as file:
            assert file.names == ["index", "question"]


@pytest.mark.parametrize(("mebibytes", "is_read"), [(63, True), (65, False)])
def test_a_row_group_of_a_small_file_has_64_mib_at_most(tmp_path, mebibytes, is_read):
    pq.write_table(
        pa.table({"a": [b"x" * (mebibytes << 20)]}),
        tmp_path / "my.parquet",
        compression="zstd",
        use_dictionary=False,
        write_statistics=False,
    )
    refused = pytest.raises(SourceError, match="bytes when it is unpacked, of a small file; fetch it again")
    with nullcontext() if is_read else refused, opened_parquet(tmp_path / "my.parquet", "Set") as file:
        assert file.names == ["a"]


def test_rows_of_a_data_set_are_counted_from_1(tmp_path):
    path = write_parquet(tmp_path / "my.parquet", [{"n": number, "x": 0} for number in range(20)])
    with opened_parquet(path, "Set") as file:
        assert [*file.rows(["n"])] == [(f"{path}: row {n + 1}", {"n": n}) for n in range(20)]
        with pytest.raises(SourceError, match=r"my\.parquet: has no column 'm'; give a Parquet file of Set$"):
            next(file.rows(["n", "m", "l"]))


def test_a_table_that_would_fill_the_memory_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": ["same"] * 10**5}), path)
    assert path.stat().st_size < 10**4 and read_user_table(path, ["id"]).height == 10**5
    monkeypatch.setattr("benchc.sources.hub_parquet.LARGEST_TABLE", 2**18)
    with pytest.raises(SourceError, match=r"has more than 262,144 bytes when it is unpacked; give fewer"):
        read_user_table(path, ["id"])
    few = pa.table({"id": ["same"] * 9})
    pq.write_table(few, path)
    monkeypatch.setattr("benchc.sources.hub_parquet.LARGEST_TABLE", few.nbytes)
    assert read_user_table(path, ["id"]).height == 9
    monkeypatch.setattr("benchc.sources.hub_parquet.LARGEST_TABLE", few.nbytes - 1)
    with pytest.raises(SourceError, match=rf"has more than {few.nbytes - 1} bytes when it is unpacked"):
        read_user_table(path, ["id"])
    # The rows after those that may be in memory are not left out.
    many = pa.table({"id": ["same"] * ROWS_AT_ONCE + ["a longer one"] * ROWS_AT_ONCE})
    pq.write_table(many, path)
    monkeypatch.setattr("benchc.sources.hub_parquet.LARGEST_UNPACKED", 1)
    monkeypatch.setattr("benchc.sources.hub_parquet.LARGEST_TABLE", 2 * many.slice(0, ROWS_AT_ONCE).nbytes)
    with pytest.raises(SourceError, match=r"has more than \d+ bytes when it is unpacked"):
        read_user_table(path, ["id"])
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(SourceError, match=r"folder.parquet: is a folder; give a Parquet file"):
        read_user_table(tmp_path / "folder.parquet", ["id"])


@pytest.mark.parametrize(
    ("text", "rows", "pieces"), [("x", 10**5, [2**16, 10**5 - 2**16]), ("x" * 999, 2000, None)]
)
def test_a_table_is_read_in_pieces_of_64_mib_and_65536_rows_at_most(
    tmp_path, monkeypatch, text, rows, pieces
):
    read: list[int] = []
    record_batch = pa.record_batch
    monkeypatch.setattr(
        pa, "record_batch", lambda arrays, **of: read.append(len(arrays[0])) or record_batch(arrays, **of)
    )
    pq.write_table(pa.table({"id": [text] * rows}), tmp_path / "a.parquet")
    if pieces is None:
        monkeypatch.setattr("benchc.sources.hub_parquet.LARGEST_UNPACKED", 2**20)
        # One text is in the file, so that each row might have all its bytes.
        size = pq.read_metadata(tmp_path / "a.parquet").row_group(0).total_byte_size
        pieces = [2**20 // size] * (rows * size // 2**20)
    assert read_user_table(tmp_path / "a.parquet", ["id"]).height == rows
    assert read[: len(pieces)] == pieces
    # Of a table that is refused, no piece is read after the one that exceeds the limit.
    read.clear()
    monkeypatch.setattr("benchc.sources.hub_parquet.LARGEST_TABLE", 1)
    with pytest.raises(SourceError, match="has more than 1 bytes when it is unpacked"):
        read_user_table(tmp_path / "a.parquet", ["id"])
    assert read == pieces[:1]


def test_a_dictionary_counts_once_and_not_for_each_batch(tmp_path, monkeypatch):
    ids = [f"item {number % 1000:04}" for number in range(20_000)]
    table = pa.table({"id": pa.array(ids).dictionary_encode(), "x": [0.5] * len(ids)})
    pq.write_table(table, tmp_path / "a.parquet")
    monkeypatch.setattr("benchc.sources.hub_parquet.LARGEST_UNPACKED", 1000)  # many batches
    monkeypatch.setattr("benchc.sources.hub_parquet.MOST_PACKED", 10**6)
    monkeypatch.setattr("benchc.sources.hub_parquet.LARGEST_TABLE", 2**20)
    found = read_user_table(tmp_path / "a.parquet", ["x", "id"])
    assert found["id"].to_list() == ids and found["row"].to_list() == [*range(1, len(ids) + 1)]
    pq.write_table(table.slice(0, 0), tmp_path / "empty.parquet")
    pq.ParquetWriter(tmp_path / "without_groups.parquet", table.schema).close()
    for name in ("empty", "without_groups"):
        assert read_user_table(tmp_path / f"{name}.parquet", ["id"]).height == 0


def test_a_parquet_file_with_texts_that_are_none_is_refused(tmp_path):
    texts = pa.array([b"fine", b"\xff\xfe"], pa.binary())
    column = pa.Array.from_buffers(pa.string(), 2, texts.buffers())
    pq.write_table(pa.table({"id": column}), tmp_path / "a.parquet")
    with pytest.raises(SourceError, match=r"a\.parquet: is damaged \(.*UTF8.*\); copy it again"):
        read_user_table(tmp_path / "a.parquet", ["id"])


def test_a_parquet_file_with_a_column_twice_is_refused(tmp_path):
    table = pa.table([["a"], ["b"]], names=["question", "question"])
    pq.write_table(table, tmp_path / "my.parquet")
    with pytest.raises(SourceError, match="has several columns 'question'; rename or remove them"):
        read_vlmevalkit(tmp_path / "my.parquet", "s")


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        ([], "has no csv, JSON Lines or Parquet file; add metadata.csv"),
        ([".a.csv", "a.txt"], "has no csv, JSON Lines or Parquet file"),
        (["a.csv", "b.jsonl"], "has data in a.csv, b.jsonl; name one of these files"),
        ([f"{name}.csv" for name in "fedcba"], "has data in a.csv, b.csv, c.csv, d.csv, e.csv; name"),
        (
            ["test-00000-of-00001.parquet", "train-00000-of-00002.parquet", "train-00001-of-00002.parquet"],
            "has data in test-00000-of-00001.parquet, train-00000-of-00002.parquet; name one",
        ),
    ],
)
def test_a_folder_without_one_data_file_is_refused(tmp_path, names, sentence):
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(SourceError, match=sentence):
        data_file(tmp_path)


def test_columns_of_other_names_are_read(tmp_path):
    image, other = ({"bytes": data, "path": None} for data in (RED, BLUE))
    columns = {"index": "id", "image": ["image_1", "image_2"], "question": "prompt", "options": "list"}
    columns |= {"answer": "label", "category": "kind"}
    names = ["id", "image_1", "image_2", "prompt", "list", "label", "kind"]
    rows = [
        ("a", image, other, "?", ["x", "y"], "y", "k"),
        ("b", image, None, "?", ["x", "x"], "x", "k"),
        ("c", image, None, "?", ["x", "y"], "z", "k"),
        ("d", image, None, "?", ["x", "y"], "x", "k"),
    ]
    path = write_parquet(tmp_path / "my.parquet", [dict(zip(names, row, strict=True)) for row in rows])
    options = ReaderOptions(columns=columns, answer_form="text", exclude={"kind": "none"})
    items, report = read_vlmevalkit(path, "s", options)
    assert items.select("id", "answer", "category").rows() == [("s/a", 1, "k"), ("s/d", 0, "k")]
    assert [[image["bytes"] for image in row] for row in items["images"].to_list()] == [[RED, BLUE], [RED]]
    assert report["line"].to_list() == [2, 3]
    assert report["reason"].to_list() == [
        "the answer 'x' is the text of 2 options",
        "the answer 'z' is the text of no option",
    ]
    row_of_tsv = {"index": "a", "image": encoded(RED), "ask": "What?", "A": "x", "B": "y", "answer": "A"}
    path_of_tsv = write_tsv(tmp_path / "my.tsv", [row_of_tsv])
    assert facts(path_of_tsv, ReaderOptions(columns={"question": "ask"}))[0]["question"] == "What?"
    for name, own in (("category", "topic"), ("image", ["image_1", "topic", "place"])):
        sentence = rf"has no column 'topic', which columns\.{name} names; its"
        with pytest.raises(SourceError, match=sentence):
            read_vlmevalkit(path, "s", ReaderOptions(columns={name: own}))


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        *((0, 0), ("1", 1), ("1.0", 1), (2, "the answer is option 2 from 0, which has no text")),
        *(
            (answer, f"the answer '{text}' is not the index of an option, from 0")
            for answer, text in ((-1, "-1"), ("A", "A"), (True, "true"), (None, ""), (1e300, "1e+300"))
        ),
    ],
)
def test_an_index_is_counted_from_0_where_a_key_says_so(tmp_path, answer, found):
    path = write_json_lines(tmp_path / "my.jsonl", [{**ROW, "answer": 0}, {**ROW, "answer": answer}])
    items, report = read_vlmevalkit(path, "s", ReaderOptions(answer_form="index"))
    assert [*items["answer"][1:], *report["reason"]] == [found]
    # Without the key, no number is taken for an option.
    ids, _ = reasons(write_json_lines(path, [{**ROW, "answer": "B"}, {**ROW, "answer": answer}]))
    assert ids == (["s/0", "s/1"] if answer == "A" else ["s/0"])


@pytest.mark.parametrize(
    ("answers", "zeros"),
    [
        ([1, 2, 1], "none of the rows that can be read has"),
        ([2, 2, 2], "none of the rows that can be read has"),
        ([0, *[2] * 11, 1], "only 1 of the rows that can be read has"),
        ([0, 0, *[2] * 21], "only 2 of the rows that can be read have"),
        # Of a file that counts from 0, the last option may be absent.
        ([0, *[2] * 10, 1], None),
        ([1, 3, 1], None),
        ([1, 1, 1], None),
        ([0, 2, 1], None),
        ([0, 0, 2, 2], None),
    ],
)
def test_answers_that_are_counted_from_1_are_refused(tmp_path, answers, zeros):
    path = write_json_lines(tmp_path / "my.jsonl", [{**ROW, "answer": answer} for answer in answers])
    options = ReaderOptions(answer_form="index")
    if zeros:
        text = (
            rf"{answers.count(2)} answers? \(the first in line {answers.index(2) + 1}\) would name an option "
            f"if the first were number 1, and {zeros} the answer 0; if the file counts from 1, subtract 1 "
        )
        with pytest.raises(SourceError, match=rf"my\.jsonl: {text}"):
            read_vlmevalkit(path, "s", options)
    else:
        assert read_vlmevalkit(path, "s", options)[0]["answer"].to_list() == [n for n in answers if n < 2]


@pytest.mark.parametrize(
    ("answers", "noted"), [([1] * 10, True), ([1] * 9, False), ([0, *[1] * 9], False), (["B"] * 10, False)]
)
def test_a_file_none_of_whose_answers_is_0_has_a_note(tmp_path, answers, noted):
    path = write_json_lines(tmp_path / "my.jsonl", [{**ROW, "answer": answer} for answer in answers])
    form = "index" if isinstance(answers[0], int) else "letter"
    _, report = read_vlmevalkit(path, "s", ReaderOptions(answer_form=form))
    why = "no answer of the rows that are read is 0; if the file counts from 1, subtract 1 from all"
    assert report.rows() == ([("s/0", 1, "note", why)] if noted else [])


@pytest.mark.parametrize(
    ("answer", "form"),
    [
        ("1", "index"),
        ("2", "index"),
        ("1.0", "index"),
        ("3", "text"),
        ("y", "text"),
        ("7", None),
        ("zz", None),
    ],
)
def test_an_answer_that_is_no_letter_names_the_key(tmp_path, answer, form):
    row = {**ROW, "options": ["x", "y"] if answer != "3" else ["1", "3", "4"]}
    path = write_json_lines(tmp_path / "my.jsonl", [{**row, "answer": "A"}, {**row, "answer": answer}])
    mend = f" (answer_form of the source's reader may be {form})" if form else ""
    assert reasons(path)[1] == [f"the answer '{answer}' is not one option letter{mend}"]


def test_an_answer_that_is_an_empty_option_is_not_counted_from_1(tmp_path):
    rows = [{**ROW, "answer": 1}, {**ROW, "options": ["x", None, "y"], "answer": 1}]
    path = write_json_lines(tmp_path / "my.jsonl", rows)
    assert reasons(path, ReaderOptions(answer_form="index")) == (
        ["s/0"],
        ["the answer is option 1 from 0, which has no text"],
    )


@pytest.mark.parametrize("text", ["['red', 'blue']", '["red", "blue"]'])
def test_a_list_of_options_may_be_text(tmp_path, text):
    (tmp_path / "a.png").write_bytes(RED)
    rows = [{"image": "a.png", "question": "?", "options": text, "answer": "B"}]
    assert facts(write_csv(tmp_path / "my.csv", rows))[0]["options"] == ["red", "blue"]


def test_a_row_without_options_in_a_list_is_open_ended_where_a_key_says_so(tmp_path):
    row = ROW | {"answer": "A"}
    rows = [row, row | {"options": [], "answer": "a dog"}, row | {"options": None, "answer": "a cat"}]
    path = write_json_lines(tmp_path / "my.jsonl", rows)
    assert [row["options"] for row in facts(path, ReaderOptions(open_ended=True))] == [["x", "y"], [], []]
    items, report = read_vlmevalkit(path, "s")
    assert items.height == 1 and report.height == 2


def test_columns_of_letters_have_the_options_also_beside_a_list(tmp_path):
    path = write_json_lines(tmp_path / "my.jsonl", [ROW | {"A": "p", "B": "q", "answer": "B"}])
    assert facts(path)[0]["options"] == ["p", "q"]


def test_answers_to_open_questions_are_found_by_the_same_columns(tmp_path):
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
        ("../secret.png", "below the folder of the data without '..'; correct it, or copy the file there"),
        ("sub/../../secret.png", "is not a path below the folder of the data"),
        ("{folder}/inside.png", "is not a path below the folder of the data"),
        ("..", "image '..' is not a path below the folder of the data"),
        ("link.png", "image 'link.png' is a link out of the folder of the data; copy the file there"),
        ("up/secret.png", "image 'up/secret.png' is a link out of the folder of the data"),
        ("loop.png", "'loop.png' is neither a file below the folder of the data, an image in base64, nor"),
        *((name, f"image '{name}' is neither a file") for name in ("pipe.png", "sub", "absent.png")),
        # An absolute path without a dot might be base64.
        ("/etc/passwd", "image '/etc/passwd' is neither a file"),
        # Up to 64 characters may be the index of a row, and more than 1024 are no path.
        ("a" * 60 + ".png", f"image '{'a' * 60}.png' is neither a file"),
        ("a" * 61 + ".png", f"image '{'a' * 56}.png' is no file below the folder of the data"),
        ("a" * 300 + ".png", f"image '{'a' * 56}.png' is no file below the folder of the data"),
        ("a/" * 510 + ".png", f"{'a/' * 28}.png' is no file below the folder of the data"),
        ("a/" * 510 + "a.png", "image 1 is not base64"),
        ("x\0.png", "contains a NUL character"),
        ("img/absent.png", "image 'img/absent.png' is no file below the folder of the data"),
        ("x\udc80.png", "contains half of a character"),
        ("broken.png", "image 1: these 40 bytes are not a complete image"),
    ],
)
def test_an_image_out_of_the_folder_is_refused(outside, name, reason):
    (outside / "broken.png").write_bytes(RED[:40])
    images = ("good.png", name.format(folder=outside))
    rows = [ROW | {"answer": "A", "image": image} for image in images]
    ids, (found,) = reasons(write_json_lines(outside / "my.jsonl", rows))
    assert ids == ["s/0"] and reason in found


def test_an_image_file_has_a_largest_size(tmp_path):
    image = tmp_path / "a.png"
    image.touch()
    path = write_json_lines(tmp_path / "my.jsonl", [ROW | {"answer": "A", "image": "a.png"}])
    os.truncate(image, 201_326_592)  # zeros that take no place on the disk
    assert file_below(tmp_path, "a.png") == image
    os.truncate(image, 201_326_593)
    sentence = "image 'a.png' has 201,326,593 bytes, and the limit is 201,326,592"
    with pytest.raises(SourceError, match=sentence):
        read_vlmevalkit(path, "s")


def test_a_line_of_json_has_a_largest_size(tmp_path, monkeypatch):
    path = write_json_lines(tmp_path / "my.jsonl", [{"a": "b"}, {"a": "bb"}])
    monkeypatch.setattr("benchc.sources.rows.LARGEST_LINE", len('{"a": "bb"}\n'))
    assert [row.values["a"] for row in read_rows(path)] == ["b", "bb"]
    monkeypatch.setattr("benchc.sources.rows.LARGEST_LINE", len('{"a": "bb"}'))
    with pytest.raises(SourceError, match=r"line 2 has more than 11 bytes; write one JSON object per line"):
        [*read_rows(path)]


def test_the_image_files_that_a_file_names_are_found_without_its_images_in_base64(tmp_path, monkeypatch):
    for name in "abc":
        (tmp_path / f"{name}.png").write_bytes(RED)
    rows = [{"image": "a.png"}, {"image": "[3"}, {"image": ["b.png", 7]}, {"image": "../c.png"}]
    rows += [{"image": "absent"}, {"image": "b.png"}, {"other": "c.png"}]
    long = {"image": "c.png", "note": "x" * 100}
    path = write_json_lines(tmp_path / "my.jsonl", [*rows, long])
    line = len(path.read_bytes().splitlines(keepends=True)[-1])
    for longest, last in ((line, ["c.png"]), (line - 1, [])):
        monkeypatch.setattr("benchc.sources.rows.LONGEST_WITH_PATHS", longest)
        assert [file.name for file in referenced_files(path)] == ["a.png", "b.png", "b.png", *last]
    assert [file.name for file in referenced_files(path, {"image": "other"})] == ["c.png"]
    both = referenced_files(path, {"image": ["other", "image"]})
    assert [file.name for file in both] == ["a.png", "b.png", "b.png", "c.png"]
    assert [file.name for file in referenced_files(write_csv(tmp_path / "my.csv", rows[:1]))] == ["a.png"]
    for other in (write_tsv(tmp_path / "my.tsv", rows[:1]), write_parquet(tmp_path / "my.parquet", rows[:1])):
        assert [*referenced_files(other)] == []


def test_the_path_of_a_parquet_file_without_bytes_is_one_below_its_folder(outside):
    images = [{"bytes": None, "path": path} for path in ("inside.png", "../secret.png")]
    rows = [ROW | {"answer": "A", "image": image} for image in images]
    ids, (found,) = reasons(write_parquet(outside / "my.parquet", rows))
    assert ids == ["s/0"] and "is not a path below the folder" in found


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (b"{", "is no JSON ("),
        *((line, "is no JSON object") for line in (b"[1]", b"7")),
        (b"\xff\xfe", "is no JSON ("),
        (b"[" * 10**5, "is no JSON (it is nested too deeply)"),
        (b'{"question": ' + b"9" * 5000 + b"}", "is no JSON ("),
        (b'{"question": "a", "answer": "A", "answer": "B"}', "gives 'answer' twice"),
        (b'{"%b": 1, "%b": 2}' % (b"a" * 41, b"a" * 41), f"gives '{'a' * 40}' twice"),
        (b'{"question": "\\u0000"}', "contains a NUL character"),
        (b'{"question": "\\ud800"}', "contains half of a character"),
        (b'{"question": NaN, "image": "a.png", "options": ["x", "y"], "answer": "A"}', "has no question"),
        (b'{"question": "?", "options": "red", "answer": "A"}', "its options are no list of texts"),
        (b'{"question": "?", "options": [["x"], "y"], "answer": "A"}', "its options are no list of texts"),
        (
            b'{"question": "?", "options": "(\'x\', \'y\')", "answer": "A"}',
            "its options are no list of texts",
        ),
        *(
            (
                b'{"question": "?", "options": "[%b, \'y\']", "answer": "A"}' % text,
                "its options are no list of",
            )
            for text in (b"('x',)", b"b'x'", b"['x']", b"{'x': 1}")
        ),
        # Several images, of which none is the index of a row.
        (b'{"question": "?", "options": ["x", "y"], "answer": "A", "image": ["0", "0"]}', "image 1 is not"),
        (b'{"question": "?", "options": [' + b'"x",' * 26 + b'"x"]}', "has 27 options, more than"),
        (b'{"question": "?", "options": ["x", null, "y"], "answer": "A"}', "option B is empty"),
        (b'{"question": "?", "options": ["x", "y"], "answer": "A", "image": []}', "has no image"),
        (b'{"question": "?", "options": ["x", "y"], "answer": "A", "image": "[3"}', "image '[3' is neither"),
        (
            b'{"question": "?", "options": ["x", "y"], "answer": "A", "image": "[]"}',
            "has a list of images that is empty",
        ),
    ],
)
def test_a_bad_line_is_a_rejected_row(tmp_path, line, reason):
    (tmp_path / "a.png").write_bytes(RED)
    good = b'{"question": "?", "options": ["x", "y"], "answer": "A", "image": "a.png"}\n'
    (tmp_path / "my.jsonl").write_bytes(good + line + b"\n\n" + good)
    items, report = read_vlmevalkit(tmp_path / "my.jsonl", "s")
    assert items["id"].to_list() == ["s/0", "s/2"]
    assert report["line"].to_list() == [2] and report["reason"][0].startswith(reason)


def test_a_bad_row_of_a_csv_and_of_parquet_is_rejected(tmp_path):
    (tmp_path / "a.png").write_bytes(RED)
    row = {"image": "a.png", "question": "?", "A": "x", "B": "y", "answer": "A"}
    path = write_csv(
        tmp_path / "my.csv", [row, row | {"answer": "C"}, row | {"B": "nan"}, row | {"answer": "ab"}]
    )
    path.write_text(path.read_text() + "a.png,?\n")
    ids, found = reasons(path)
    assert ids == ["s/0"] and found == [
        "the answer is C, an option without text",
        "has fewer than two options (1)",
        "the answer 'ab' is not one option letter",
        "has 2 fields where the header has 5",
    ]
    rows = [row | {"image": {"bytes": data, "path": None}} for data in (RED, RED[:50], None)]
    ids, found = reasons(write_parquet(tmp_path / "my.parquet", rows))
    assert ids == ["s/0"] and found[0].startswith("image 1: these 50 bytes are not a complete image")
    assert found[1] == "has no image"


def parquet_without_columns() -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table({}), file)
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "nothing.parquet",
            parquet_without_columns(),
            "has no column 'index'; its columns are none; add the column$",
        ),
        ("list.jsonl", b'[{"question": "?"}]', "is a JSON list; write one object per line"),
        ("empty.jsonl", b"", "has no JSON object; write one per line"),
        ("number.jsonl", b"7", "has no JSON object; write one per line"),
        ("text.parquet", b"version https://git-lfs.github.com/spec/v1", "is not a complete Parquet file"),
        ("semicolon.csv", b"image;question\n", "its columns are image;question, since its fields are not"),
        ("semicolon.jsonl", b'{"image;question": 1}', "its columns are image;question; name the column"),
        ("latin.csv", "image,größe\n".encode("latin-1"), "is not UTF-8"),
        ("cut.csv", b'image,question,answer\na.png,"?', "is not comma-separated text"),
        ("list.json", b"[]", ".json files are not read; convert it to a TSV, csv, JSON Lines"),
    ],
)
def test_a_file_that_is_none_is_one_sentence(tmp_path, name, content, sentence):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError, match=sentence):
        read_vlmevalkit(tmp_path / name, "s")


def test_a_damaged_parquet_file_is_refused(tmp_path):
    path = write_as_parquet(tmp_path, QUESTIONS)
    data = bytearray(path.read_bytes())
    start = pq.read_metadata(path).row_group(0).column(1).data_page_offset
    data[start : start + 60] = os.urandom(60)
    path.write_bytes(bytes(data))
    with pytest.raises(SourceError):
        read_vlmevalkit(path, "s")


def test_the_rows_before_a_gap_of_a_parquet_file_are_read(tmp_path):
    path = tmp_path / "my.parquet"
    pq.write_table(pa.table({"question": [*map(str, range(3000))]}), path, row_group_size=1000)
    last = pq.read_metadata(path).row_group(2).column(0)
    start, data = last.dictionary_page_offset, path.read_bytes()
    footer = data[-8 - int.from_bytes(data[-8:-4], "little") :]
    path.write_bytes(data[:start] + footer)
    with pytest.raises(SourceError, match="after row 2000 it is damaged"):
        [*read_rows(path)]


def test_images_of_columns_that_are_not_read_stay_on_disk(tmp_path):
    image, thumb = ({"bytes": data, "path": "a.png"} for data in (RED, BLUE))
    row = {"image": image, "thumb": thumb, "question": "?", "raw": BLUE}
    path = write_parquet(tmp_path / "my.parquet", [row])
    assert {"thumb", "raw"} < {*read_header(path)}
    (row,) = read_rows(path)
    assert (row.values["thumb"], row.values["raw"], row.images) == ("", "", [(RED, "a.png")])
    (row,) = read_rows(path, images=False)
    assert row.images == [] and row.values["question"] == "?"
    path = write_parquet(
        tmp_path / "bytes.parquet", [{"image": BLUE, "question": "?"}, {"image": b"", "question": "?"}]
    )
    assert [row.images for row in read_rows(path)] == [[(BLUE, None)], []]


def test_of_several_columns_of_a_text_the_first_is_read(tmp_path):
    row = {"image": {"bytes": RED, "path": None}, "x": 0, "y": 1, "o": ["a", "b"], "p": ["c", "d"]}
    # Of classes that are numbers, a right answer is the index.
    path = write_parquet(tmp_path / "my.parquet", [row], {"x": ["1", "0"], "y": ["no", "yes"]})
    (row,) = read_rows(path, {"answer": ["x", "y"], "hint": ["x", "y"], "options": ["o", "p"]})
    assert [row.values[name] for name in ("answer", "hint", "A", "B")] == ["0", "0", "a", "b"]


def test_a_column_of_paths_names_image_files_that_have_other_names(tmp_path):
    (tmp_path / "a.png").write_bytes(RED)
    row = ROW | {"answer": "A", "image_path": "b.png"}
    for path in (
        write_parquet(tmp_path / "my.parquet", [row | {"image": {"bytes": RED, "path": "a.png"}}]),
        write_json_lines(tmp_path / "my.jsonl", [row | {"image": "a.png"}]),
    ):
        ((image,),) = read_vlmevalkit(path, "s")[0]["images"].to_list()
        assert image == {"bytes": RED, "path": "b.png"}


def test_many_images_are_read_in_bounded_pieces(tmp_path, monkeypatch):
    # Decoders ignore what follows an image.
    images = [image_bytes((number, 0, 0)).ljust(2**22 + (number in (0, 8)), b"\0") for number in range(30)]
    questions = [question(number, [image]) for number, image in enumerate(images)]
    path = write_as_folder(tmp_path, questions)
    with opened_source(path, "s", folder=tmp_path) as found:
        assert "images" not in found.texts.columns
        # Of up to 32 MiB: eight have so much, but for two that have a byte more.
        assert [frame.height for frame in found.frames()] == [7, 7, 8, 8]
        monkeypatch.setattr("benchc.sources.vlmevalkit.ITEMS_AT_ONCE", 4)
        assert [frame.height for frame in found.frames()] == [4, 4, 4, 4, 4, 4, 4, 2]
        assert pl.concat(found.frames({"s/3", "s/29"}))["id"].to_list() == ["s/3", "s/29"]
        assert found.images["pixels"].n_unique() == 30 and found.rows == 30
    assert sorted(file.name for file in tmp_path.iterdir()) == ["img", "my.csv"]


TEXTS = st.sampled_from(["A", "B", "a.png", "../a.png", "/etc/passwd", "[", "['x']", "0", encoded(RED)])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | TEXTS,
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=3), each, max_size=2),
    max_leaves=5,
)
NAMES = st.sampled_from(
    ["index", "image", "images", "question", "options", "A", "B", "answer", "category", "hint"]
)
FORMS = st.sampled_from(["letter", "index", "text"])
READERS = st.builds(ReaderOptions, answer_form=FORMS, open_ended=st.booleans(), pixel_keys=st.booleans())
GOOD = ROW | {"options": ["A", "y"], "A": "A", "B": "y", "answer": "A", "index": "g"}


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


@settings(max_examples=160, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    rows=st.lists(st.dictionaries(NAMES, VALUES) | VALUES, max_size=4),
    options=READERS,
    good=st.booleans(),
    suffix=st.sampled_from(["jsonl", "csv"]),
)
@example(rows=[{"\n": None}], options=ReaderOptions(), good=False, suffix="jsonl")
def test_any_rows_are_items_or_one_sentence(tmp_path_factory, rows, options, good, suffix):
    path = tmp_path_factory.mktemp("fuzz") / f"my.{suffix}"
    first = [GOOD | {"answer": "0" if options.answer_form == "index" else "A"}] if good else []
    if suffix == "csv":
        rows = [{name: f"{value}" for name, value in row.items()} for row in rows if isinstance(row, dict)]
        rows = [{name: text.encode(errors="replace").decode() for name, text in row.items()} for row in rows]
        write_csv(path, [*first, *rows])
    else:
        write_json_lines(path, [*first, *rows])
    check_read(path, options)
