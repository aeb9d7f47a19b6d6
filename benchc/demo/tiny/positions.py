"""Initialise a vision tower's position embeddings with sines."""

import math

import torch

# Relative to the patch embeddings. With the usual noise of 0.02, the loss starts to fall far later.
AMPLITUDE = 0.5
# The second is of ViLT, which has no tower of its own.
VISION_PARTS = ("vision", "vilt.embeddings.position")


def set_positions(model: torch.nn.Module, patches_per_side: int) -> None:
    """Set the vision tower's learned position table to two-dimensional sines, except a class token's row.

    Raises ValueError unless the model has exactly one such table.
    """
    tables = [
        parameter
        for name, parameter in model.named_parameters()
        if "position_embedding" in name and any(part in name for part in VISION_PARTS)
    ]
    if len(tables) != 1:
        raise ValueError(f"the model's vision tower has {len(tables)} position tables, but must have one")
    table = tables[0][0] if tables[0].ndim == 3 else tables[0]
    with torch.no_grad():
        table[-(patches_per_side**2) :] = AMPLITUDE * sines(patches_per_side, table.shape[-1])


def sines(side: int, width: int) -> torch.Tensor:
    """Return sine features of a square grid's cells, row by row, float32 [side**2, width]."""
    waves = width // 4
    frequencies = math.pi * 100.0 ** (-torch.arange(waves) / waves)
    angles = torch.linspace(0, 4, side)[:, None] * frequencies
    axis = torch.cat([angles.sin(), angles.cos()], dim=1)
    rows, columns = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    return torch.cat([axis[rows.flatten()], axis[columns.flatten()]], dim=1)
