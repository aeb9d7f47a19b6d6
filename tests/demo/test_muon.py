import torch

from benchc.demo.tiny.muon import Muon, orthogonalised


def test_singular_values_move_close_to_one() -> None:
    matrices = torch.randn(3, 8, 20, generator=torch.Generator().manual_seed(1))
    matrices[1] *= 1000
    values = torch.linalg.svdvals(orthogonalised(matrices))
    assert values.min() > 0.4 and values.max() < 1.4


def test_a_step_does_not_depend_on_the_gradients_scale_and_weight_decay_alone_shrinks() -> None:
    def stepped(weight: torch.Tensor, gradient: torch.Tensor, weight_decay: float = 0.0) -> torch.Tensor:
        parameter = torch.nn.Parameter(weight)
        parameter.grad = gradient
        Muon([parameter], lr=0.1, weight_decay=weight_decay).step()
        return parameter.detach()

    gradient = torch.randn(12, 5, generator=torch.Generator().manual_seed(2))
    moved, same = (stepped(torch.zeros(12, 5), scale * gradient) for scale in (1.0, 1e-3))
    assert torch.allclose(moved, same, atol=1e-4)
    assert (moved * gradient).sum() < 0
    assert torch.allclose(stepped(torch.ones(3, 3), torch.zeros(3, 3), 0.5), torch.full((3, 3), 0.95))
