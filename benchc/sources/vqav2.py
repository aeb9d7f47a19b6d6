"""Read items from VQAv2's own files: questions, annotations and the images of COCO."""

from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from benchc.image_keys import named_key
from benchc.progress import track
from benchc.schemas.items import ITEMS
from benchc.sources.error import InvalidRowError, SourceError
from benchc.sources.image_choice import Take, chosen_images
from benchc.sources.image_store import opened_images
from benchc.sources.item_order import item_key
from benchc.sources.json_lists import read_value
from benchc.sources.report import Remark, report_frame
from benchc.sources.vqav2_annotations import Annotation, read_annotations, read_entries

# Of an item, but for its images.
TEXT_COLUMNS = tuple(name for name in ITEMS.columns if name not in ("images", "image_keys"))


class Vqav2Files(NamedTuple):
    """The files of one split. The first two are JSON files as published, or their zips.

    ``images`` is the folder or the zip of the files COCO_<split>_<image id, 12 digits>.jpg.
    """

    questions: Path
    annotations: Path
    images: Path


class Vqav2Texts(NamedTuple):
    """Items without their images, in order: ``items`` has TEXT_COLUMNS and ``image``, the image's file name.

    ``images`` has the file names of the images taken, ``remarks`` the questions that did not become items.
    """

    items: pl.DataFrame
    images: list[str]
    remarks: list[Remark]


class _Question(NamedTuple):
    image_id: int
    text: object


def read_vqav2(files: Vqav2Files, source: str, take: Take = None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the items of VQAv2's files, of type ITEMS in the order of their question ids, and the report.

    They are all questions on the images that ``take`` gives: the number of images, the first in the order of
    a hash of their ids, so that fewer are a subset; a file with their ids or names, one per line; or None for
    all. An item has no options and no answer; its category is the question type, its l2_category the answer
    type. Images stay as published, and questions on one image share it.

    The report (columns id, line, kind, reason) lists the questions that cannot become items. Raises
    SourceError where the files cannot be read, contradict each other, or lack an image that ``take`` names or
    counts. Memory: that of the images taken, about 170 KB each, and of all questions.
    """
    texts = read_vqav2_texts(files, source, take)
    data: dict[str, bytes] = {}
    missing: dict[str, str] = {}
    with opened_images(files.images) as read:
        for name in track(texts.images, label=f"read {source}", unit="images"):
            try:
                data[name] = read(name)
            except InvalidRowError as refusal:
                missing[name] = str(refusal)
    if missing and take is not None:
        raise SourceError(
            f"{files.images}: {len(missing)} of the {len(texts.images)} images of take_images cannot be "
            f"used, first {next(iter(missing.values()))}; restore them, or list others in a file for "
            "take_images"
        )
    without = texts.items.filter(pl.col("image").is_in(list(missing)))
    rejected = [
        Remark(id_, None, "rejected", missing[name])
        for id_, name in without.select("id", "image").iter_rows()
    ]
    remarks = sorted([*texts.remarks, *rejected], key=lambda remark: item_key(remark.id))
    items = _with_images(texts.items, data, source)
    if items.is_empty():
        raise SourceError(
            f"{files.questions}: none of its questions became an item; the reason of the first: "
            f"{remarks[0].reason}"
        )
    return items, report_frame(remarks)


def read_vqav2_texts(files: Vqav2Files, source: str, take: Take = None) -> Vqav2Texts:
    """Return what :func:`read_vqav2` reads of questions and annotations; raises SourceError as it does."""
    split = _split(files)
    questions = _questions(files.questions, source)
    image_ids = {question.image_id for question in questions.values()}
    names = {id_: f"COCO_{split}_{id_:012d}.jpg" for id_ in image_ids}
    taken = chosen_images(names, take, files.questions)
    questions = {id_: question for id_, question in questions.items() if question.image_id in taken}
    rows, remarks = [], []
    found = set()
    for id_, annotation in read_annotations(files.annotations, questions, label=f"annotations of {source}"):
        found.add(id_)
        question = questions[id_]
        if annotation.image_id != question.image_id:
            raise SourceError(
                f"{files.annotations}: question {id_} is about image {annotation.image_id}, but about "
                f"{question.image_id} in {files.questions}; give two files of one release"
            )
        try:
            text = _text(question, annotation)
            rows.append({"id": f"{source}/{id_}", **text, "image": names[question.image_id]})
        except InvalidRowError as refusal:
            remarks.append(Remark(f"{source}/{id_}", None, "rejected", str(refusal)))
    if absent := questions.keys() - found:
        raise SourceError(
            f"{files.annotations}: has no annotation of question {min(absent)} ({len(absent):,} of "
            f"{len(questions):,} questions like this); give the annotations of {files.questions}"
        )
    rows.sort(key=lambda row: item_key(row["id"]))
    schema = {**{name: ITEMS.columns[name] for name in TEXT_COLUMNS}, "image": pl.String}
    return Vqav2Texts(pl.DataFrame(rows, schema=schema), sorted(names[id_] for id_ in taken), remarks)


def _split(files: Vqav2Files) -> str:
    """Return the split of both files, such as val2014, by which images are named."""
    splits = []
    for kind, path in (("questions", files.questions), ("annotations", files.annotations)):
        split = read_value(path, "data_subtype")
        if not isinstance(split, str) or not split.isprintable() or "/" in split:
            raise SourceError(
                f"{path}: has no data_subtype, such as val2014, so it is not the {kind} of VQAv2; give the "
                "file as published"
            )
        splits.append(split)
    if splits[0] != splits[1]:
        raise SourceError(
            f"{files.annotations}: is of the split {splits[1]}, but {files.questions} of {splits[0]}; give "
            "two files of one split"
        )
    return splits[0]


def _questions(path: Path, source: str) -> dict[int, _Question]:
    questions: dict[int, _Question] = {}
    entries = track(read_entries(path, "questions"), label=f"questions of {source}", unit="questions")
    for id_, image_id, entry in entries:
        if id_ in questions:
            raise SourceError(f"{path}: two questions have the question_id {id_}; remove one of them")
        questions[id_] = _Question(image_id, entry.get("question"))
    return questions


def _text(question: _Question, annotation: Annotation) -> dict[str, Any]:
    """Return the texts of an item. Raises InvalidRowError where one is missing."""
    if not isinstance(question.text, str) or not question.text.strip():
        raise InvalidRowError("has no question")
    annotation.check()
    return {
        "question": question.text,
        "hint": None,
        "options": [],
        "answer": None,
        "category": annotation.question_type,
        "l2_category": annotation.answer_type,
    }


def _with_images(texts: pl.DataFrame, data: dict[str, bytes], source: str) -> pl.DataFrame:
    """Return items of type ITEMS, without those that have no image; items share the memory of an image."""
    images = pl.DataFrame(
        {
            "image": list(data),
            "bytes": list(data.values()),
            "key": [named_key(source, name.removesuffix(".jpg")) for name in data],
        },
        schema={"image": pl.String, "bytes": pl.Binary, "key": pl.String},
    )
    return texts.join(images, on="image", maintain_order="left").select(
        *TEXT_COLUMNS,
        images=pl.concat_list(pl.struct("bytes", path="image")),
        image_keys=pl.concat_list("key"),
    )
