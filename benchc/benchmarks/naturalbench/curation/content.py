"""What a release is made of: images, questions and groups, so that two releases can be compared."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from benchc.images import decode, pixel_hash
from benchc.progress import track
from benchc.sources.error import InvalidRowError, SourceError
from benchc.sources.item_images import read_item_images
from benchc.sources.tsv import listed, read_header, read_rows

NEEDED = ("index", "image", "question", "A", "B", "group")

QuestionKey = tuple[str, frozenset[str]]
GroupKey = tuple[frozenset[str], frozenset[QuestionKey]]


class Contents(NamedTuple):
    """Images by their pixel hash, questions with their options, and groups of these."""

    images: frozenset[str]
    questions: frozenset[QuestionKey]
    groups: frozenset[GroupKey]


def question_key(question: str, options: Iterable[str]) -> QuestionKey:
    """Return what makes a question the same as another: its words and its options, in any order and case."""
    return _plain(question), frozenset(map(_plain, options))


def read_contents(path: str | Path) -> Contents:
    """Return the contents of a release, a TSV in VLMEvalKit's format with the column ``group``.

    Images are equal if all of their pixels are; a copy that was scaled or saved as another JPEG is not.
    Raises SourceError, with the line, where the file is not such a TSV or an image cannot be read.
    """
    path = Path(path)
    header = read_header(path)
    if missing := [name for name in NEEDED if name not in header]:
        raise SourceError(
            f"{path}: has no column {missing[0]!r} (it has {listed(header)}); give a release of groups"
        )
    hashes: dict[str, str] = {}  # pixel hash by the index of its row
    shared: dict[str, str] = {}  # index of another row by that of a row
    lines: dict[str, int] = {}
    groups: dict[str, tuple[set[str], set[QuestionKey]]] = {}
    for line, values, problem, _ in track(read_rows(path), label=f"read {path.name}", unit="rows"):
        index = values.get("index", "").strip()
        if problem is None and index in lines:
            problem = f"index {index} is that of an earlier row"
        try:
            if problem is not None:
                raise InvalidRowError(problem)
            found = read_item_images(values)
        except InvalidRowError as error:
            raise SourceError(f"{path}: line {line}: {error}; correct the row") from error
        if isinstance(found, str):
            shared[index] = found
        else:
            hashes[index] = pixel_hash([decode(image.bytes) for image in found])
        lines[index] = line
        images, questions = groups.setdefault(values["group"], (set(), set()))
        images.add(index)
        questions.add(question_key(values["question"], (values["A"], values["B"])))
    for index, other in shared.items():
        if other not in hashes:
            raise SourceError(
                f"{path}: line {lines[index]}: its image {other!r} is neither base64 nor the index of a row "
                "with an image; correct the row"
            )
        hashes[index] = hashes[other]
    whole = [
        (frozenset(hashes[index] for index in images), frozenset(questions))
        for images, questions in groups.values()
    ]
    return Contents(
        frozenset(hashes.values()), frozenset(key for _, keys in whole for key in keys), frozenset(whole)
    )


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
