"""Transmission errors of macroblocks: exchanged, repeated, lost, or lost and concealed.

Source: R-Bench's dimensions 19 to 22. Blocks are on a grid from the top left corner, counted row by row; the
remainder at the right and bottom stays unchanged. Of an image with few blocks at most half are affected.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchc.pixels import Pixels

Indices = npt.NDArray[np.int64]

LEAST_SIDE = 16  # of a macroblock, in pixels, as in MPEG-2 and H.264
BLOCKS = 16  # along the short side of a large image


def side_of(height: int, width: int) -> int:
    """Return the side of the blocks in pixels: a sixteenth of the short side of the image, at least 16."""
    return max(LEAST_SIDE, min(height, width) // BLOCKS)


class Losses(NamedTuple):
    """The lost blocks, and the random pixels that replace them."""

    blocks: Indices  # [n]
    pixels: npt.NDArray[np.uint8]  # [n, side, side, 3]


def draw_blocks(generator: np.random.Generator, height: int, width: int, *, count: int) -> Indices:
    """Return int64[n]: ``count`` blocks, or half of them if that is fewer, in random order."""
    side = side_of(height, width)
    total = (height // side) * (width // side)
    return generator.permutation(total)[: max(1, min(count, total // 2))]


def draw_pairs(generator: np.random.Generator, height: int, width: int, *, count: int) -> Indices:
    """Return int64[n, 2]: the blocks of :func:`draw_blocks` in pairs, at least one pair if there are two."""
    side = side_of(height, width)
    total = (height // side) * (width // side)
    pairs = max(1, min(count, total // 2) // 2)
    return generator.permutation(total)[: min(2 * pairs, total // 2 * 2)].reshape(-1, 2)


def draw_losses(generator: np.random.Generator, height: int, width: int, *, count: int) -> Losses:
    """Return the blocks of :func:`draw_blocks` and uniform pixels for them."""
    blocks, side = draw_blocks(generator, height, width, count=count), side_of(height, width)
    return Losses(blocks, generator.integers(0, 256, (blocks.size, side, side, 3), dtype=np.uint8))


def block_exchange(image: Pixels, field: Indices, *, count: int) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with the two blocks of every pair in ``field`` exchanged."""
    del count  # it is in ``field``
    result = image.copy()
    source, target = _grid(image), _grid(result)
    for one, other in field:
        target[_place(image, one)] = source[_place(image, other)]
        target[_place(image, other)] = source[_place(image, one)]
    return result


def block_repeat(image: Pixels, field: Indices, *, count: int) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with every block of ``field`` replaced by the preceding one.

    The first block is replaced by the last. Replacements are from the original image, so a run of blocks
    moves by one.
    """
    del count
    result = image.copy()
    source, target = _grid(image), _grid(result)
    for block in field:
        target[_place(image, block)] = source[_place(image, block - 1)]
    return result


def block_loss(image: Pixels, field: Losses, *, count: int) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with random pixels in place of the blocks of ``field``."""
    del count
    result = image.copy()
    target = _grid(result)
    for block, pixels in zip(field.blocks, field.pixels, strict=True):
        target[_place(image, block)] = pixels
    return result


def block_interpolation(image: Pixels, field: Indices, *, count: int) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with the blocks of ``field`` interpolated from their surroundings.

    Each pixel is the mean of the nearest pixels above, below, left and right of the block, weighted by the
    inverse of their distance. Lost neighbours count only once they are concealed; blocks without any other
    neighbour wait for the next round. Raises ValueError where all blocks are lost.
    """
    del count
    height, width, _ = image.shape
    side = side_of(height, width)
    rows, columns = height // side, width // side
    held = np.zeros((rows + 2, columns + 2), np.bool_)  # with the surroundings of the grid
    held[1 : -1 if height % side == 0 else None, 1 : -1 if width % side == 0 else None] = True
    held[1 + field // columns, 1 + field % columns] = False
    result = image.copy()
    waiting = sorted(field.tolist())
    while waiting:
        again = []
        for block in waiting:
            row, column = divmod(block, columns)
            if not _conceal(
                result, held[row : row + 3, column : column + 3], row * side, column * side, side
            ):
                again.append(block)
        if len(again) == len(waiting):
            raise ValueError(f"all {rows * columns} blocks are lost, none can be interpolated; lose fewer")
        waiting = again
    return result


def _conceal(image: Pixels, held: npt.NDArray[np.bool_], top: int, left: int, side: int) -> bool:
    """Fill a block from its neighbours and mark it as known; ``held`` is [3, 3] around it."""
    before = 1 / np.arange(1, side + 1)
    across, down = slice(left, left + side), slice(top, top + side)
    total, weight = np.zeros((side, side, 3)), np.zeros((side, side, 1))
    for row, column, weights in ((0, 1, before), (2, 1, before[::-1])):
        if held[row, column]:
            edge = image[top - 1 if row == 0 else top + side, across]
            total += weights[:, np.newaxis, np.newaxis] * edge
            weight += weights[:, np.newaxis, np.newaxis]
    for row, column, weights in ((1, 0, before), (1, 2, before[::-1])):
        if held[row, column]:
            edge = image[down, left - 1 if column == 0 else left + side]
            total += weights[:, np.newaxis] * edge[:, np.newaxis]
            weight += weights[:, np.newaxis]
    if not weight.any():
        return False
    image[down, across] = np.rint(total / weight)
    held[1, 1] = True
    return True


def _grid(image: Pixels) -> Pixels:
    """Return a view of ``image`` as [rows, columns, side, side, 3]."""
    side = side_of(*image.shape[:2])
    rows, columns = image.shape[0] // side, image.shape[1] // side
    whole = image[: rows * side, : columns * side]
    return whole.reshape(rows, side, columns, side, 3).swapaxes(1, 2)


def _place(image: Pixels, block: int) -> tuple[int, int]:
    side = side_of(*image.shape[:2])
    rows, columns = image.shape[0] // side, image.shape[1] // side
    row, column = divmod(int(block) % (rows * columns), columns)
    return row, column
