"""The identity of a model's predictions: all that decides them besides prompt and pixels."""

import os
from importlib.metadata import version

import torch

from benchc.models.prediction_code import prediction_code
from benchc.models.protocol import ModelInterface
from benchc.models.registry import scorer_modules


def prediction_identity(model: ModelInterface, family: str | None, scoring: str) -> dict[str, str]:
    """Return the identity of what a model returns that ``benchc.models.predict`` has loaded.

    ``scoring``: a key of ``SCORINGS`` or ``ANSWERING``.

    It has the facts of the model (revision, dtype, device, processor, attention, library versions), torch's
    settings as they are in this process, and the code.
    """
    facts = dict(model.identity())
    modules = scorer_modules(family, scoring, adapter="adapter" in facts)
    return {
        **facts,
        **_torch_settings(facts["device"]),
        "torchvision": version("torchvision"),
        "modules": " ".join(modules),
        "code": prediction_code(modules),
    }


def _torch_settings(device: str) -> dict[str, str]:
    cudnn = torch.backends.cudnn
    deterministic = {
        "algorithms": torch.are_deterministic_algorithms_enabled(),
        "warn_only": torch.is_deterministic_algorithms_warn_only_enabled(),
        "cudnn": cudnn.deterministic,
        "cudnn_benchmark": cudnn.benchmark,
        "cublas_workspace": os.environ.get("CUBLAS_WORKSPACE_CONFIG", "default"),
    }
    # The kernels of a CPU, or those of a GPU, give other last bits.
    if device == "cpu":
        kernels = {"cpu_capability": torch.backends.cpu.get_cpu_capability()}
    elif torch.version.hip is not None:
        # torch calls AMD's GPUs cuda, and their MIOpen cuDNN.
        kernels = {"hip": f"{torch.version.hip}, MIOpen {cudnn.version()}"}  # type: ignore[no-untyped-call]
    else:
        kernels = {"cuda": f"{torch.version.cuda}, cuDNN {cudnn.version()}"}  # type: ignore[no-untyped-call]
    return {
        **kernels,
        "threads": str(torch.get_num_threads()),
        "tf32": f"matmul {torch.get_float32_matmul_precision()}, cudnn {cudnn.allow_tf32}",
        "deterministic": ", ".join(f"{name} {value}" for name, value in deterministic.items()),
    }
