"""Categories of the demo: words, digits and the colour of text."""

from collections.abc import Sequence

from benchc.demo.canvas import COLOURS, Canvas
from benchc.demo.category import Category, Scene, ladder

WORDS = ("GO", "STOP", "DANGER", "EXIT", "WELCOME")


def draw_word(canvases: Sequence[Canvas], scene: Scene) -> None:
    """A sign with one word on it."""
    (canvas,) = canvases
    x, y = canvas.rng.uniform(0.48, 0.52), canvas.rng.uniform(0.45, 0.55)
    ink = canvas.ink()
    dark = canvas.rng.random() < 0.4
    canvas.box(x - 0.44, y - 0.22, x + 0.44, y + 0.22, ink if dark else canvas.paper, ink)
    canvas.text(x, y, scene.truth, canvas.paper if dark else ink, 0.4, 0.8)


def draw_digit(canvases: Sequence[Canvas], scene: Scene) -> None:
    """One large digit."""
    (canvas,) = canvases
    x, y = canvas.rng.uniform(0.46, 0.54), canvas.rng.uniform(0.47, 0.53)
    canvas.text(x, y, scene.truth, canvas.ink(), canvas.rng.uniform(0.65, 0.95))


def draw_ink(canvases: Sequence[Canvas], scene: Scene) -> None:
    """A word in coloured ink; which word it is does not matter."""
    (canvas,) = canvases
    word = str(canvas.rng.choice([word for word in WORDS if len(word) <= 4]))
    x, y = canvas.rng.uniform(0.4, 0.6), canvas.rng.uniform(0.35, 0.65)
    canvas.text(x, y, word, canvas.named(scene.truth), 0.45, 0.7)


CATEGORIES = (
    Category(
        "word reading",
        "reading",
        ladder(WORDS),
        ("What does the sign say?", "Which word is on the sign?"),
        draw_word,
        hints=("The sign has one word.",),
        needs_colour=False,
    ),
    Category(
        "digit reading",
        "reading",
        ladder(("1", "2", "3", "4", "5", "6")),
        ("Which digit is shown?", "Which digit do you see?", "Read the digit."),
        draw_digit,
        needs_colour=False,
    ),
    Category(
        "ink colour",
        "colour",
        ladder(tuple(COLOURS)),
        ("Which colour is the ink?", "In which colour is the word written?"),
        draw_ink,
    ),
)
