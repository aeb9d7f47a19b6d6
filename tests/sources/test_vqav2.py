"""VQAv2's files become open-ended items, or the error names the file and what to do."""

import json
import random
import re
import subprocess
import sys
import tracemalloc
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.schemas.items import ITEMS
from benchc.sources.error import SourceError
from benchc.sources.image_choice import chosen_images
from benchc.sources.vqav2 import read_questions
from tests.sources.tsv_files import image_bytes
from tests.sources.vqav2_files import (
    IMAGE_IDS,
    Vqav2Files,
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
from tests.stages import run_stage

pytestmark = pytest.mark.usefixtures("preloaded_stages")

ROOT = Path(__file__).resolve().parents[2]


def ids_of(items: pl.DataFrame) -> list[str]:
    return items["id"].to_list()


def test_an_item(tmp_path: Path) -> None:
    text = '  Say "什么", or\nnot? '
    files = write_vqav2(
        tmp_path, [question(73, 4, text)], [annotation(73, 4, question_type="is the", answer_type="yes/no")]
    )
    items, report = read_vqav2(files, "v")
    assert dict(items.schema) == dict(pl.Schema(ITEMS.columns))
    assert items.to_dicts() == [
        {
            "id": "v/73004",
            "question": text,
            "hint": None,
            "options": [],
            "answer": None,
            "category": "is the",
            "l2_category": "yes/no",
            "images": [{"bytes": jpeg(73), "path": "COCO_val2014_000000000073.jpg"}],
            "image_keys": ["v://COCO_val2014_000000000073"],
        }
    ]
    assert report.is_empty()


def test_questions_on_one_image_share_its_key_and_every_image_is_its_own(tmp_path: Path) -> None:
    items, _ = read_vqav2(write_vqav2(tmp_path), "v")
    assert ids_of(items) == ["v/42000", "v/42001", "v/73000", "v/73001", "v/262148000", "v/262148001"]
    for row in items.iter_rows(named=True):
        image_id = int(row["id"].removeprefix("v/")) // 1000
        assert row["image_keys"] == [f"v://{image_name(image_id).removesuffix('.jpg')}"]
        assert row["images"][0]["bytes"] == jpeg(image_id)


def test_zips_and_plain_files_give_the_same_items(tmp_path: Path) -> None:
    plain = write_vqav2(tmp_path)
    packed = zipped(plain, tmp_path)
    expected = read_vqav2(plain, "v", 2)[0]
    assert read_vqav2(packed, "v", 2)[0].equals(expected)
    assert read_vqav2(Vqav2Files(packed.questions, plain.annotations, packed.images), "v", 2)[0].equals(
        expected
    )


@given(st.randoms(use_true_random=False))
@settings(max_examples=15)
def test_the_order_of_the_entries_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, order: random.Random
) -> None:
    folder = tmp_path_factory.mktemp("order")
    questions = [question(id_, number) for id_ in IMAGE_IDS for number in (0, 1)]
    annotations = [annotation(one["image_id"], one["question_id"] % 1000) for one in questions]
    expected, _ = read_vqav2(write_vqav2(folder, questions, annotations), "v", 2)
    order.shuffle(questions)
    order.shuffle(annotations)
    write_questions(folder / "q.json", questions)
    write_annotations(folder / "a.json", annotations)
    shuffled, _ = read_vqav2(Vqav2Files(folder / "q.json", folder / "a.json", folder / "val2014"), "v", 2)
    assert shuffled.equals(expected)


@given(st.sets(st.integers(0, 10**9), min_size=1, max_size=40), st.data())
@settings(max_examples=60)
def test_fewer_images_are_a_subset_in_an_order_that_is_not_that_of_the_ids(
    ids: set[int], data: st.DataObject
) -> None:
    names = {id_: str(id_) for id_ in ids}
    larger = data.draw(st.integers(1, len(ids)))
    smaller = data.draw(st.integers(1, larger))
    more = chosen_images(names, larger, Path("q"))
    assert len(more) == larger and more <= ids
    assert chosen_images(names, smaller, Path("q")) <= more
    assert chosen_images(dict(reversed(names.items())), larger, Path("q")) == more


def test_the_images_taken_do_not_follow_their_ids() -> None:
    names = {id_: str(id_) for id_ in range(1000)}
    taken = chosen_images(names, 500, Path("q"))
    assert 200 < len(taken & set(range(500))) < 300
    # Recorded: a change would make other benchmarks of the same configuration.
    assert sorted(chosen_images(names, 3, Path("q"))) == [97, 346, 628]


def test_all_questions_of_the_images_in_a_list_are_taken(tmp_path: Path) -> None:
    files = write_vqav2(tmp_path)
    listed = tmp_path / "images.txt"
    listed.write_text(f"\ufeff262148\n\nval2014/{image_name(42)} \r\n", encoding="utf-8")
    items, _ = read_vqav2(files, "v", listed)
    assert ids_of(items) == ["v/42000", "v/42001", "v/262148000", "v/262148001"]
    listed.write_text("COCO_val2014_000000000073\n")
    assert ids_of(read_vqav2(files, "v", listed)[0]) == ["v/73000", "v/73001"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("42\n43\n", "line 2 is '43', which is no image of "),
        ("42\n\nCOCO_val2014_000000000042.jpg\n", "line 3 names the image of line 1; remove one"),
        (
            "COCO_train2014_000000000042.jpg\n",
            "line 1 is 'COCO_train2014_000000000042.jpg', which is no image",
        ),
        ("9" * 5000, "line 1 is '9999"),
        (" \n", "lists no image"),
        (b"\xff\xfe4", "is no text in UTF-8"),
        (None, "cannot be read (No such file or directory); correct take_images"),
    ],
)
def test_bad_lists_of_images(tmp_path: Path, text: str | bytes | None, message: str) -> None:
    listed = tmp_path / "images.txt"
    if text is not None:
        listed.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(SourceError, match=f"^{re.escape(str(listed))}: {re.escape(message)}"):
        read_vqav2(write_vqav2(tmp_path), "v", listed)


def test_fewer_images_than_asked_for_are_an_error(tmp_path: Path) -> None:
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
def test_an_image_that_is_missing_or_damaged(
    tmp_path: Path, data: bytes | None, reason: str, packed: bool
) -> None:
    files = write_vqav2(tmp_path)
    if data is None:
        (files.images / image_name(73)).unlink()
    else:
        (files.images / image_name(73)).write_bytes(data)
    if packed:
        files = zipped(files, tmp_path)
    items, report = read_vqav2(files, "v")
    assert {id_[:-1] for id_ in ids_of(items)} == {"v/4200", "v/26214800"}
    assert report.select("id", "line", "kind").rows() == [
        ("v/73000", 4, "rejected"),
        ("v/73001", 5, "rejected"),
    ]
    assert all(text.startswith(reason) for text in report["reason"])
    listed = tmp_path / "images.txt"
    listed.write_text("42\n73\n")
    for take in (3, listed):
        with pytest.raises(
            SourceError, match=f"1 of the . images of take_images .* {re.escape(reason)}.*; restore"
        ):
            read_vqav2(files, "v", take)


def test_a_damaged_member_of_the_zip_is_named(tmp_path: Path) -> None:
    files = zipped(write_vqav2(tmp_path, [question(73)]), tmp_path)
    with zipfile.ZipFile(files.images) as archive:
        start = archive.getinfo(f"val2014/{image_name(73)}").header_offset
    data = bytearray(files.images.read_bytes())
    data[start + 120] ^= 255
    files.images.write_bytes(data)
    with pytest.raises(SourceError, match=f"none of its rows .*: image {image_name(73)}: cannot be unzipped"):
        read_vqav2(files, "v")


@pytest.mark.parametrize(
    ("of_question", "of_annotation", "reason"),
    [
        ({"question": " \n"}, {}, "has no question"),
        ({"question": None}, {}, "has no question"),
        ({}, {"question_type": ""}, "has no question_type, the task type"),
        ({}, {"multiple_choice_answer": " "}, "has no multiple_choice_answer"),
        ({}, {"multiple_choice_answer": 2}, "has no multiple_choice_answer"),
        ({}, {"answers": [{"answer": "red"}] * 9}, "has no list of 10 answers"),
        ({}, {"answers": ["red"] * 10}, "has no list of 10 answers"),
        ({}, {"answers": None}, "has no list of 10 answers"),
    ],
)
def test_questions_that_cannot_become_items_are_in_the_report(
    tmp_path: Path, of_question: dict[str, Any], of_annotation: dict[str, Any], reason: str
) -> None:
    questions = [question(42), question(42, 1, **of_question)]
    files = write_vqav2(tmp_path, questions, [annotation(42), annotation(42, 1, **of_annotation)])
    items, report = read_vqav2(files, "v", 1)
    assert ids_of(items) == ["v/42000"]
    assert report.rows() == [("v/42001", 3, "rejected", reason)]


def test_an_empty_answer_of_one_annotator_is_kept(tmp_path: Path) -> None:
    answers = [{"answer": text} for text in ["", *["red"] * 9]]
    files = write_vqav2(tmp_path, [question(42)], [annotation(42, answers=answers)])
    assert read_vqav2(files, "v")[0].height == 1
    (found,) = read_questions(files._asdict())
    assert found.answers == ["", *["red"] * 9]


@pytest.mark.parametrize(
    ("questions", "annotations", "message"),
    [
        (
            [question(42), question(42)],
            [annotation(42)],
            "questions.json: two questions have the question_id 42000;",
        ),
        (
            [question(42)],
            [annotation(42)] * 2,
            "annotations.json: question 42000 has two annotations; remove",
        ),
        (
            [question(42), question(42, 1), question(42, 2)],
            [annotation(42)],
            r"annotations.json: has no annotation of question 42001 \(2 of 3 questions like this\); give",
        ),
        (
            [question(42)],
            [annotation(42) | {"image_id": 43}],
            "annotations.json: question 42000 is about image 43, but about 42 in .*questions.json; give",
        ),
        ([question(42, question_id="42000")], [], r"questions\[0\] has no whole number as its question_id;"),
        (
            [question(42), question(42, 1) | {"image_id": 4.5}],
            [],
            r"questions\[1\] has no whole number as its image_id",
        ),
        ([question(42) | {"image_id": True}], [], r"questions\[0\] has no whole number as its image_id"),
        ([question(42) | {"image_id": -1}], [], r"questions\[0\] has no whole number as its image_id"),
        ([question(42)], [{"question_id": 42000}], r"annotations\[0\] has no whole number as its image_id"),
        ([], [annotation(42)], "questions.json: has no list 'questions' with entries; give"),
        ([question(42)], [], "annotations.json: has no list 'annotations' with entries; give"),
        (["What?"], [], r"questions.json: questions\[0\] is no mapping; give"),
    ],
)
def test_files_that_contradict_each_other_are_refused(
    tmp_path: Path, questions: list[Any], annotations: list[Any], message: str
) -> None:
    files = write_vqav2(tmp_path, questions, annotations, {image_name(42): jpeg(42)})
    with pytest.raises(SourceError, match=message) as caught:
        read_vqav2(files, "v")
    assert "\n" not in str(caught.value)


def test_annotations_of_questions_that_are_not_asked_are_ignored(tmp_path: Path) -> None:
    files = write_vqav2(tmp_path, [question(42)], [annotation(73), annotation(42), annotation(73)])
    assert ids_of(read_vqav2(files, "v")[0]) == ["v/42000"]


def test_two_splits_are_refused(tmp_path: Path) -> None:
    files = write_vqav2(tmp_path)
    write_annotations(files.annotations, [annotation(42)], "train2014")
    with pytest.raises(
        SourceError, match=r"annotations.json: is of the split train2014, but .* of val2014; give"
    ):
        read_vqav2(files, "v")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is not complete JSON"),
        ("index\tquestion\n", "is not complete JSON"),
        ('{"data_subtype": "val2014", "annotations": [{"question_id": 1, ', "is not complete JSON"),
        ('{"data_subtype": "val2014", "annotations": []', "is not complete JSON"),
        ("[]", "has no data_subtype, such as val2014, so it is not the annotations of VQAv2; give"),
        ('{"annotations": []}', "has no data_subtype"),
        ('{"data_subtype": "../val2014"}', "has no data_subtype"),
        ('{"data_subtype": 3}', "has no data_subtype"),
        ("PK\3\4", "is no complete zip"),
        (None, "there is no such file; give a JSON file, or a zip with one"),
    ],
)
def test_files_of_another_kind_are_refused_in_one_line(
    tmp_path: Path, text: str | None, message: str
) -> None:
    files = write_vqav2(tmp_path)
    files.annotations.unlink()
    if text is not None:
        files.annotations.write_text(text)
    with pytest.raises(
        SourceError, match=f"^{re.escape(str(files.annotations))}: {re.escape(message)}"
    ) as caught:
        read_vqav2(files, "v")
    assert "\n" not in str(caught.value)


def test_swapped_files_are_refused(tmp_path: Path) -> None:
    files = write_vqav2(tmp_path)
    with pytest.raises(
        SourceError, match="has no list 'questions' with entries; give the questions of VQAv2"
    ):
        read_vqav2(Vqav2Files(files.annotations, files.questions, files.images), "v")


def test_a_truncated_file_is_noticed_even_after_its_last_entry(tmp_path: Path) -> None:
    files = write_vqav2(tmp_path)
    files.annotations.write_text(files.annotations.read_text()[:-2])
    with pytest.raises(SourceError, match="is not complete JSON"):
        read_vqav2(files, "v")


def test_zips_without_the_file_are_refused(tmp_path: Path) -> None:
    files = write_vqav2(tmp_path)
    packed = zipped(files, tmp_path)
    with zipfile.ZipFile(packed.questions, "a") as archive:
        archive.writestr("other.json", "{}")
    with pytest.raises(SourceError, match="contains 2 JSON files; give a zip with one"):
        read_vqav2(Vqav2Files(packed.questions, files.annotations, files.images), "v")
    with pytest.raises(SourceError, match="contains 0 JSON files"):
        read_vqav2(Vqav2Files(packed.images, files.annotations, files.images), "v")
    packed.images.write_bytes(packed.images.read_bytes()[:-30])
    with pytest.raises(SourceError, match=r"val2014.zip: is no complete zip"):
        read_vqav2(Vqav2Files(files.questions, files.annotations, packed.images), "v")
    with pytest.raises(SourceError, match="is neither a folder of images nor a zip of them"):
        read_vqav2(Vqav2Files(files.questions, files.annotations, files.questions), "v")


def test_a_zip_with_two_files_of_one_name_is_refused(tmp_path: Path) -> None:
    files = zipped(write_vqav2(tmp_path), tmp_path)
    with zipfile.ZipFile(files.images, "a") as archive:
        archive.writestr(f"train2014/{image_name(42)}", image_bytes())
    with pytest.raises(SourceError, match=f"contains two files '{image_name(42)}'; give a zip with one"):
        read_vqav2(files, "v")


def test_annotations_are_read_one_at_a_time(tmp_path: Path) -> None:
    files = write_vqav2(tmp_path, [question(1000), question(3000)])
    write_annotations(files.annotations, (annotation(id_) for id_ in range(20_000)))
    tracemalloc.start()
    found = read_questions(files._asdict())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found) == 2
    # json.load takes more than the size of the file.
    assert peak < files.annotations.stat().st_size / 10


def test_only_the_images_taken_are_read(tmp_path: Path) -> None:
    files = write_vqav2(tmp_path)
    (taken,) = {one.image for one in read_questions(files._asdict(), 1)}
    for path in files.images.iterdir():
        if path.name != taken:
            path.write_bytes(b"")
    items, report = read_vqav2(files, "v", 1)
    assert {image["path"] for (image,) in items["images"]} == {taken}
    assert items.height == 2 and report.is_empty()


def test_a_tsv_holds_an_image_once_and_one_image_is_in_memory(tmp_path: Path) -> None:
    # Decoders ignore what follows an image.
    images = {image_name(id_): jpeg(id_) + bytes(2 * MIB) for id_ in range(20)}
    questions = [question(id_, number) for id_ in range(20) for number in range(5)]
    files = write_vqav2(tmp_path, questions, images=images)
    tracemalloc.start()
    path = convert_vqav2(files)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Twenty in base64 are 53 MiB; of one, there are its bytes, its base64, and buffers of the file.
    assert 53 * MIB < path.stat().st_size < 56 * MIB
    assert peak < 30 * MIB


def test_items_are_read_and_written_with_a_few_images_in_memory(tmp_path: Path) -> None:
    # Decoders ignore what follows an image.
    files = write_vqav2(
        tmp_path,
        [question(42, number) for number in range(200)],
        images={image_name(42): jpeg(42) + bytes(2 * MIB)},
    )
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(convert_vqav2(files))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
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


def test_the_command_writes_the_tsv_or_one_sentence(tmp_path: Path) -> None:
    files = write_vqav2(tmp_path)
    (files.images / image_name(42)).unlink()
    command = partial(run_stage, "convert_source", format="vqav2", files=files._asdict())
    output = tmp_path / "new/v.tsv"
    done = command(output=output)
    assert (done.returncode, done.stdout) == (0, f"{output}: 6 questions\n"), done.stderr
    assert output.read_bytes() == convert_vqav2(files).read_bytes()
    written = output.read_bytes()
    done = command("--take-images", 3, output=output)
    assert done.returncode == 1 and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert output.read_bytes() == written
    (tmp_path / "list.txt").write_text("73\n")
    done = command("--take-images", tmp_path / "list.txt", output=output)
    assert done.stdout == f"{output}: 2 questions\n"


def test_a_file_with_other_keys_first_is_read(tmp_path: Path) -> None:
    files = write_vqav2(tmp_path)
    content = json.loads(files.annotations.read_text())
    write_json(files.annotations, dict(reversed(content.items())))
    assert read_vqav2(files, "v")[0].height == 6
