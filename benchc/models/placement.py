"""How a model of transformers is placed: on one device, or divided among several GPUs; and compiled."""

from importlib.util import find_spec
from typing import Any

import torch

from benchc.models.gpu_memory import too_little
from benchc.models.protocol import CheckpointSource, ModelError

MOST_PROGRAMS = 10_000


def division(source: CheckpointSource) -> dict[str, Any]:
    """Return the arguments of ``from_pretrained`` that divide a model among the GPUs of its source.

    Each has whole layers, of about the same size in total. There are none for a single device.
    """
    if source.device == "cpu" or source.gpus == 1:
        return {}
    if find_spec("accelerate") is None:
        raise ModelError(
            f"{source.location}: several GPUs need the package accelerate, which is not installed; install "
            "it, or name an environment that has it (`env` in the model catalogue)"
        )
    free = {number: torch.cuda.mem_get_info(number)[0] for number in range(source.gpus)}
    return {"device_map": "balanced", "max_memory": free}


def place(model: Any, source: CheckpointSource) -> None:
    """Move a model to its device unless it is divided, and compile it where its source says so.

    Raises ModelError for a divided model that does not fit into the memory of its GPUs.
    """
    parts = getattr(model, "hf_device_map", None)
    if parts is None:
        model.to(source.device)
    elif {"cpu", "disk"} & set(map(str, parts.values())):
        # transformers would copy these layers to a GPU in each forward pass.
        raise too_little(source)
    if source.compile:
        # One program for the blocks, which are alike, and for all sizes; with the keys and values of a
        # prompt, one for each layer, of which torch allows 8 by default. The rest of a model, such as the
        # search for placeholders, depends on values.
        torch._dynamo.config.recompile_limit = MOST_PROGRAMS
        torch._dynamo.config.accumulated_recompile_limit = MOST_PROGRAMS
        for module in model.modules():
            if type(module).__name__ in model._no_split_modules:
                module.compile(dynamic=True)
