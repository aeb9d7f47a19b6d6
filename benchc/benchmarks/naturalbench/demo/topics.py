"""What the demo's captions say about a picture: the answer to one question about what was drawn."""

from typing import NamedTuple

from benchc.demo.topics import Topic, topics
from benchc.errors import InputError


class Drawn(NamedTuple):
    """A drawn picture.

    Args:
        topic: what the question is about, the same for all its wordings.
        answer: the right one.
    """

    question: str
    topic: Topic
    answer: str


def drawn(caption: str) -> Drawn:
    """Return what a caption, "{answer}. {question}", says. Raises InputError where it is not the demo's."""
    answer, separator, question = caption.partition(". ")
    topic = topics().get(question)
    if not separator or topic is None:
        raise InputError(
            f"the caption {caption[:60]!r} is not of a drawn picture; leave out `demo`, or give the form "
            "generated to all data sets of curate.captions"
        )
    return Drawn(question, topic, answer)
