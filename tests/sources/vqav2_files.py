"""Small files in VQAv2's form, for the tests of its converter and of the rules."""

import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from benchc.sources.conversion import convert
from benchc.sources.image_choice import Take
from benchc.sources.reader_options import CONVERTED
from benchc.sources.vlmevalkit import read_vlmevalkit
from tests.sources.tsv_files import image_bytes

Entry = dict[str, Any]
IMAGE_IDS = (42, 73, 262148)


class Vqav2Files(NamedTuple):
    """The files of a split."""

    questions: Path
    annotations: Path
    images: Path


def convert_vqav2(files: Vqav2Files, take: Take = None) -> Path:
    """Convert a split to a TSV beside its questions, and return its path."""
    path = files.questions.with_name("converted.tsv")
    convert("vqav2", files._asdict(), take, path)
    return path


def read_vqav2(files: Vqav2Files, source: str, take: Take = None) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Convert a split, and return its items and the report as a run reads them."""
    options = replace(CONVERTED, task_column="category")
    return read_vlmevalkit(convert_vqav2(files, take), source, options)


def question(image_id: int, number: int = 0, text: str = "What colour is it?", **values: object) -> Entry:
    """Return a question as published: its id is the image's id and three digits."""
    plain = {"image_id": image_id, "question": text, "question_id": image_id * 1000 + number}
    return {**plain, **values}


def annotation(image_id: int, number: int = 0, truth: str = "red", **values: object) -> Entry:
    """Return the annotation of a question as published; the last two of ten annotators say something else."""
    answers = [
        {"answer": truth if one <= 8 else f"not {truth}", "answer_confidence": "yes", "answer_id": one}
        for one in range(1, 11)
    ]
    plain = {"question_type": "what color is", "multiple_choice_answer": truth, "answers": answers}
    plain |= {"image_id": image_id, "answer_type": "other", "question_id": image_id * 1000 + number}
    return plain | values


def image_name(image_id: int) -> str:
    return f"COCO_val2014_{image_id:012d}.jpg"


def jpeg(image_id: int) -> bytes:
    return image_bytes((image_id % 256, 30, 200), form="JPEG")


def write_questions(path: Path, questions: Iterable[Entry], split: str = "val2014") -> Path:
    head = {"info": {"version": "2.0"}, "task_type": "Open-Ended", "data_type": "mscoco", "license": {}}
    return write_json(path, {**head, "data_subtype": split, "questions": list(questions)})


def write_annotations(path: Path, annotations: Iterable[Entry], split: str = "val2014") -> Path:
    head = {"info": {"version": "2.0"}, "license": {}, "data_subtype": split}
    return write_json(path, {**head, "annotations": list(annotations), "data_type": "mscoco"})


def write_json(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content))
    return path


def write_images(folder: Path, images: Mapping[str, bytes]) -> Path:
    folder.mkdir()
    for name, data in images.items():
        (folder / name).write_bytes(data)
    return folder


def write_vqav2(
    folder: Path,
    questions: Sequence[Entry] | None = None,
    annotations: Sequence[Entry] | None = None,
    images: Mapping[str, bytes] | None = None,
) -> Vqav2Files:
    """Write the files of a split; by default, two questions on each of IMAGE_IDS, and good images."""
    if questions is None:
        questions = [question(id_, number) for id_ in IMAGE_IDS for number in (0, 1)]
    if annotations is None:
        annotations = [annotation(one["image_id"], one["question_id"] % 1000) for one in questions]
    if images is None:
        images = {image_name(id_): jpeg(id_) for id_ in {one["image_id"] for one in questions}}
    return Vqav2Files(
        write_questions(folder / "v2_OpenEnded_mscoco_val2014_questions.json", questions),
        write_annotations(folder / "v2_mscoco_val2014_annotations.json", annotations),
        write_images(folder / "val2014", images),
    )


def zipped(files: Vqav2Files, folder: Path) -> Vqav2Files:
    """Return zips of the files, as they are published: images in a folder, with an entry of the folder."""
    archives = []
    for path, name in zip(files, ("Questions_Val", "Annotations_Val", "val2014"), strict=True):
        target = folder / f"{name}.zip"
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            if path.is_dir():
                archive.mkdir(path.name)
                for image in sorted(path.iterdir()):
                    archive.write(image, f"{path.name}/{image.name}")
            else:
                archive.write(path, path.name)
                archive.writestr(f"__MACOSX/._{path.name}", b"")
        archives.append(target)
    return Vqav2Files(*archives)
