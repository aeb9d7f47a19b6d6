"""Figure A.1: the taxonomy of corruptions, with an example of each."""

from pathlib import Path

from matplotlib.figure import Figure

from benchc.benchmarks.vqa_robustness.tables.names import words
from benchc.corruptions.apply import apply
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.variants import noise_seed
from benchc.rendering.example_image import example_image
from benchc.rendering.groups import grouped
from benchc.rendering.image_cells import Cell, plot_cells
from benchc.transparency import Alpha

STAR = "*"
NOTE = f"{STAR} VRE is not computed over it"


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
    cells: list[Cell] = [("", "clean", clean)]
    names = list(groups)
    for group, places in grouped(names, groups).items():
        for name in (names[place] for place in places):
            recipe = recipes[name]
            image = apply(recipe, clean, severity, noise_seed(recipe, seed, key, severity))
            cells.append((group, f"{words(name)}{'' if name in measured else STAR}", image))
    starred = any(name.endswith(STAR) for _, name, _ in cells)
    return plot_cells(cells, NOTE if starred else "")
