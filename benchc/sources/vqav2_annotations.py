"""Read the entries of VQAv2's questions and annotations, one at a time."""

from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from benchc.progress import track
from benchc.sources.error import InvalidRowError, SourceError
from benchc.sources.json_lists import read_list

ANNOTATORS = 10


class Annotation(NamedTuple):
    """What is annotated of a question; None where it is missing or white space.

    ``truth`` is its ``multiple_choice_answer``, ``answers`` are those of the annotators, None where they are
    not a list of answers.
    """

    image_id: int
    question_type: str | None
    answer_type: str | None
    truth: str | None
    answers: list[str] | None

    def check(self) -> None:
        """Raise InvalidRowError where no item can be made of the question."""
        if self.question_type is None:
            raise InvalidRowError("has no question_type, the task type")
        if self.truth is None:
            raise InvalidRowError("has no multiple_choice_answer")
        if self.answers is None or len(self.answers) != ANNOTATORS:
            raise InvalidRowError(f"has no list of {ANNOTATORS} answers")


def read_annotations(
    path: Path, wanted: Container[int], *, label: str = "annotations"
) -> Iterator[tuple[int, Annotation]]:
    """Yield the question id and the annotation of each question in ``wanted``, in the order of the file.

    ``path`` is the JSON file or a zip of it. Raises SourceError where it cannot be read, an entry has no ids,
    or a question has two annotations.
    """
    seen = set()
    entries = read_entries(path, "annotations")
    for id_, image_id, entry in track(entries, label=label, unit="annotations"):
        if id_ not in wanted:
            continue
        if id_ in seen:
            raise SourceError(f"{path}: question {id_} has two annotations; remove one of them")
        seen.add(id_)
        yield (
            id_,
            Annotation(
                image_id,
                _text(entry.get("question_type")),
                _text(entry.get("answer_type")),
                _text(entry.get("multiple_choice_answer")),
                _answers(entry.get("answers")),
            ),
        )


def read_entries(path: Path, key: str) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Yield question id, image id and entry of the list ``key``, questions or annotations, of a file.

    Raises SourceError where there is no such list, or an entry lacks one of the ids.
    """
    number = -1
    for number, entry in enumerate(read_list(path, key)):
        for name in ("question_id", "image_id"):
            if type(entry.get(name)) is not int or entry[name] < 0:
                raise SourceError(
                    f"{path}: {key}[{number}] has no whole number as its {name}; give a file as published"
                )
        yield entry["question_id"], entry["image_id"], entry
    if number < 0:
        raise SourceError(f"{path}: has no list {key!r} with entries; give the {key} of VQAv2 as published")


def _text(value: object) -> str | None:
    if not isinstance(value, str) or not value.strip():
        return None
    # JSON may escape half of a surrogate pair, which is no text.
    return (
        value if value.isprintable() or not any("\ud800" <= letter <= "\udfff" for letter in value) else None
    )


def _answers(value: object) -> list[str] | None:
    entries = value if isinstance(value, list) else [None]
    answers = [entry.get("answer") if isinstance(entry, dict) else None for entry in entries]
    texts = [answer for answer in answers if isinstance(answer, str)]
    return texts if len(texts) == len(answers) else None
