"""Categories of the demo: counting, position and detail in small scenes."""

from collections.abc import Sequence

from benchc.demo.canvas import COLOURS, Canvas, Colour
from benchc.demo.category import Category, Scene, ladder

NUMBERS = ("one", "two", "three", "four", "five", "six")
PLACES = {
    "top left": (0.25, 0.25),
    "bottom right": (0.75, 0.75),
    "top right": (0.75, 0.25),
    "bottom left": (0.25, 0.75),
    "centre": (0.5, 0.5),
}
GRASS: Colour = (120, 175, 90)
CELLS = tuple((x, y) for x in (0.2, 0.5, 0.8) for y in (0.2, 0.5, 0.8))


def draw_count(canvases: Sequence[Canvas], scene: Scene) -> None:
    """The answer's number of balls, none touching another."""
    (canvas,) = canvases
    colour = canvas.any_dark()
    cells = canvas.rng.permutation(len(CELLS))[: NUMBERS.index(scene.truth) + 1]
    for cell in cells:
        x, y = CELLS[cell]
        dx, dy = canvas.rng.uniform(-0.04, 0.04, size=2)
        canvas.disc(x + dx, y + dy, canvas.rng.uniform(0.085, 0.115), colour)


def draw_place(canvases: Sequence[Canvas], scene: Scene) -> None:
    """A ball at the answer's place."""
    (canvas,) = canvases
    x, y = PLACES[scene.truth]
    dx, dy = canvas.rng.uniform(-0.06, 0.06, size=2)
    colour = canvas.any_dark()
    canvas.disc(x + dx, y + dy, canvas.rng.uniform(0.11, 0.16), colour)


def draw_detail(canvases: Sequence[Canvas], scene: Scene) -> None:
    """A house whose roof, wall and door have three colours; the subject has the answer's."""
    (canvas,) = canvases
    others = [colour for colour in COLOURS if colour != scene.truth]
    roof, wall, door = (str(colour) for colour in canvas.rng.permutation(others)[:3])
    roof, door = (scene.truth, door) if scene.subject == "roof" else (roof, scene.truth)
    x = canvas.rng.uniform(0.42, 0.58)
    canvas.box(0, 0.8, 1, 1, canvas.shade(GRASS))
    canvas.box(x - 0.3, 0.42, x + 0.3, 0.86, canvas.shade((200, 185, 165)))
    canvas.polygon(x, 0.27, 0.4, ((0, -0.2), (1, 0.4), (-1, 0.4)), canvas.named(roof))
    canvas.box(x - 0.07, 0.6, x + 0.07, 0.86, canvas.named(door))
    canvas.box(x + 0.14, 0.56, x + 0.24, 0.68, canvas.named(wall))


CATEGORIES = (
    Category(
        "count",
        "counting",
        ladder(NUMBERS),
        ("How many balls are there?", "How many balls do you see?", "Count the balls."),
        draw_count,
        needs_colour=False,
    ),
    Category(
        "place",
        "position",
        ladder(tuple(PLACES)),
        ("Where is the ball?", "In which part of the picture is the ball?"),
        draw_place,
        needs_colour=False,
    ),
    Category(
        "small detail",
        "detail",
        ladder(tuple(COLOURS)),
        ("What colour is the {subject} of the house?", "Which colour is the {subject}?"),
        draw_detail,
        hints=("The picture shows a house.",),
        subjects=("door", "roof"),
    ),
)
