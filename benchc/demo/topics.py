"""What the questions about the demo's pictures are about."""

from functools import cache
from typing import NamedTuple

from benchc.demo.world import SOURCES


class Topic(NamedTuple):
    """What a question is about, the same for all its wordings: a source, a category and the subject in it."""

    source: str
    category: str
    subject: str


@cache
def topics() -> dict[str, Topic]:
    """Return the topic of each question about the demo's pictures."""
    return {
        question.format(subject=subject): Topic(source, category.name, subject)
        for source, categories in SOURCES.items()
        for category in categories
        for question in category.questions
        for subject in category.subjects
    }
