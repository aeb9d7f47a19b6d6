"""An open-ended question of a data set that is converted to a TSV."""

from dataclasses import dataclass


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
