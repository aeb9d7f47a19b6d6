"""Categories of the demo: bar charts, pie charts and line charts."""

from collections.abc import Sequence

from benchc.demo.canvas import COLOURS, Canvas
from benchc.demo.category import Category, Scene, ladder

TRENDS = {
    "rising": (0.0, 0.33, 0.67, 1.0),
    "falling": (1.0, 0.67, 0.33, 0.0),
    "flat": (0.5, 0.5, 0.5, 0.5),
    "peak": (0.0, 1.0, 1.0, 0.0),
    "valley": (1.0, 0.0, 0.0, 1.0),
}


def draw_bars(canvases: Sequence[Canvas], scene: Scene) -> None:
    """A bar of each option's colour in any order; the answer's is the longest by a clear margin."""
    (canvas,) = canvases
    order = canvas.rng.permutation(len(scene.options))
    step = 0.86 / len(order)
    margin = canvas.rng.uniform(0.1, 0.22) * step
    top = canvas.rng.uniform(0.7, 0.85)
    for place, option in enumerate(order):
        share = 1.0 if option == scene.answer else canvas.rng.uniform(0.2, 0.65)
        left = 0.09 + step * place
        colour = canvas.named(scene.options[option])
        canvas.box(left + margin, 0.93, left + step - margin, 0.93 - top * share, colour)
    canvas.line([(0.06, 0.05), (0.06, 0.94), (0.97, 0.94)], 0.02, canvas.ink())


def draw_pie(canvases: Sequence[Canvas], scene: Scene) -> None:
    """A slice of each option's colour in any order; the answer's is the largest by a clear margin."""
    (canvas,) = canvases
    order = canvas.rng.permutation(len(scene.options))
    sizes = canvas.rng.uniform(0.6, 1.0, size=len(order))
    sizes[scene.answer] = canvas.rng.uniform(1.6, 2.0)
    start = canvas.rng.uniform(0, 360)
    x, y = canvas.rng.uniform(0.44, 0.56, size=2)
    radius = canvas.rng.uniform(0.3, 0.4)
    for option in order:
        end = start + 360 * sizes[option] / sizes.sum()
        canvas.slice(x, y, radius, start, end, canvas.named(scene.options[option]))
        start = end


def draw_trend(canvases: Sequence[Canvas], scene: Scene) -> None:
    """A line of four points."""
    (canvas,) = canvases
    low, high = canvas.rng.uniform(0.12, 0.22), canvas.rng.uniform(0.78, 0.88)
    heights = [low + (high - low) * h + canvas.rng.uniform(-0.05, 0.05) for h in TRENDS[scene.truth]]
    canvas.line([(0.06, 0.05), (0.06, 0.95), (0.97, 0.95)], 0.02, canvas.ink())
    colour = canvas.ink()
    canvas.line([(0.14 + 0.25 * i, 1 - h) for i, h in enumerate(heights)], 0.05, colour)


CATEGORIES = (
    Category(
        "bar chart",
        "charts",
        ladder(tuple(COLOURS)),
        ("Which colour is the highest bar?", "Which bar is the highest?"),
        draw_bars,
        hints=("The picture is a bar chart.",),
    ),
    Category(
        "pie chart",
        "charts",
        ladder(tuple(COLOURS)),
        ("Which colour is the largest slice?", "Which slice of the pie is the largest?"),
        draw_pie,
    ),
    Category(
        "line chart",
        "charts",
        ladder(tuple(TRENDS)),
        ("Which trend does the line show?", "What does the line do?"),
        draw_trend,
        hints=("Read the line from left to right.",),
        needs_colour=False,
    ),
)
