"""Figure A.1: the taxonomy of corruptions, with an example of each."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchc.benchmarks.vqa_robustness.figures.groups import grouped
from benchc.benchmarks.vqa_robustness.tables.names import words
from benchc.corruptions.apply import apply
from benchc.corruptions.recipe import Recipe
from benchc.image_keys import image_seed
from benchc.pixels import Pixels
from benchc.rendering.contact_pages import pages_of
from benchc.rendering.example_image import example_image
from benchc.rendering.labels import renderable
from benchc.rendering.style import FAINT, INK, NORMAL, TEXT_WIDTH, new_figure, styled
from benchc.rendering.wrap import wrap
from benchc.transparency import Alpha

# Inches.
IN_A_ROW = 8
GAP = 0.04  # between images
MARGIN = 0.03
HEAD, NAME = 0.24, 0.25
STAR = "*"
NOTE = f"{STAR} VRE is not computed over it"
MOST_HEIGHT = 1.2  # of an image, in its widths


def figure_a1(
    pool: Path,
    groups: dict[str, str],
    recipes: dict[str, Recipe],
    measured: list[str],
    seed: int,
    alpha: Alpha,
    severity: int = 4,
    item: str | None = None,
) -> Figure:
    """Plot one image of the pool, clean and under each corruption at one severity, by class.

    The images are made here: a run need not have stored them, nor ask models about them. Their pixels are
    those of a run with these recipes, seed and alpha.

    Args:
        pool: pool/items.parquet.
        groups: the class of each corruption, in the order of the figure.
        recipes: of each corruption.
        measured: corruptions that VRE is computed over; the names of others have a star.
        seed: the run's.
        alpha: how transparency is handled.
        severity: of all corruptions.
        item: whose first image is shown; by default that of the contact sheets.
    """
    key, clean = example_image(pool, item, alpha)
    cells: list[tuple[str, str, Pixels]] = [("", "clean", clean)]
    names = list(groups)
    for group, places in grouped(names, groups).items():
        for name in (names[place] for place in places):
            image = apply(recipes[name], clean, severity, image_seed(seed, key, name, severity))
            cells.append((group, f"{words(name)}{'' if name in measured else STAR}", image))
    return _plot(cells, clean.shape[0] / clean.shape[1])


def _plot(cells: list[tuple[str, str, Pixels]], aspect: float) -> Figure:
    """Plot images with their classes and names; ``aspect``: the height of an image in its widths."""
    rows = pages_of([group for group, *_ in cells], IN_A_ROW)
    side = (TEXT_WIDTH - 2 * MARGIN + GAP) / max(map(len, rows)) - GAP
    side = min(side, (TEXT_WIDTH - 2 * MARGIN + GAP) / 4 - GAP)
    tall = side * min(aspect, MOST_HEIGHT)
    wide = tall / aspect
    starred = any(name.endswith(STAR) for _, name, _ in cells)
    height = 2 * MARGIN + len(rows) * (HEAD + tall + NAME) + (0.12 if starred else 0)
    with styled():
        figure = new_figure(TEXT_WIDTH, height)
        figure.set_layout_engine("none")  # positions are explicit
        for number, row in enumerate(rows):
            top = MARGIN + number * (HEAD + tall + NAME)
            groups: dict[str, list[int]] = {}
            for column, place in enumerate(row):
                group, name, image = cells[place]
                groups.setdefault(group, []).append(column)
                left = MARGIN + column * (side + GAP)
                bottom = height - top - HEAD - tall
                axes = figure.add_axes(
                    (
                        (left + (side - wide) / 2) / TEXT_WIDTH,
                        bottom / height,
                        wide / TEXT_WIDTH,
                        tall / height,
                    )
                )
                # A smaller image is enlarged without smoothing.
                axes.imshow(image, aspect="auto", interpolation="nearest" if len(image) < 200 else None)
                axes.set(xticks=[], yticks=[])
                axes.spines[:].set(visible=True, color=FAINT, linewidth=0.3)
                lines = wrap(renderable([name])[0], inches=side, points=NORMAL - 0.5, lines=2)
                for line, text in enumerate(lines):
                    _text(figure, left + side / 2, bottom - 0.1 * (line + 1), text)
            for group, columns in groups.items():
                if group:
                    _head(figure, group, columns, side, height - top)
        if starred:
            _text(figure, MARGIN, MARGIN + 0.02, NOTE, ha="left")
    return figure


def _head(figure: Figure, group: str, columns: list[int], side: float, top: float) -> None:
    """Write the name of a class above a line over its images; ``top``: inches from below."""
    left, right = (MARGIN + column * (side + GAP) for column in (columns[0], columns[-1] + 1))
    right -= GAP
    _text(figure, (left + right) / 2, top - HEAD + 0.1, group, fontweight="bold")
    width, height = figure.get_size_inches()
    y = (top - HEAD + 0.06) / height
    figure.add_artist(Line2D([left / width, right / width], [y, y], color=FAINT, linewidth=0.8))


def _text(figure: Figure, x: float, y: float, text: str, **options: Any) -> None:
    width, height = figure.get_size_inches()
    look: dict[str, Any] = {"ha": "center", "va": "baseline", "fontsize": NORMAL - 0.5, "color": INK}
    figure.text(x / width, y / height, text, **{**look, **options})
