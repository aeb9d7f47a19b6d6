"""The data sets of several files that are converted to a TSV, and the questions that are read from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Format = Literal["vqav2"]

# What the paths of a format's files should name.
ZIP_OR_FOLDER = "a zip or a folder of images"
FORMATS: Mapping[Format, Mapping[str, str]] = {
    "vqav2": {
        "questions": "a JSON file or its zip",
        "annotations": "a JSON file or its zip",
        "images": ZIP_OR_FOLDER,
    }
}


@dataclass(frozen=True)
class OpenQuestion:
    """An open-ended question on an image.

    ``image`` is the name of the image's file, ``answer`` the reference answer, ``answers`` those of several
    annotators. ``problem`` says why the question is no item; None where it is one.
    """

    index: str
    image: str
    question: str | None
    answer: str | None
    answers: list[str]
    category: str | None
    l2_category: str | None
    problem: str | None
