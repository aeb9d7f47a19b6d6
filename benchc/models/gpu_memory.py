"""What is said where a model that is loaded does not fit into the memory of its GPUs."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from benchc.models.protocol import CheckpointSource, ModelError

# In errors of the driver and of libraries, which are no OutOfMemoryError: torch itself, kernels and handles
# of cuBLAS and cuDNN take memory besides torch's allocator.
FULL = ("out of memory", "_STATUS_ALLOC_FAILED")


@contextmanager
def enough_memory(source: CheckpointSource, *, divides: bool = True) -> Iterator[None]:
    """Turn an error of the block, which loads a model, into :func:`too_little` if a GPU's memory is full."""
    try:
        yield
    except ModelError:
        raise
    except Exception as error:
        if source.device == "cpu" or not is_out_of_memory(error):
            raise
        raise too_little(source, divides=divides) from error


def too_little(source: CheckpointSource, *, divides: bool = True) -> ModelError:
    """Return the error of a model that does not fit into the memory of its GPUs.

    ``divides``: whether `gpus` may be more than 1.
    """
    advice = ["set `dtype: bfloat16`"] if source.dtype == "float32" else []
    advice += [f"raise `gpus` above {source.gpus}"] if divides else []
    advice += ["use larger GPUs" if source.gpus > 1 else "use a larger GPU"]
    return ModelError(
        f"{source.location}: does not fit into the GPU memory of its job with `gpus: {source.gpus}` and "
        f"`dtype: {source.dtype}` in the model catalogue ({', '.join(map(_card, range(source.gpus)))}); "
        f"{', or '.join(advice)}"
    )


def _card(number: int) -> str:
    """Return what a GPU has for this process: what is free, and what the process has."""
    properties = torch.cuda.get_device_properties(number)
    try:
        free, total = torch.cuda.mem_get_info(number)
    except RuntimeError:  # it is too full to be asked
        return f"{properties.name}: nothing of {properties.total_memory / 1e9:.1f} GB free"
    free += torch.cuda.memory_reserved(number)
    return f"{properties.name}: {free / 1e9:.1f} of {total / 1e9:.1f} GB free"


def is_out_of_memory(error: BaseException | None) -> bool:
    """Return whether an error is, or was caused by, memory of a GPU that is full."""
    while error is not None:
        if isinstance(error, torch.OutOfMemoryError) or (
            isinstance(error, RuntimeError) and any(words in str(error) for words in FULL)
        ):
            return True
        error = error.__cause__ or error.__context__
    return False
