"""Categories of the demo: continue a sequence, compare two images."""

from collections.abc import Sequence

from benchc.demo.canvas import COLOURS, INK, Canvas
from benchc.demo.category import Category, Scene, ladder

ORDINALS = ("first", "second")


def draw_sequence(canvases: Sequence[Canvas], scene: Scene) -> None:
    """Colours that repeat with period two, and an empty box; the next is the answer."""
    (canvas,) = canvases
    other = str(canvas.rng.choice([colour for colour in COLOURS if colour != scene.truth]))
    y, half = canvas.rng.uniform(0.35, 0.65), canvas.rng.uniform(0.07, 0.12)
    for place, name in enumerate((scene.truth, other, scene.truth, other)):
        x = 0.12 + 0.19 * place
        canvas.box(x - 0.07, y - half, x + 0.07, y + half, canvas.named(name))
    canvas.box(0.8, y - half, 0.96, y + half, canvas.paper, INK)
    canvas.text(0.88, y, "?", INK, 1.6 * half)


def draw_more(canvases: Sequence[Canvas], scene: Scene) -> None:
    """Two images with balls; the answer's has at least three more."""
    few = int(canvases[0].rng.integers(1, 4))
    for name, canvas in zip(ORDINALS, canvases, strict=True):
        count = few + int(canvas.rng.integers(3, 6)) if name == scene.truth else few
        colour = canvas.any_dark()
        for cell in canvas.rng.permutation(9)[:count]:
            x, y = 0.2 + 0.3 * (cell // 3), 0.2 + 0.3 * (cell % 3)
            canvas.disc(x, y, canvas.rng.uniform(0.085, 0.115), colour)


CATEGORIES = (
    Category(
        "colour sequence",
        "sequences",
        ladder(tuple(COLOURS)),
        ("Which colour comes next?", "Which colour continues the sequence?"),
        draw_sequence,
        hints=("The colours repeat.",),
    ),
    Category(
        "more balls",
        "two pictures",
        (ORDINALS,),
        ("Which picture has more balls?", "In which picture are more balls?"),
        draw_more,
        images=2,
        needs_colour=False,
    ),
)
