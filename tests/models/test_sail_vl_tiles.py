"""The tiles of SAIL-VL, counted by hand from its model card and VLMEvalKit's use_msac."""

import numpy as np
import pytest
from PIL import Image

from benchc.models.families.sail_vl import grids, nearest_grid, tiles

SIDE = 448


@pytest.mark.parametrize(
    ("size", "most", "grid"),
    [
        ((448, 448), 10, (1, 1)),
        ((896, 448), 10, (2, 1)),
        ((448, 1344), 10, (1, 3)),
        # Of the square grids 1 x 1, 2 x 2 and 3 x 3, the last that the image fills over half of.
        ((1400, 1400), 10, (3, 3)),
        ((900, 900), 10, (2, 2)),
        ((1400, 1400), 4, (2, 2)),
        # 5:1 and 6:1 fit into ten tiles, so that the nearest is chosen by ratio, not by area.
        ((5000, 900), 10, (6, 1)),
        ((5000, 900), 4, (4, 1)),
    ],
)
def test_the_grid_is_that_of_the_nearest_aspect_ratio(size, most, grid):
    assert nearest_grid(size, SIDE, grids(most)) == grid


def test_all_grids_are_tried_smaller_ones_first():
    assert grids(4) == [(1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (1, 4), (2, 2), (4, 1)]


def test_several_tiles_are_followed_by_a_copy_of_the_whole():
    image = Image.fromarray(np.zeros((448, 896, 3), np.uint8))
    image.paste((255, 0, 0), (0, 0, 448, 448))
    left, right, whole = tiles(image, SIDE, 10, twice=False)
    assert {left.size, right.size, whole.size} == {(SIDE, SIDE)}
    assert left.getcolors() == [(SIDE * SIDE, (255, 0, 0))] and right.getcolors() == [
        (SIDE * SIDE, (0, 0, 0))
    ]
    assert 0 < np.array(whole)[..., 0].mean() < 255
    assert len(tiles(image, SIDE, 1, twice=False)) == 1


@pytest.mark.parametrize(
    ("size", "count"),
    [
        # 2 x 1, then the nearest of those that do not divide it, which is 4 x 2, and the whole.
        ((896, 448), 2 + 8 + 1),
        # 1 x 1 alone has no copy: it comes last, after the nearest other, 2 x 2 or 3 x 3 by area.
        ((448, 448), 4 + 1),
    ],
)
def test_use_msac_adds_a_second_grid(size, count):
    assert len(tiles(Image.new("RGB", size), SIDE, 10, twice=True)) == count
