"""The demo's data: six small synthetic benchmarks that cannot be answered without the images.

Items come in groups. The items of a group share the question, hint, options, image sizes and file format, and
each option is the answer exactly once. A deterministic model that does not see the images therefore gets 1
of K items of every group right, which is chance.
"""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from PIL import Image

from benchc.demo.canvas import Canvas
from benchc.demo.category import Category, Scene
from benchc.demo.scenes import charts, everyday, puzzles, reading, shapes, tables
from benchc.demo.sources import GENERATED_SOURCES
from benchc.randomness import generator_of

SOURCES = MappingProxyType(
    dict(
        zip(
            GENERATED_SOURCES,
            (
                reading.CATEGORIES,
                charts.CATEGORIES,
                tables.CATEGORIES,
                shapes.CATEGORIES,
                everyday.CATEGORIES,
                puzzles.CATEGORIES,
            ),
            strict=True,
        )
    )
)

SIDES = (48, 256)  # pixels
LARGE_SIDE = 1024
# One group in this many has images of LARGE_SIDE.
GROUPS_PER_LARGE = 90


@dataclass(frozen=True)
class Group:
    """What the items of a group share."""

    question: str
    hint: str
    options: tuple[str, ...]
    subject: str
    answers: tuple[int, ...]  # of its items, in their order: a permutation of the options
    sizes: tuple[tuple[int, int], ...]  # width and height of each image, pixels
    mode: str  # L, RGB or RGBA
    format: str  # PNG or JPEG


def generate_group(source: str, category: Category, number: int, seed: int) -> Group:
    """Return what the items of a category's group ``number`` share."""
    rng = generator_of(seed, source, category.name, number, "group")
    options = category.option_sets[number % len(category.option_sets)]
    subject = str(rng.choice(category.subjects))
    hint = str(rng.choice(category.hints)) if category.hints and rng.random() < 0.3 else ""
    ordinal = [c.name for categories in SOURCES.values() for c in categories].index(category.name)
    large = (37 * ordinal + number) % GROUPS_PER_LARGE == 5
    mode = "L" if not category.needs_colour and rng.random() < 0.25 else "RGB"
    if mode == "RGB" and rng.random() < 0.12:
        mode = "RGBA"
    lossy = mode != "RGBA" and (large or rng.random() < 0.2)
    return Group(
        question=str(rng.choice(category.questions)).format(subject=subject),
        hint=hint,
        options=options,
        subject=subject,
        answers=tuple(int(answer) for answer in rng.permutation(len(options))),
        sizes=tuple(_size(rng, large) for _ in range(category.images)),
        mode=mode,
        format="JPEG" if lossy else "PNG",
    )


def render_images(
    source: str, category: Category, number: int, position: int, group: Group, seed: int
) -> list[Image.Image]:
    """Return the images of the item at ``position`` of a group, in the group's sizes and mode."""
    rng = generator_of(seed, source, category.name, number, position)
    scene = Scene(group.options, group.answers[position], group.subject)
    canvases = [Canvas(width, height, rng) for width, height in group.sizes]
    category.draw(canvases, scene)
    return [_in_mode(canvas.finish(), group.mode) for canvas in canvases]


def _size(rng: np.random.Generator, large: bool) -> tuple[int, int]:
    """Return a width and a height, up to 4:3 or 3:4; half of the images have sides under 65 pixels."""
    smallest, largest = SIDES
    side = smallest * (largest / smallest) ** (rng.random() ** 2.6)
    stretch = np.exp(rng.uniform(-1, 1) * np.log(4 / 3) / 2)
    width, height = (side * stretch, side / stretch)
    if large:
        width, height = (LARGE_SIDE * length / max(width, height) for length in (width, height))
        smallest = largest = LARGE_SIDE
        return round(width), round(height)
    return int(np.clip(round(width), smallest, largest)), int(np.clip(round(height), smallest, largest))


def _in_mode(image: Image.Image, mode: str) -> Image.Image:
    if mode != "RGBA":
        return image.convert(mode)
    # A vignette: the corners fade but keep their colours, so that the scene shows whether alpha is dropped or
    # the image is laid over white.
    width, height = image.size
    x, y = np.linspace(-1, 1, width), np.linspace(-1, 1, height)[:, None]
    alpha = np.clip(255 * (2.6 - 1.6 * np.hypot(x, y)), 60, 255).astype(np.uint8)
    image.putalpha(Image.fromarray(alpha))
    return image
