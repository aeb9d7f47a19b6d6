"""A stand-in for a GPU: it computes on the CPU, counts bytes, and refuses mixed devices."""

import weakref
from collections import Counter
from functools import cache
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest
import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map
from torch.utils.backend_registration import _setup_privateuseone_for_python_backend

NAME = "standin"
# CUDA takes tensors of the host there, too.
MIXED = ("copy_", "index", "index_put", "index_put_")


@cache
def _register() -> None:
    """Let torch know the device, once in a process."""
    _setup_privateuseone_for_python_backend(NAME)


class StandInDevice(TorchDispatchMode):
    """What torch calls ``cuda`` in a block, without CUDA; tensors say that they are on ``standin:0``.

    As on CUDA, an operation on tensors of both devices is a RuntimeError unless those of the host have no
    axis, and one whose result does not fit is a ``torch.OutOfMemoryError``. What an operation needs while it
    runs is not counted.

    Attributes:
        capacity: bytes of memory; ``others``: those that other processes have.
        live: bytes of all storages that some tensor still uses; ``peak``: the most so far.
    """

    def __init__(self, capacity: int = 2**40, others: int = 0) -> None:
        super().__init__()
        _register()
        self.capacity, self.others = capacity, others
        self.live = self.peak = 0
        self._tensors: Counter[int] = Counter()  # by the address of their storage
        self._patch = pytest.MonkeyPatch()
        self._calls = _Calls()

    def __enter__(self) -> "StandInDevice":
        def forget_peak(_: object = None) -> None:
            self.peak = self.live

        for name, value in {
            "memory_allocated": lambda *_: self.live,
            "memory_reserved": lambda *_: self.live,
            "max_memory_allocated": lambda *_: self.peak,
            "reset_peak_memory_stats": forget_peak,
            "is_available": lambda: True,
            "device_count": lambda: 1,
            "set_device": lambda _: None,
            "get_device_name": lambda *_: "stand-in",
            "get_device_properties": lambda *_: SimpleNamespace(
                name="stand-in", uuid=NAME, total_memory=self.capacity
            ),
            "mem_get_info": lambda *_: (self.capacity - self.others - self.live, self.capacity),
        }.items():
            self._patch.setattr(torch.cuda, name, value)
        # Else a module would keep its parameters, which are tensors of the host.
        self._patch.setattr(torch.__future__, "_overwrite_module_params_on_conversion", True)
        self._calls.__enter__()
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self._calls.__exit__(*error)
        self._patch.undo()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        leaves = tree_leaves((args, kwargs))
        own = {id(leaf.inside): leaf for leaf in leaves if isinstance(leaf, _OnDevice)}
        host = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor) and not isinstance(leaf, _OnDevice)]
        name = func.overloadpacket.__name__
        if own and name not in MIXED and any(leaf.ndim for leaf in host):
            both = f"{NAME}:0 and cpu in {name}"
            raise RuntimeError(f"Expected all tensors to be on the same device, but found {both}")
        found = func(*tree_map(_inside, args), **tree_map(_inside, kwargs))
        if name == "copy_":
            return args[0]
        named = next((leaf.type for leaf in leaves if isinstance(leaf, torch.device)), None)
        to_device = named == NAME if named else bool(own)

        def placed(value: Any) -> Any:
            if not isinstance(value, torch.Tensor):
                return value
            if not to_device:
                return value.clone() if id(value) in own else value
            if id(value) in own:
                return own[id(value)]
            return self._kept(value.clone() if any(value is leaf for leaf in host) else value)

        return tree_map(placed, found)

    def _kept(self, value: torch.Tensor) -> "_OnDevice":
        storage = value.untyped_storage()
        place, size = storage.data_ptr(), storage.nbytes()
        if not self._tensors[place]:
            if self.live + size > self.capacity - self.others:
                used = f"{self.live} of {self.capacity} are used"
                raise torch.OutOfMemoryError(f"{size} bytes are needed, but {used}")
            self.live += size
            self.peak = max(self.peak, self.live)
        self._tensors[place] += 1
        found = _OnDevice(value, self)
        weakref.finalize(found, self._freed, place, size)
        return found

    def _freed(self, place: int, size: int) -> None:
        self._tensors[place] -= 1
        if not self._tensors[place]:
            self.live -= size


class _OnDevice(torch.Tensor):
    """A tensor of a device. ``inside``: its values, a tensor of the host."""

    inside: torch.Tensor
    owner: StandInDevice
    __torch_function__: ClassVar[Any] = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, inside: torch.Tensor, owner: StandInDevice) -> "_OnDevice":
        with torch.inference_mode(inside.is_inference()):
            found: _OnDevice = torch.Tensor._make_wrapper_subclass(  # type: ignore[attr-defined]
                cls, inside.shape, strides=inside.stride(), dtype=inside.dtype, device=f"{NAME}:0"
            )
        found.inside, found.owner = inside, owner
        return found

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        leaves = tree_leaves((args, kwargs))
        owner = next(leaf.owner for leaf in leaves if isinstance(leaf, _OnDevice))
        return owner.__torch_dispatch__(func, types, args, kwargs)

    def __repr__(self, **_: Any) -> str:
        return f"{self.inside!r} on {NAME}"

    def tolist(self) -> Any:
        return self.inside.tolist()


class _Calls(TorchFunctionMode):
    """Calls of torch with the stand-in in place of CUDA."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        args, kwargs = tree_map(_stand_in, (args, kwargs or {}))
        if func is torch.tensor and "device" in kwargs:  # makes it where no mode sees it
            device = kwargs.pop("device")
            return func(*args, **kwargs).to(device)
        return func(*args, **kwargs)


def _stand_in(value: Any) -> Any:
    is_cuda = isinstance(value, str | torch.device) and str(value).startswith("cuda")
    return torch.device(NAME, 0) if is_cuda else value


def _inside(value: Any) -> Any:
    if isinstance(value, _OnDevice):
        return value.inside
    return torch.device("cpu") if value == torch.device(NAME, 0) else value
