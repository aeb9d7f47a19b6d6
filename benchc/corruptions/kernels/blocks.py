"""Transmission errors of macroblocks: exchanged, repeated, lost, or lost and concealed.

Source: R-Bench's dimensions 19 to 22. Blocks are on a grid from the top left corner, counted row by row; the
remainder at the right and bottom stays unchanged.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchc.pixels import Pixels

Indices = npt.NDArray[np.int64]

SIDE = 16  # of a macroblock, in pixels, as in MPEG-2 and H.264


class Losses(NamedTuple):
    """The lost blocks, and the random pixels that replace them."""

    blocks: Indices  # [n]
    pixels: npt.NDArray[np.uint8]  # [n, SIDE, SIDE, 3]


def draw_blocks(generator: np.random.Generator, height: int, width: int, *, share: float) -> Indices:
    """Return int64[n]: a ``share`` of the blocks, at least one, without repetition, in random order."""
    total = (height // SIDE) * (width // SIDE)
    return generator.permutation(total)[: max(1, round(share * total))]


def draw_pairs(generator: np.random.Generator, height: int, width: int, *, share: float) -> Indices:
    """Return int64[n, 2]: pairs of a ``share`` of the blocks, at least one pair, no block twice."""
    total = (height // SIDE) * (width // SIDE)
    pairs = max(1, round(share * total / 2))
    return generator.permutation(total)[: 2 * pairs].reshape(-1, 2)


def draw_losses(generator: np.random.Generator, height: int, width: int, *, share: float) -> Losses:
    """Return the blocks of :func:`draw_blocks` and uniform pixels for them."""
    blocks = draw_blocks(generator, height, width, share=share)
    return Losses(blocks, generator.integers(0, 256, (blocks.size, SIDE, SIDE, 3), dtype=np.uint8))


def block_exchange(image: Pixels, field: Indices, *, share: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with the two blocks of every pair in ``field`` exchanged."""
    del share  # it is in ``field``
    result = image.copy()
    source, target = _grid(image), _grid(result)
    for one, other in field:
        target[_place(image, one)] = source[_place(image, other)]
        target[_place(image, other)] = source[_place(image, one)]
    return result


def block_repeat(image: Pixels, field: Indices, *, share: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with every block of ``field`` replaced by the preceding one.

    The first block is replaced by the last. Replacements are from the original image, so a run of blocks
    moves by one.
    """
    del share
    result = image.copy()
    source, target = _grid(image), _grid(result)
    for block in field:
        target[_place(image, block)] = source[_place(image, block - 1)]
    return result


def block_loss(image: Pixels, field: Losses, *, share: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with random pixels in place of the blocks of ``field``."""
    del share
    result = image.copy()
    target = _grid(result)
    for block, pixels in zip(field.blocks, field.pixels, strict=True):
        target[_place(image, block)] = pixels
    return result


def block_interpolation(image: Pixels, field: Indices, *, share: float) -> Pixels:
    """Return ``image`` (uint8[H, W, 3]) with the blocks of ``field`` interpolated from their surroundings.

    Each pixel is the mean of the nearest pixels above, below, left and right of the block, weighted by the
    inverse of their distance. Lost neighbours count only once they are concealed; blocks without any other
    neighbour wait for the next round. Raises ValueError where all blocks are lost.
    """
    del share
    height, width, _ = image.shape
    rows, columns = height // SIDE, width // SIDE
    held = np.zeros((rows + 2, columns + 2), np.bool_)  # with the surroundings of the grid
    held[1 : -1 if height % SIDE == 0 else None, 1 : -1 if width % SIDE == 0 else None] = True
    held[1 + field // columns, 1 + field % columns] = False
    result = image.copy()
    waiting = sorted(field.tolist())
    while waiting:
        again = []
        for block in waiting:
            row, column = divmod(block, columns)
            if not _conceal(result, held[row : row + 3, column : column + 3], row * SIDE, column * SIDE):
                again.append(block)
        if len(again) == len(waiting):
            raise ValueError(f"all {rows * columns} blocks are lost, none can be interpolated; lose fewer")
        waiting = again
    return result


def _conceal(image: Pixels, held: npt.NDArray[np.bool_], top: int, left: int) -> bool:
    """Fill a block from its neighbours and mark it as known; ``held`` is [3, 3] around it."""
    before = 1 / np.arange(1, SIDE + 1)
    across, down = slice(left, left + SIDE), slice(top, top + SIDE)
    total, weight = np.zeros((SIDE, SIDE, 3)), np.zeros((SIDE, SIDE, 1))
    for row, column, weights in ((0, 1, before), (2, 1, before[::-1])):
        if held[row, column]:
            edge = image[top - 1 if row == 0 else top + SIDE, across]
            total += weights[:, np.newaxis, np.newaxis] * edge
            weight += weights[:, np.newaxis, np.newaxis]
    for row, column, weights in ((1, 0, before), (1, 2, before[::-1])):
        if held[row, column]:
            edge = image[down, left - 1 if column == 0 else left + SIDE]
            total += weights[:, np.newaxis] * edge[:, np.newaxis]
            weight += weights[:, np.newaxis]
    if not weight.any():
        return False
    image[down, across] = np.rint(total / weight)
    held[1, 1] = True
    return True


def _grid(image: Pixels) -> Pixels:
    """Return a view of ``image`` as [rows, columns, SIDE, SIDE, 3]."""
    rows, columns = image.shape[0] // SIDE, image.shape[1] // SIDE
    whole = image[: rows * SIDE, : columns * SIDE]
    return whole.reshape(rows, SIDE, columns, SIDE, 3).swapaxes(1, 2)


def _place(image: Pixels, block: int) -> tuple[int, int]:
    rows, columns = image.shape[0] // SIDE, image.shape[1] // SIDE
    row, column = divmod(int(block) % (rows * columns), columns)
    return row, column
