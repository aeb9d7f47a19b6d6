"""Figure 9: items of low, medium and high kappa, with their images and questions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchc.benchmarks.bench_c.figures.kappa_examples import BANDS, examples_by_kappa
from benchc.benchmarks.bench_c.inputs import Selected
from benchc.command_line import PositiveInt
from benchc.errors import InputError, recreate
from benchc.pixels import Pixels
from benchc.pluralize import pluralize
from benchc.rendering.image_grid import plot_images
from benchc.rendering.item_images import item_images
from benchc.rendering.labels import font_families, renderable, spaced
from benchc.rendering.shorten import shorten
from benchc.rendering.style import FAINT, INK, NORMAL, SMALL, TEXT_WIDTH, new_figure, styled
from benchc.rendering.wrap import LETTER, MathLine, line_height, option_text, wrap
from benchc.schemas.parquet import iterate_groups, read_table
from benchc.schemas.pool import POOL

# Inches. Four items fill the width of the text; with more in a band they are narrower.
MARGIN = 0.04
BAND_NAME = 0.34
GAP = 0.12
IMAGE_HEIGHT = 1.0
TITLE = 0.15
LINE = 0.105
BAND_GAP = 0.12
FEWEST_COLUMNS = 4
MOST_IN_A_ROW = 6

QUESTION_LINES, OPTION_LINES = 5, 5
POINTS = SMALL + 0.5


@dataclass(frozen=True)
class _Example:
    kappa: float
    images: Sequence[Pixels]
    lines: list[tuple[str, str, str]]  # text, weight, colour


def figure9(pool: Path, selected: Selected, each: PositiveInt = 4, items: list[str] | None = None) -> Figure:
    """Plot items of low, medium and high kappa with their images.

    ``items``: ids to show; None chooses ``each`` items per band, as :func:`examples_by_kappa` does. Raises
    InputError where items of the pool have no kappa.
    """
    kappas = selected.select("id", "kappa")
    candidates = read_table(pool, POOL, ["id", "source", "task", "question", "image_keys"]).join(
        kappas, on="id", how="left"
    )
    unknown = candidates.filter(pl.col("kappa").is_null())
    if unknown.height:
        raise InputError(
            f"figure 9: {pluralize(unknown.height, 'item')} of {pool} without kappa, first "
            f"{unknown['id'][0]!r}; {recreate('selection')}"
        )
    examples = examples_by_kappa(candidates, each=each, ids=items)
    rows = pl.concat(iterate_groups(pool, POOL, "id", set(examples["id"])))
    return plot(
        examples.join(rows.select("id", "options", "answer"), on="id", how="left", maintain_order="left"),
        {row["id"]: item_images(row, pool) for row in rows.iter_rows(named=True)},
        largest_kappa=float(candidates["kappa"].to_numpy().max()),
    )


def plot(items: pl.DataFrame, images: Mapping[str, Sequence[Pixels]], *, largest_kappa: float) -> Figure:
    """Plot items in three bands by kappa, each with its images, question and options.

    ``items``: columns id, task, question, options, answer (as in POOL), kappa (eq. 5, in [0, 1]) and band
    (one of BANDS), in the order of the figure; ``images``: each id's images, uint8[H, W, 3];
    ``largest_kappa`` of the pool, whose thirds are the bands. Long texts end in an ellipsis; the right option
    has a tick mark. Raises InputError where an item has no images. Paper: figure 9.
    """
    for id_ in items["id"]:
        if not images.get(id_):
            raise InputError(f"figure 9: item {id_!r} has no images; name another one")
    counts = [items.filter(pl.col("band") == band).height for band in BANDS]
    columns = min(MOST_IN_A_ROW, max(FEWEST_COLUMNS, *counts))
    cell = (TEXT_WIDTH - BAND_NAME - MARGIN - (columns - 1) * GAP) / columns
    bands = [_examples(items.filter(pl.col("band") == band), images, cell) for band in BANDS]
    rows = [
        [band[start : start + columns] for start in range(0, len(band), columns)] or [[]] for band in bands
    ]
    row_heights = [[_height(row) for row in band] for band in rows]
    height = 2 * MARGIN + sum(map(sum, row_heights)) + (len(BANDS) - 1) * BAND_GAP
    with styled():
        figure = new_figure(TEXT_WIDTH, height)
        figure.set_layout_engine("none")  # positions are explicit
        top = height - MARGIN
        for number, band in enumerate(BANDS):
            bottom = top - sum(row_heights[number])
            _band_name(figure, band, number, largest_kappa, top / height, bottom / height)
            for row, row_height in zip(rows[number], row_heights[number], strict=True):
                if not row:
                    x, y = BAND_NAME / TEXT_WIDTH, (top - row_height / 2) / height
                    figure.text(x, y, "no items", va="center", color=FAINT)
                for column, example in enumerate(row):
                    _plot_example(figure, example, BAND_NAME + column * (cell + GAP), top, cell)
                top -= row_height
            top -= BAND_GAP
    return figure


def _height(row: Sequence[_Example]) -> float:
    if not row:
        return 0.7  # the band's name
    return TITLE + IMAGE_HEIGHT + 0.05 + LINE * max(_lines_high(example) for example in row) + 0.05


def _lines_high(example: _Example) -> float:
    return sum(line_height(text) for text, *_ in example.lines)


def _examples(items: pl.DataFrame, images: Mapping[str, Sequence[Pixels]], inches: float) -> list[_Example]:
    examples = []
    for row in items.iter_rows(named=True):
        task, question = (renderable([text])[0] for text in (spaced(row["task"]), row["question"]))
        options = option_text(row["options"], row["answer"])
        room = int(inches / (LETTER * POINTS))
        lines = [(shorten(task, room), "normal", FAINT)]
        for text, most in ((question, QUESTION_LINES), (options, OPTION_LINES)):
            lines += [(line, "normal", INK) for line in wrap(text, inches=inches, points=POINTS, lines=most)]
        examples.append(_Example(row["kappa"], images[row["id"]], lines))
    return examples


def _band_name(figure: Figure, band: str, number: int, largest: float, top: float, bottom: float) -> None:
    ends = [f"{step * largest / 3:.2f}" for step in (number, number + 1)]
    opening = "[" if number == 0 else "("
    name = f"{band} κ\n{opening}{ends[0]}, {ends[1]}]"
    figure.text(
        0.13 / TEXT_WIDTH,
        (top + bottom) / 2,
        name,
        rotation=90,
        ha="center",
        va="center",
        multialignment="center",
        fontsize=NORMAL,
        fontweight="bold",
        color=INK,
    )
    x = (BAND_NAME - 0.06) / TEXT_WIDTH
    figure.add_artist(Line2D([x, x], [top, bottom], color=FAINT, linewidth=0.8))


def _plot_example(figure: Figure, example: _Example, left: float, top: float, inches: float) -> None:
    """Plot one item; ``left``, ``top``: its upper left corner, in inches from the figure's lower left one."""
    width, height = figure.get_size_inches()
    figure.text(
        (left + inches / 2) / width,
        top / height,
        f"κ = {example.kappa:.3f}",
        ha="center",
        va="top",
        fontsize=NORMAL,
        fontweight="bold",
        color=INK,
    )
    bottom = top - TITLE - IMAGE_HEIGHT
    axes = figure.add_axes((left / width, bottom / height, inches / width, IMAGE_HEIGHT / height))
    plot_images(axes, example.images, width=inches, height=IMAGE_HEIGHT)
    y = bottom - 0.05
    for text, weight, colour in example.lines:
        figure.text(
            left / width,
            y / height,
            text,
            va="top",
            fontsize=POINTS,
            fontweight=weight,
            family=font_families(),
            color=colour,
            parse_math=isinstance(text, MathLine),
        )
        y -= LINE * line_height(text)
