"""What torch is built for."""

import torch


def only_for_cpu() -> str:
    """Return words in brackets, after a space, where torch is built for the CPU alone; else nothing."""
    built = torch.version.cuda or torch.version.hip
    return (
        ""
        if built
        else f" (torch {torch.__version__} is built for the CPU alone: install one for CUDA or ROCm)"
    )
