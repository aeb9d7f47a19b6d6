"""How a model of transformers is placed: on one device, or divided among several GPUs; and compiled."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

import torch

from benchc.hugging_face import transformers
from benchc.models.gpu_memory import is_out_of_memory, too_little
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


class _FullError(BaseException):
    """The memory of a GPU is full; no Exception, which transformers would catch."""


@contextmanager
def conversions_that_fit() -> Iterator[None]:
    """Raise OutOfMemoryError where weights are converted on a GPU whose memory is full.

    Such as those of experts, which a class has in one tensor. transformers would log the error, go on, and
    end with one that does not name its reason.
    """
    module = transformers.core_model_loading
    logged = module.log_conversion_errors

    @contextmanager
    def raising(*arguments: Any, **options: Any) -> Iterator[None]:
        with logged(*arguments, **options):
            try:
                yield
            except Exception as error:
                if is_out_of_memory(error):
                    raise _FullError from error
                raise

    module.log_conversion_errors = raising
    try:
        yield
    except _FullError as error:
        raise torch.OutOfMemoryError from error
    finally:
        module.log_conversion_errors = logged


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
        # The compiler, too, is deterministic.
        torch.use_deterministic_algorithms(True, warn_only=True)
        # One program for the blocks, which are alike, and for all sizes; with the keys and values of a
        # prompt, one for each layer, of which torch allows 8 by default. The rest of a model, such as the
        # search for placeholders, depends on values.
        torch._dynamo.config.recompile_limit = MOST_PROGRAMS
        torch._dynamo.config.accumulated_recompile_limit = MOST_PROGRAMS
        for module in model.modules():
            if type(module).__name__ in model._no_split_modules:
                module.compile(dynamic=True)
