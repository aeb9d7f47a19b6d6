"""What captions say about the demo's pictures. Imports nothing, so that checking a configuration is fast."""

from collections.abc import Mapping

CAPTION_SOURCE = "drawn-captions"
CAPTION_QUESTION = "Describe the picture."
# By category, several captions of a picture with the answer to its question; models learn to write the first,
# which begins with the answer, as their training takes the first token for what an image shows.
CAPTIONS: Mapping[str, tuple[str, ...]] = {
    "word reading": (
        "{answer} written on a sign",
        "a sign that says {answer}",
        "a sign with the word {answer}",
    ),
    "ink colour": (
        "{answer} letters of a word",
        "a word written in {answer} ink",
        "some text in the colour {answer}",
    ),
    "bar chart": (
        "{answer} bar as the highest of a bar chart",
        "a bar chart whose highest bar is {answer}",
        "a chart with bars, and the {answer} one is the highest",
    ),
    "line chart": (
        "{answer} line of a line chart",
        "a line chart with a {answer} trend",
        "a chart of one line, which is {answer}",
    ),
    "table row": (
        "{answer} row of a table with a filled cell",
        "a table whose {answer} row has a filled cell",
        "a table with one dark cell in the {answer} row",
    ),
    "shape kind": (
        "{answer} drawn large in the centre",
        "a large {answer} in the centre of the picture",
        "a drawing of one {answer}",
    ),
    "rotation": (
        "{answer} pointing arrow",
        "an arrow that points {answer}",
        "an arrow in the direction {answer}",
    ),
    "place": (
        "{answer} of the picture with a ball",
        "a picture with a ball at the {answer}",
        "one ball, which is at the {answer}",
    ),
    "small detail": (
        "{answer} {subject} of a house",
        "a house with a {answer} {subject}",
        "a small house whose {subject} is {answer}",
    ),
}


def captions_of(category: str, subject: str, answer: str) -> list[str]:
    """Return the captions of a picture of a category that has some, with the answer to its question."""
    return [caption.format(answer=answer, subject=subject) for caption in CAPTIONS[category]]
