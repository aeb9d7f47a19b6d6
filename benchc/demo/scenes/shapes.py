"""Categories of the demo: colour, kind, size and direction of shapes."""

import math
from collections.abc import Sequence

from benchc.demo.canvas import COLOURS, Canvas, Colour, Point
from benchc.demo.category import Category, Scene, ladder


def _star(points: int, inner: float) -> tuple[Point, ...]:
    turns = [math.pi * k / points - math.pi / 2 for k in range(2 * points)]
    radii = [1.0 if k % 2 == 0 else inner for k in range(2 * points)]
    return tuple((r * math.cos(t), r * math.sin(t)) for r, t in zip(radii, turns, strict=True))


# Corners around the centre, in units of the radius; a disc and a ring have none.
CORNERS: dict[str, tuple[Point, ...]] = {
    "square": ((-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)),
    "triangle": ((0, -1), (0.95, 0.75), (-0.95, 0.75)),
    "cross": tuple(
        (x * a, y * b)
        for x, y in ((1, -1), (1, 1), (-1, 1), (-1, -1))
        for a, b in (((0.3, 1), (0.3, 0.3), (1, 0.3)) if x * y < 0 else ((1, 0.3), (0.3, 0.3), (0.3, 1)))
    ),
    "star": _star(5, 0.4),
}
SHAPES = ("circle", "square", "triangle", "cross", "star", "ring")
ARROW: tuple[Point, ...] = ((1, 0), (0.1, -0.8), (0.1, -0.3), (-1, -0.3), (-1, 0.3), (0.1, 0.3), (0.1, 0.8))
DIRECTIONS = {"up": -90, "down": 90, "left": 180, "right": 0}
SIDES = {"left": 0.25, "right": 0.75}


def draw_shape(canvas: Canvas, name: str, x: float, y: float, radius: float, colour: Colour) -> None:
    """Draw one of SHAPES."""
    if name in CORNERS:
        canvas.polygon(x, y, radius, CORNERS[name], colour)
        return
    canvas.disc(x, y, radius, colour)
    if name == "ring":
        canvas.disc(x, y, 0.55 * radius, canvas.paper)


def _near_centre(canvas: Canvas) -> Point:
    return canvas.rng.uniform(0.46, 0.54), canvas.rng.uniform(0.46, 0.54)


def _anywhere(canvas: Canvas, radius: float) -> Point:
    """Return a random centre that keeps a shape of the given radius inside."""
    across, down = canvas.length(radius, 0), canvas.length(radius, 1)
    return canvas.rng.uniform(across, 1 - across), canvas.rng.uniform(down, 1 - down)


def draw_colour(canvases: Sequence[Canvas], scene: Scene) -> None:
    """Any shape in the answer's colour."""
    (canvas,) = canvases
    radius = canvas.rng.uniform(0.1, 0.24)
    name = str(canvas.rng.choice(SHAPES))
    draw_shape(canvas, name, *_anywhere(canvas, radius), radius, canvas.named(scene.truth))


def draw_kind(canvases: Sequence[Canvas], scene: Scene) -> None:
    """The answer's shape in any colour."""
    (canvas,) = canvases
    radius = canvas.rng.uniform(0.34, 0.42)
    colour = canvas.any_dark()
    draw_shape(canvas, scene.truth, *_near_centre(canvas), radius, colour)


def draw_sizes(canvases: Sequence[Canvas], scene: Scene) -> None:
    """Two or three discs side by side, the answer's the largest."""
    (canvas,) = canvases
    places = SIDES if len(scene.options) == 2 else {"left": 0.18, "right": 0.82, "middle": 0.5}
    colour = canvas.any_dark()
    largest = canvas.rng.uniform(0.13, 0.21) if len(places) == 2 else canvas.rng.uniform(0.11, 0.15)
    for name, x in places.items():
        share = 1.0 if name == scene.truth else canvas.rng.uniform(0.35, 0.7)
        canvas.disc(x, canvas.rng.uniform(0.35, 0.65), largest * share, colour)


def draw_arrow(canvases: Sequence[Canvas], scene: Scene) -> None:
    """An arrow, up to ten degrees off its direction."""
    (canvas,) = canvases
    turn = math.radians(DIRECTIONS[scene.truth] + canvas.rng.uniform(-10, 10))
    cos, sin = math.cos(turn), math.sin(turn)
    corners = [(u * cos - v * sin, u * sin + v * cos) for u, v in ARROW]
    radius = canvas.rng.uniform(0.22, 0.38)
    canvas.polygon(*_near_centre(canvas), radius, corners, canvas.ink())


CATEGORIES = (
    Category(
        "shape colour",
        "colour",
        ladder(tuple(COLOURS)),
        ("What colour is the shape?", "Which colour is the shape?", "Name the colour of the shape."),
        draw_colour,
    ),
    Category(
        "shape kind",
        "shape",
        ladder(SHAPES),
        ("Which shape is shown?", "What kind of shape is it?"),
        draw_kind,
        needs_colour=False,
    ),
    Category(
        "size comparison",
        "comparison",
        (("left", "right"), ("left", "right", "middle")),
        ("Which circle is the largest?", "Where is the largest circle?"),
        draw_sizes,
        hints=("Compare the circles.",),
        needs_colour=False,
    ),
    Category(
        "rotation",
        "orientation",
        ladder(tuple(DIRECTIONS)),
        ("Which way does the arrow point?", "Where does the arrow point to?"),
        draw_arrow,
        needs_colour=False,
    ),
)
