"""Where an encoder computes: on the CPU, or on a GPU that no other job has taken."""

import importlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from benchc.errors import InputError
from benchc.models.encoders.names import Device
from benchc.models.gpu_memory import is_out_of_memory
from benchc.models.tf32 import forbid_tf32
from benchc.models.torch_build import only_for_cpu
from benchc.pluralize import pluralize


def prepare(devices: Collection[Device], threads: int) -> None:
    """Set how torch computes in this process, whose encoders are on ``devices``.

    On a GPU, which this takes, float32 is computed without TF32, and the same inputs give the same bits where
    torch can. Raises InputError where torch finds no GPU.
    """
    torch.set_num_threads(threads)
    if "cuda" not in devices:
        return
    # Before anything else asks CUDA for its devices. By name: an edit of it changes no vector.
    importlib.import_module("benchc.models.cards").take_cards("encoder")
    if not torch.cuda.is_available():
        raise InputError(
            f"the encoder needs a GPU, but torch finds none{only_for_cpu()}; request a node with one, or set "
            "`gpus: 0` of the encoder in the configuration"
        )
    forbid_tf32()
    torch.set_deterministic_debug_mode("warn")
    # It fills new memory with NaN, for programs that read memory which they did not write.
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]


def device_name(device: Device) -> str:
    """Return what footers call a device: ``cpu``, or the name of the GPU of this process."""
    return torch.cuda.get_device_name() if device == "cuda" else "cpu"


def placed(model: Any, device: Device, what: str) -> Any:
    """Return a model on its device.

    Raises InputError, which begins with ``what``, where the memory of the device does not suffice.
    """
    try:
        return model.to(device)
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        raise InputError(
            f"{what} does not fit into the free memory of the GPU; use a larger one, or set `gpus: 0` of the "
            "encoder in the configuration"
        ) from error


@contextmanager
def fitting(what: str, inputs: int, noun: str) -> Iterator[None]:
    """Turn a lack of memory on the GPU into an InputError of one line.

    The batch is not split: its size decides last bits of a vector, and is recorded.
    """
    try:
        yield
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        fix = "lower `batch`" if inputs > 1 else "use a larger one, or set `gpus: 0`"
        raise InputError(
            f"{what}: a batch of {pluralize(inputs, noun)} does not fit into the memory of the GPU; {fix} of "
            "the encoder in the configuration"
        ) from error
