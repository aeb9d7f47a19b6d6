"""Muon, an optimizer of weight matrices (Jordan et al., 2024), for small models on the CPU.

torch.optim.Muon multiplies matrices in bfloat16, which is many times slower on CPUs without instructions for
it. This one stays in float32 and batches matrices of one shape.
"""

from collections import defaultdict
from collections.abc import Iterable

import torch

MOMENTUM = 0.95
ITERATIONS = 4
# Coefficients of the quintic that moves singular values towards 1.
QUINTIC = (3.4445, -4.7750, 2.0315)


class Muon(torch.optim.Optimizer):
    """Momentum SGD that replaces a matrix's update by about the nearest orthogonal matrix."""

    def __init__(self, matrices: Iterable[torch.nn.Parameter], lr: float, weight_decay: float) -> None:
        super().__init__(list(matrices), {"lr": lr, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: None = None) -> None:  # type: ignore[override]
        """Update every matrix that has a gradient."""
        for group in self.param_groups:
            by_shape: dict[tuple[int, int], list[tuple[torch.nn.Parameter, torch.Tensor]]] = defaultdict(list)
            for matrix in group["params"]:
                if matrix.grad is None:
                    continue
                momentum = self.state[matrix].setdefault("momentum", torch.zeros_like(matrix))
                momentum.lerp_(matrix.grad, 1 - MOMENTUM)
                update = matrix.grad.lerp(momentum, MOMENTUM)
                rows, columns = update.shape
                by_shape[min(rows, columns), max(rows, columns)].append(
                    (matrix, update if rows <= columns else update.T)
                )
            for members in by_shape.values():
                updates = orthogonalised(torch.stack([update for _, update in members]))
                for (matrix, _), update in zip(members, updates, strict=True):
                    rows, columns = matrix.shape
                    rate = group["lr"] * max(1.0, rows / columns) ** 0.5
                    matrix.mul_(1 - group["lr"] * group["weight_decay"])
                    matrix.sub_(update if rows <= columns else update.T, alpha=rate)


def orthogonalised(matrices: torch.Tensor) -> torch.Tensor:
    """Return matrices [n, rows, columns], rows <= columns, with singular values moved close to 1."""
    first, second, third = QUINTIC
    result: torch.Tensor = matrices / (matrices.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(ITERATIONS):
        gram = result @ result.mT
        result = first * result + (second * gram + third * gram @ gram) @ result
    return result
