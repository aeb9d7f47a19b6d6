"""Categories of the demo: find a row or a column of a table, count its rows."""

from collections.abc import Sequence

from benchc.demo.canvas import Canvas
from benchc.demo.category import Category, Scene, ladder

ORDINALS = ("first", "second", "third", "fourth")
NUMBERS = ("two", "three", "four", "five")


def _grid(canvas: Canvas, rows: int, columns: int, filled: tuple[int, int] | None) -> None:
    left, top, right, bottom = 0.06, 0.06, 0.94, 0.94
    canvas.box(left, top, right, bottom, canvas.paper)
    ink = canvas.ink()
    across, down = (right - left) / columns, (bottom - top) / rows
    if filled is not None:
        row, column = filled
        x, y = left + across * column, top + down * row
        canvas.box(x, y, x + across, y + down, canvas.ink())
    for row in range(rows + 1):
        canvas.line([(left, top + down * row), (right, top + down * row)], 0.02, ink)
    for column in range(columns + 1):
        canvas.line([(left + across * column, top), (left + across * column, bottom)], 0.02, ink)


def draw_row(canvases: Sequence[Canvas], scene: Scene) -> None:
    """As many rows as options, one filled cell in the answer's row."""
    (canvas,) = canvases
    columns = int(canvas.rng.integers(2, 4))
    _grid(canvas, len(scene.options), columns, (scene.answer, int(canvas.rng.integers(columns))))


def draw_column(canvases: Sequence[Canvas], scene: Scene) -> None:
    """As many columns as options, one filled cell in the answer's column."""
    (canvas,) = canvases
    rows = int(canvas.rng.integers(2, 4))
    _grid(canvas, rows, len(scene.options), (int(canvas.rng.integers(rows)), scene.answer))


def draw_rows(canvases: Sequence[Canvas], scene: Scene) -> None:
    """A table with the answer's number of rows."""
    (canvas,) = canvases
    _grid(canvas, NUMBERS.index(scene.truth) + 2, int(canvas.rng.integers(1, 4)), None)


CATEGORIES = (
    Category(
        "table row",
        "tables",
        ladder(ORDINALS),
        ("In which row is the filled cell?", "Which row has the filled cell?"),
        draw_row,
        hints=("Count the rows from the top.",),
        needs_colour=False,
    ),
    Category(
        "table column",
        "tables",
        ladder(ORDINALS),
        ("In which column is the filled cell?", "Which column has the filled cell?"),
        draw_column,
        hints=("Count the columns from the left.",),
        needs_colour=False,
    ),
    Category(
        "table size",
        "tables",
        ladder(NUMBERS),
        ("How many rows does the table have?", "How many rows are there?"),
        draw_rows,
        needs_colour=False,
    ),
)
