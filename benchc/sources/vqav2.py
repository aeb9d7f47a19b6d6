"""The questions of VQAv2 from its own files: questions, annotations and the images of COCO."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchc.json_content import is_text
from benchc.progress import track
from benchc.sources.error import SourceError
from benchc.sources.formats import OpenQuestion
from benchc.sources.image_choice import Take, chosen_images
from benchc.sources.json_lists import read_list, read_value

ANNOTATORS = 10


def read_questions(files: Mapping[str, Path], take: Take = None) -> list[OpenQuestion]:
    """Return all questions on the images that ``take`` gives, in the order of their ids.

    ``files`` are ``questions`` and ``annotations`` of one split, as published or as zips. An image is called
    COCO_<split>_<image id, 12 digits>.jpg. The category is the question type, l2_category the answer type.
    Raises SourceError where a file cannot be read, or the two contradict each other. Memory: the questions
    and annotations of the images taken.
    """
    split = _split(files)
    asked: dict[int, tuple[int, str | None]] = {}
    for id_, image_id, entry in _entries(files["questions"], "questions"):
        if id_ in asked:
            raise SourceError(
                f"{files['questions']}: two questions have the question_id {id_}; remove one of them"
            )
        asked[id_] = image_id, _text(entry.get("question"))
    names = {image_id: f"COCO_{split}_{image_id:012d}.jpg" for image_id, _ in asked.values()}
    taken = chosen_images(names, take, files["questions"])
    asked = {id_: question for id_, question in asked.items() if question[0] in taken}
    found: dict[int, OpenQuestion] = {}
    for id_, image_id, entry in _entries(files["annotations"], "annotations"):
        if id_ not in asked:
            continue
        if id_ in found:
            raise SourceError(
                f"{files['annotations']}: question {id_} has two annotations; remove one of them"
            )
        if image_id != asked[id_][0]:
            raise SourceError(
                f"{files['annotations']}: question {id_} is about image {image_id}, but about "
                f"{asked[id_][0]} in {files['questions']}; give two files of one release"
            )
        found[id_] = _question(id_, names[image_id], asked[id_][1], entry)
    if absent := asked.keys() - found:
        raise SourceError(
            f"{files['annotations']}: has no annotation of question {min(absent)} ({len(absent):,} of "
            f"{len(asked):,} questions like this); give the annotations of {files['questions']}"
        )
    return [found[id_] for id_ in sorted(found)]


def _split(files: Mapping[str, Path]) -> str:
    """Return the split of both files, such as val2014, by which images are named."""
    splits = []
    for kind in ("questions", "annotations"):
        split = read_value(files[kind], "data_subtype")
        if not isinstance(split, str) or not split.isprintable() or "/" in split:
            raise SourceError(
                f"{files[kind]}: has no data_subtype, such as val2014, so it is not the {kind} of VQAv2; "
                "give the file as published"
            )
        splits.append(split)
    if splits[0] != splits[1]:
        raise SourceError(
            f"{files['annotations']}: is of the split {splits[1]}, but {files['questions']} of {splits[0]}; "
            "give two files of one split"
        )
    return splits[0]


def _entries(path: Path, key: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield question id, image id and entry of the list ``key``, questions or annotations, of a file.

    Raises SourceError where there is no such list, or an entry lacks one of the ids.
    """
    number = -1
    for number, entry in enumerate(track(read_list(path, key), label=f"read {path.name}", unit=key)):
        for name in ("question_id", "image_id"):
            if type(entry.get(name)) is not int or entry[name] < 0:
                raise SourceError(
                    f"{path}: {key}[{number}] has no whole number as its {name}; give a file as published"
                )
        yield entry["question_id"], entry["image_id"], entry
    if number < 0:
        raise SourceError(f"{path}: has no list {key!r} with entries; give the {key} of VQAv2 as published")


def _question(id_: int, image: str, text: str | None, annotation: Mapping[str, Any]) -> OpenQuestion:
    kind, truth = _text(annotation.get("question_type")), _text(annotation.get("multiple_choice_answer"))
    answers = _answers(annotation.get("answers"))
    problem = None
    if text is None:
        problem = "has no question"
    elif kind is None:
        problem = "has no question_type, the task type"
    elif truth is None:
        problem = "has no multiple_choice_answer"
    elif len(answers) != ANNOTATORS:
        problem = f"has no list of {ANNOTATORS} answers"
    return OpenQuestion(
        str(id_), image, text, truth, answers, kind, _text(annotation.get("answer_type")), problem
    )


def _text(value: object) -> str | None:
    return value if is_text(value) and value.strip() else None


def _answers(value: object) -> list[str]:
    """Return the answers of the annotators; none where they are not a list of answers."""
    entries = value if isinstance(value, list) else []
    answers = [entry.get("answer") if isinstance(entry, dict) else None for entry in entries]
    texts = [answer for answer in answers if is_text(answer)]
    return texts if len(texts) == len(answers) else []
