"""Figure 8: all dimensions at the highest strength, by step."""

from pathlib import Path

from matplotlib.figure import Figure

from benchc.benchmarks.r_bench.dimensions import STEP_LABELS, dimension
from benchc.benchmarks.r_bench.names import STAND_INS, STAR, named
from benchc.benchmarks.r_bench.schemas.pairs import PAIRS
from benchc.images import decode
from benchc.rendering.image_cells import Cell, plot_cells
from benchc.rendering.style import NORMAL
from benchc.schemas.parquet import read_table

IN_A_ROW = 9  # the first two steps and the reference


def figure8(gallery: Path) -> Figure:
    """Plot the images of gallery.parquet, with their reference where it is the same for all."""
    rows = read_table(gallery, PAIRS)
    cells: list[Cell] = []
    if rows["id"].n_unique() == 1:
        cells.append(("", "reference", decode(rows["reference"][0]["bytes"])))
    for row in rows.iter_rows(named=True):
        one = dimension(row["corruption"])
        cells.append(
            (STEP_LABELS[one.step], named(one.name).partition(" ")[2], decode(row["distorted"]["bytes"]))
        )
    starred = any(name.endswith(STAR) for _, name, _ in cells)
    return plot_cells(cells, STAND_INS if starred else "", in_a_row=IN_A_ROW, points=NORMAL - 1)
