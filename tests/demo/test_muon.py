import torch

from benchc.demo.tiny.muon import Muon, orthogonalised


def test_singular_values_move_close_to_one() -> None:
    matrices = torch.randn(3, 8, 20, generator=torch.Generator().manual_seed(1))
    matrices[1] *= 1000
    values = torch.linalg.svdvals(orthogonalised(matrices))
    assert values.min() > 0.4
    assert values.max() < 1.4


def test_a_step_does_not_depend_on_the_gradients_scale() -> None:
    gradient = torch.randn(12, 5, generator=torch.Generator().manual_seed(2))
    moved = []
    for scale in (1.0, 1e-3):
        weight = torch.nn.Parameter(torch.zeros(12, 5))
        weight.grad = scale * gradient
        Muon([weight], lr=0.1, weight_decay=0.0).step()
        moved.append(weight.detach().clone())
    assert torch.allclose(moved[0], moved[1], atol=1e-4)
    assert (moved[0] * gradient).sum() < 0


def test_weight_decay_alone_shrinks() -> None:
    weight = torch.nn.Parameter(torch.ones(3, 3))
    weight.grad = torch.zeros(3, 3)
    Muon([weight], lr=0.1, weight_decay=0.5).step()
    assert torch.allclose(weight.detach(), torch.full((3, 3), 0.95))
