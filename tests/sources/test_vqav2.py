import errno
import json
import os
import random
import re
import struct
import subprocess
import sys
import tracemalloc
import zipfile
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.schemas.items import ITEMS
from benchc.sources import image_store, json_lists
from benchc.sources.error import InvalidRowError, SourceError
from benchc.sources.image_choice import chosen_images
from benchc.sources.vqav2 import read_questions
from tests.sources.tsv_files import image_bytes
from tests.sources.vqav2_files import (
    IMAGE_IDS,
    annotation,
    convert_vqav2,
    image_name,
    jpeg,
    question,
    read_vqav2,
    write_annotations,
    write_json,
    write_questions,
    write_vqav2,
    zipped,
)
from tests.stages import call_stage

RED = {"answer": "red"}
ROOT = Path(__file__).resolve().parents[2]


def test_an_item(tmp_path):
    text = '  Say "什么", or\nnot? '
    files = write_vqav2(
        tmp_path, [question(73, 4, text)], [annotation(73, 4, question_type="is the", answer_type="yes/no")]
    )
    items, report = read_vqav2(files, "v")
    assert dict(items.schema) == dict(pl.Schema(ITEMS.columns))
    assert items.to_dicts() == [
        {
            **{"id": "v/73004", "question": text, "hint": None, "options": [], "answer": None},
            **{"category": "is the", "l2_category": "yes/no"},
            "images": [{"bytes": jpeg(73), "path": "COCO_val2014_000000000073.jpg"}],
            "image_keys": ["v://COCO_val2014_000000000073"],
        }
    ]
    assert report.is_empty()


def test_questions_on_one_image_share_its_key_and_every_image_is_its_own(tmp_path):
    items, _ = read_vqav2(write_vqav2(tmp_path), "v")
    assert [*items["id"]] == [f"v/{id_}00{number}" for id_ in IMAGE_IDS for number in (0, 1)]
    for row in items.iter_rows(named=True):
        image_id = int(row["id"].removeprefix("v/")) // 1000
        assert row["image_keys"] == [f"v://{image_name(image_id).removesuffix('.jpg')}"]
        assert row["images"][0]["bytes"] == jpeg(image_id)


def test_zips_and_plain_files_give_the_same_items(tmp_path):
    plain = write_vqav2(tmp_path)
    packed = zipped(plain, tmp_path)
    expected = read_vqav2(plain, "v", 2)[0]
    for files in (packed, packed._replace(annotations=plain.annotations)):
        assert read_vqav2(files, "v", 2)[0].equals(expected)


def test_no_order_and_no_other_entries_change_anything(tmp_path):
    questions = [question(id_, number) for id_ in IMAGE_IDS for number in (0, 1)]
    annotations = [annotation(one["image_id"], one["question_id"] % 1000) for one in questions]
    files = write_vqav2(tmp_path, questions, annotations)
    expected, _ = read_vqav2(files, "v", 2)
    # Annotations of questions that are not asked, also two of one.
    annotations += [annotation(7), annotation(7)]
    for seed in range(3):
        order = random.Random(seed)
        write_questions(files.questions, order.sample(questions, 6))
        write_annotations(files.annotations, order.sample(annotations, 8))
        for path in files[:2]:
            write_json(path, dict(reversed(json.loads(path.read_text()).items())))
        assert read_vqav2(files, "v", 2)[0].equals(expected)


@given(st.sets(st.integers(0, 10**9), min_size=1, max_size=40), st.data())
@settings(max_examples=60)
def test_fewer_images_are_a_subset_in_an_order_that_is_not_that_of_the_ids(ids, data):
    names = {id_: str(id_) for id_ in ids}
    larger = data.draw(st.integers(1, len(ids)))
    smaller = data.draw(st.integers(1, larger))
    more = chosen_images(names, larger, Path("q"))
    assert len(more) == larger and more <= ids
    assert chosen_images(names, smaller, Path("q")) <= more
    assert chosen_images(dict(reversed(names.items())), larger, Path("q")) == more


def test_the_images_taken_do_not_follow_their_ids():
    names = {id_: str(id_) for id_ in range(1000)}
    taken = chosen_images(names, 500, Path("q"))
    assert 200 < len(taken & set(range(500))) < 300
    # Recorded: a change would make other benchmarks of the same configuration.
    assert sorted(chosen_images(names, 3, Path("q"))) == [97, 346, 628]


def test_all_questions_of_the_images_in_a_list_are_taken(tmp_path):
    files = write_vqav2(tmp_path)
    listed = tmp_path / "images.txt"
    listed.write_text(f"\ufeff{262148:019}\n\nval2014/{image_name(42)} \r\n", encoding="utf-8")
    items, _ = read_vqav2(files, "v", listed)
    assert [*items["id"]] == ["v/42000", "v/42001", "v/262148000", "v/262148001"]
    listed.write_text(f"COCO_val2014_{73:012d}\n")
    assert [*read_vqav2(files, "v", listed)[0]["id"]] == ["v/73000", "v/73001"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("42\n43\n", "line 2 is '43', which is no image of "),
        ("42\n\nCOCO_val2014_000000000042.jpg\n", "line 3 names the image of line 1; remove one"),
        ("COCO_train2014_000000000042.jpg\n", "line 1 is 'COCO_train2014_000000000042.jpg', which is no"),
        ("9" * 5000, f"line 1 is '{'9' * 60}', which is no image of "),
        ("0" * 18 + "42\n", f"line 1 is '{'0' * 18}42', which is no image of "),
        (" \n", "lists no image"),
        (b"\xff\xfe4", "is no text in UTF-8"),
        (None, "cannot be read (No such file or directory); correct take_images"),
    ],
)
def test_bad_lists_of_images(tmp_path, text, message):
    listed = tmp_path / "images.txt"
    if text is not None:
        listed.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SourceError, match=f"^{re.escape(str(listed))}: {re.escape(message)}"):
        read_vqav2(write_vqav2(tmp_path), "v", listed)


def test_fewer_images_than_asked_for_are_an_error(tmp_path):
    files = write_vqav2(tmp_path)
    assert read_vqav2(files, "v", 3)[0].height == 6
    with pytest.raises(SourceError, match=r"questions.json: take_images is 4, but .* about 3 images; lower"):
        read_vqav2(files, "v", 4)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (None, f"image {image_name(73)}: there is no such file among the images"),
        (b"", f"image {image_name(73)}: these 0 bytes are not a complete image"),
        (jpeg(73)[:-200], f"image {image_name(73)}: these"),
        (b"<html>", f"image {image_name(73)}: these 6 bytes are not a complete image in a known format"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_an_image_that_is_missing_or_damaged(tmp_path, data, reason, packed):
    files = write_vqav2(tmp_path)
    if data is None:
        (files.images / image_name(73)).unlink()
    else:
        (files.images / image_name(73)).write_bytes(data)
    if packed:
        files = zipped(files, tmp_path)
    items, report = read_vqav2(files, "v")
    assert {id_[:-1] for id_ in [*items["id"]]} == {"v/4200", "v/26214800"}
    rejected = [("v/73000", 4, "rejected"), ("v/73001", 5, "rejected")]
    assert report.select("id", "line", "kind").rows() == rejected
    assert all(text.startswith(reason) for text in report["reason"])
    listed = tmp_path / "images.txt"
    listed.write_text("42\n73\n")
    for take, number in ((3, 3), (listed, 2)):
        message = f": 1 of the {number} images of take_images .* {re.escape(reason)}.*; restore"
        with pytest.raises(SourceError, match=message):
            read_vqav2(files, "v", take)


def test_a_member_that_is_large_when_it_is_unpacked_is_not_read(tmp_path):
    files = zipped(write_vqav2(tmp_path), tmp_path)
    data = bytearray(files.images.read_bytes())
    for image_id, size in ((42, 2**29), (73, 2**29 + 1)):
        # The directory at the end has the size before the name.
        name = data.rindex(f"val2014/{image_name(image_id)}".encode())
        struct.pack_into("<I", data, name - 22, size)
    files.images.write_bytes(data)
    reasons = {*read_vqav2(files, "v")[1]["reason"]}
    assert reasons == {f"image {image_name(73)}: has more than 536,870,912 bytes when it is unpacked"}


@pytest.mark.parametrize("size", [1, 7, 2**16])
def test_brackets_in_texts_are_no_levels(tmp_path, size):
    entry = {"a": "[" * 1000, "b": '"' + "{\\" * 1000 + '\\"[', "c[": "\u005b]\\\\"}
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"x": [entry] * 10}) + " " * 8)
    with path.open("rb") as opened:
        file = json_lists._Bounded(path, opened)
        while file.read(size):
            pass
        assert file._depth == 0
    # The brackets before are those of the mapping, its list and the entry.
    plain, too_deep = (
        path.read_text(),
        pytest.raises(SourceError, match="has more than 100 lists or mappings"),
    )
    for levels, expected in ((97, nullcontext()), (98, too_deep)):
        path.write_text(plain.replace('"c[": "', '"c[": ' + "[" * levels + '"', 1))
        with path.open("rb") as opened, expected:
            file = json_lists._Bounded(path, opened)
            while file.read(size):
                pass


@pytest.mark.parametrize("before", [0, 2**16 - 500])  # the number crosses what is read at once
def test_a_number_has_a_largest_length(tmp_path, before):
    path = tmp_path / "list.json"
    path.write_text('{"x": ' + " " * before + '[{"a": 0.' + "1" * 999 + "}]}")
    assert [*json_lists.read_list(path, "x")] == [{"a": pytest.approx(1 / 9)}]
    path.write_text(path.read_text().replace("1}", "11}"))
    with pytest.raises(SourceError, match=r"has a number of 1,000 digits or more; give a file as published"):
        [*json_lists.read_list(path, "x")]


def test_errors_of_the_file_system_say_nothing_of_a_zip() -> None:
    errors = (OSError(errno.EIO, "x"), OSError(errno.EINVAL, "x"), OSError("x"), zipfile.BadZipFile("x"))
    assert [*map(json_lists.is_of_disk, errors)] == [True, False, False, False]


def test_an_entry_has_a_largest_size(tmp_path, monkeypatch):
    monkeypatch.setattr(json_lists, "LARGEST_ENTRY", 10**6)
    path = tmp_path / "list.json"
    path.write_text(json.dumps({"x": [{"a": "b" * 10**5}] * 20, "y": "z"}))
    assert len(list(json_lists.read_list(path, "x"))) == 20 and json_lists.read_value(path, "y") == "z"
    path.write_text(json.dumps({"x": [{"a": "b" * 10**5}, {"a": "b" * 2 * 10**6}]}))
    with pytest.raises(SourceError, match=r"an entry has more than 1,000,000 bytes"):
        list(json_lists.read_list(path, "x"))
    for size, expected in ((10**6, nullcontext()), (10**6 + 1, pytest.raises(SourceError, match="an entry"))):
        path.write_bytes(b" " * size)
        with path.open("rb") as opened, expected:
            json_lists._Bounded(path, opened).read(size)


def test_an_error_of_the_disk_rejects_no_row(tmp_path, monkeypatch):
    files = zipped(write_vqav2(tmp_path, [question(73)]), tmp_path)

    def fail(*_: object) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(zipfile.ZipFile, "read", fail)
    with pytest.raises(OSError, match="Input/output error"):
        read_vqav2(files, "v")


@pytest.mark.parametrize(
    ("of_question", "of_annotation", "reason"),
    [
        *(({"question": text}, {}, "has no question") for text in (" \n", None)),
        ({}, {"question_type": ""}, "has no question_type, the task type"),
        *(({}, {"multiple_choice_answer": truth}, "has no multiple_choice_answer") for truth in (" ", 2)),
        *(
            ({}, {"answers": texts}, "has no list of 10 answers")
            for texts in ([RED] * 9, [RED] * 11, [*[RED] * 10, "red"], ["red"] * 10, None)
        ),
    ],
)
def test_questions_that_cannot_become_items_are_in_the_report(tmp_path, of_question, of_annotation, reason):
    questions = [question(42), question(42, 1, **of_question)]
    files = write_vqav2(tmp_path, questions, [annotation(42), annotation(42, 1, **of_annotation)])
    items, report = read_vqav2(files, "v", 1)
    assert [*items["id"]] == ["v/42000"]
    assert report.rows() == [("v/42001", 3, "rejected", reason)]


def test_a_carriage_return_ends_no_row(tmp_path):
    files = write_vqav2(tmp_path, [question(42, text="What\rcolour?")], [annotation(42)])
    items, report = read_vqav2(files, "v")
    assert items["question"].to_list() == ["What\rcolour?"] and report.is_empty()


def test_an_empty_answer_of_one_annotator_is_kept(tmp_path):
    answers = [{"answer": text} for text in ["", *["red"] * 9]]
    files = write_vqav2(tmp_path, [question(42)], [annotation(42, answers=answers)])
    assert read_vqav2(files, "v")[0].height == 1
    (found,) = read_questions(files._asdict())
    assert found.answers == ["", *["red"] * 9]


ABSENT = r"annotations.json: has no annotation of question 42001 \(2 of 3 questions like this\); give"
OTHER_IMAGE = "annotations.json: question 42000 is about image {}, but about 42 in .*questions.json; give"


@pytest.mark.parametrize(
    ("questions", "annotations", "message"),
    [
        ([question(42)] * 2, [annotation(42)], "questions.json: two questions have the question_id 42000;"),
        ([question(42)], [annotation(42)] * 2, "annotations.json: question 42000 has two annotations; rem"),
        ([question(42), question(42, 1), question(42, 2)], [annotation(42)], ABSENT),
        *(
            ([question(42)], [annotation(42) | {"image_id": id_}], OTHER_IMAGE.format(id_))
            for id_ in (41, 43)
        ),
        ([question(42, question_id="42000")], [], r"questions\[0\] has no whole number as its question_id;"),
        ([question(42), question(42, 1) | {"image_id": 4.5}], [], r"questions\[1\] has no whole number as"),
        *(([question(42) | {"image_id": id_}], [], r"questions\[0\] has no whole") for id_ in (True, -1)),
        ([question(42)], [{"question_id": 42000}], r"annotations\[0\] has no whole number as its image_id"),
        ([], [annotation(42)], "questions.json: has no list 'questions' with entries; give"),
        ([question(42)], [], "annotations.json: has no list 'annotations' with entries; give"),
        (["What?"], [], r"questions.json: questions\[0\] is no mapping; give"),
    ],
)
def test_files_that_contradict_each_other_are_refused(tmp_path, questions, annotations, message):
    files = write_vqav2(tmp_path, questions, annotations, {image_name(42): jpeg(42)})
    with pytest.raises(SourceError, match=message) as caught:
        read_vqav2(files, "v")
    assert "\n" not in str(caught.value)


NESTED = "has more than 100 lists or mappings within each other; give"
OTHER_SPLIT = "is of the split {}, but {{questions}} of val2014; give two files of one split"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *(
            (text, "is not complete JSON") for text in ("", "index\tquestion\n", -2)
        ),  # also after the last entry
        *(('{"data_subtype": "val2014", "annotations": [' + cut, "is not complete JSON") for cut in "{]"),
        *(
            (f'{{"data_subtype": "{split}", "annotations": []}}', OTHER_SPLIT.format(split))
            for split in ("train2014", "val2015")
        ),
        ("[]", "has no data_subtype, such as val2014, so it is not the annotations of VQAv2; give"),
        ('{"annotations": []}', "has no data_subtype"),
        *(
            (f'{{"data_subtype": {split}}}', "has no data_subtype")
            for split in ('"../val2014"', '"val\\n2014"', 3)
        ),
        ("PK\3\4", "is no complete zip"),
        ('{"data_subtype": ' + "[" * 100_000, NESTED),
        ('{"data_subtype": "val2014", "annotations": [' + '{"a": ' * 100_000, NESTED),
        (None, "there is no such file; give a JSON file, or a zip with one"),
    ],
)
def test_files_of_another_kind_are_refused_in_one_line(tmp_path, text, message):
    files = write_vqav2(tmp_path)
    path, whole = files.annotations, files.annotations.read_text()
    path.unlink()
    if text is not None:
        path.write_text(whole[:text] if isinstance(text, int) else text)
    told = message.replace("{questions}", str(files.questions))
    with pytest.raises(SourceError, match=f"^{re.escape(f'{path}: {told}')}") as caught:
        read_vqav2(files, "v")
    assert "\n" not in str(caught.value)


def test_other_zips_are_refused(tmp_path):
    files = write_vqav2(tmp_path, [question(73)])
    packed = zipped(files, tmp_path)

    def check(message: str, **given: Path) -> None:
        with pytest.raises(SourceError, match=message):
            read_vqav2(files._replace(**given), "v")

    with zipfile.ZipFile(packed.questions, "a") as archive:
        archive.writestr("other.json", "{}")
    check("contains 2 JSON files; give a zip with one", questions=packed.questions)
    check("contains 0 JSON files", questions=packed.images)
    check("is neither a folder of images nor a zip of them", images=files.questions)
    whole = bytearray(packed.images.read_bytes())
    with zipfile.ZipFile(packed.images) as archive:
        start = archive.getinfo(f"val2014/{image_name(73)}").header_offset
    damaged = whole.copy()
    damaged[start + 120] ^= 255
    packed.images.write_bytes(damaged)
    check(f"none of its rows .*: image {image_name(73)}: cannot be unzipped", images=packed.images)
    packed.images.write_bytes(whole[:-30])
    check(r"val2014.zip: is no complete zip", images=packed.images)
    packed.images.write_bytes(whole)
    with zipfile.ZipFile(packed.images, "a") as archive:
        archive.writestr(f"train2014/{image_name(73)}", image_bytes())
    check(f"contains two files '{image_name(73)}'; give a zip with one", images=packed.images)


def test_annotations_are_read_one_at_a_time(tmp_path):
    files = write_vqav2(tmp_path, [question(1000), question(3000)])
    write_annotations(files.annotations, (annotation(id_) for id_ in range(10_000)))
    tracemalloc.start()
    found = read_questions(files._asdict())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == 2
    # json.load takes more than the size of the file.
    assert peak < files.annotations.stat().st_size / 10


def test_only_the_images_taken_are_read(tmp_path):
    files = write_vqav2(tmp_path)
    (taken,) = {one.image for one in read_questions(files._asdict(), 1)}
    for path in files.images.iterdir():
        if path.name != taken:
            path.write_bytes(b"")
    items, report = read_vqav2(files, "v", 1)
    assert {image["path"] for (image,) in items["images"]} == {taken}
    assert items.height == 2 and report.is_empty()


def test_a_tsv_holds_an_image_once_and_one_image_is_in_memory(tmp_path):
    # Decoders ignore what follows an image.
    images = {image_name(id_): jpeg(id_) + bytes(MIB) for id_ in range(20)}
    questions = [question(id_, number) for id_ in range(20) for number in range(3)]
    files = write_vqav2(tmp_path, questions, images=images)
    tracemalloc.start()
    path = convert_vqav2(files)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Twenty in base64 are 27 MiB; of one, there are its bytes, its base64, and buffers of the file.
    assert 26 * MIB < path.stat().st_size < 28 * MIB
    assert peak < 15 * MIB


def test_items_are_read_and_written_with_a_few_images_in_memory(tmp_path):
    # Decoders ignore what follows an image.
    images = {image_name(42): jpeg(42) + bytes(2 * MIB)}
    files = write_vqav2(tmp_path, [question(42, number) for number in range(200)], images=images)
    command = [sys.executable, "-c", MEASURE, str(convert_vqav2(files))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    before, read, written = (int(text) // 1024 for text in done.stdout.split())
    # The images of all items have 400 MiB; a row group has 32 MiB.
    assert read - before < 100
    assert written - before < 250


MIB = 2**20
MEASURE = """
import sys
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
import polars as pl
from benchc.schemas.items import ITEMS
from benchc.schemas.row_groups import table_writer
from benchc.sources.reader_options import CONVERTED
from benchc.sources.vlmevalkit import opened_source
path = Path(sys.argv[1])
print(getrusage(RUSAGE_SELF).ru_maxrss)
with opened_source(path, "v", CONVERTED) as found:
    print(getrusage(RUSAGE_SELF).ru_maxrss)
    size = pl.col("images").list.eval(pl.element().struct.field("bytes").bin.size()).list.sum()
    with table_writer(path.with_name("items.parquet"), ITEMS, size) as writer:
        for items in found.frames():
            writer.append(items)
assert found.texts.height == 200
print(getrusage(RUSAGE_SELF).ru_maxrss)
"""


def test_the_command_writes_the_tsv_or_one_sentence(tmp_path, capsys):
    files = write_vqav2(tmp_path)
    (files.images / image_name(42)).unlink()
    output = tmp_path / "new/v.tsv"
    command = partial(call_stage, "convert_source", format="vqav2", files=files._asdict(), output=output)
    command()
    assert capsys.readouterr().out == f"{output}: 6 questions\n"
    written = output.read_bytes()
    assert written == convert_vqav2(files).read_bytes()
    with pytest.raises(SourceError):
        command("--take-images", 3)
    assert output.read_bytes() == written
    (tmp_path / "list.txt").write_text("73\n")
    command("--take-images", tmp_path / "list.txt")
    assert capsys.readouterr().out == f"{output}: 2 questions\n"


@pytest.mark.parametrize("name", ["../a.png", "/a.png", "b/../../a.png", "a\0.png"])
def test_a_name_that_leaves_the_folder_of_images_is_that_of_no_image(tmp_path: Path, name: str) -> None:
    for folder in ("", "images"):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "a.png").write_bytes(jpeg(1))
    given = f"{tmp_path}{name}" if name.startswith("/") else name
    with image_store.opened_images(tmp_path / "images") as read:
        assert read("a.png") == jpeg(1)
        with pytest.raises(InvalidRowError, match=r"there is no such file among the images$"):
            read(given)
