"""Prepare units while the model computes: decode, corrupt, hash and encode their images in other processes.

The processes are forks of the job's, so that they have its model and prompts. They return hashes and the
model's input in shared memory, and no pixels: where these are needed, the unit is decoded again.
"""

import resource
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np
import torch

from benchc.errors import InputError
from benchc.models.cache.unit_cache import UnitCache, key_number, unit_key
from benchc.models.encoding import VariantGroup
from benchc.models.items import Item
from benchc.models.local import ModelInterface
from benchc.models.predict import encoded_groups
from benchc.models.predictor import unit_hashes
from benchc.models.protocol import ModelError
from benchc.models.units import Unit, UnitImages, in_parts
from benchc.pixels import Pixels
from benchc.worker_processes import map_in_processes


class _Prepared(NamedTuple):
    """A unit without its pixels. ``images``: the number of images of a variant."""

    item: str
    corruption: str
    severities: list[int]
    images: int
    prompt_hash: str
    image_hashes: list[str]
    groups: list[VariantGroup] | None  # None where the unit is cached


@dataclass(frozen=True)
class _Preparation:
    """What a worker needs: the model, the items, and numbers of the cached units in ascending order."""

    model: ModelInterface
    items: Mapping[str, Item]
    cached: np.ndarray[Any, np.dtype[np.uint64]]

    def prepared(self, images: UnitImages) -> list[_Prepared]:
        return [self._prepared(unit) for unit in images.units()]

    def _prepared(self, unit: Unit) -> _Prepared:
        question = self.items[unit.item].question
        prompt_hash, image_hashes = unit_hashes(self.model, question, unit)
        # An integer of Python would have all of them compared as float64.
        number = np.uint64(key_number(unit_key(prompt_hash, image_hashes)))
        place = int(np.searchsorted(self.cached, number))
        is_cached = place < len(self.cached) and self.cached[place] == number
        groups = None
        if not is_cached:
            try:
                groups = list(encoded_groups(self.model, question, unit.variants))
            except ModelError as error:
                raise ModelError(f"item {unit.item} under {unit.corruption}: {error}") from error
        return _Prepared(
            unit.item, unit.corruption, unit.severities, unit.images, prompt_hash, image_hashes, groups
        )


class _LazyVariants(Sequence[Sequence[Pixels]]):
    """The variants of a unit, which are decoded or corrupted again where one is asked for."""

    def __init__(self, images: UnitImages, place: int, prepared: _Prepared) -> None:
        self._images, self._place, self._count = images, place, len(prepared.severities)

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> Sequence[Pixels]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sequence[Pixels]]: ...
    def __getitem__(self, index: Any) -> Any:
        units = list(self._images.units())
        return units[self._place].variants[index]


OPEN_FILES = 65_536
# Of one call of a worker, since it returns the input of all: 24 MB an item at five severities of some models.
ITEMS_OF_CALL = 16

# Of this process and its forks.
_preparation: _Preparation | None = None


def prepared_units(
    images: Iterable[UnitImages],
    model: ModelInterface,
    items: Mapping[str, Item],
    cache: UnitCache[Any],
    workers: int,
) -> Iterator[Unit]:
    """Yield the units of ``images`` in order, encoded by ``workers`` processes unless they are cached.

    Raises the errors of :class:`UnitImages`, ModelError where a unit cannot be encoded, and InputError where
    a worker was killed or the shared memory is full.
    """
    global _preparation
    _allow_open_files()
    _preparation = _Preparation(model, items, cache.key_numbers())
    on_gpu = model.identity()["device"] != "cpu"
    waiting: deque[UnitImages] = deque()

    def remembered() -> Iterator[UnitImages]:
        for part in in_parts(images, ITEMS_OF_CALL):
            waiting.append(part)
            yield part

    for found in map_in_processes(_prepare, remembered(), workers, start="fork"):
        source = waiting.popleft()
        for place, unit in enumerate(found):
            groups = unit.groups
            if groups is not None and on_gpu:
                groups = [group._replace(encoded=group.encoded.pinned()) for group in groups]
            yield Unit(
                unit.item,
                unit.corruption,
                unit.severities,
                _LazyVariants(source, place, unit),
                unit.images,
                unit.image_hashes,
                unit.prompt_hash,
                groups,
            )


def _allow_open_files() -> None:
    """Raise the limit on open files: each tensor in shared memory is one, and the usual limit is 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _prepare(images: UnitImages) -> list[_Prepared]:
    # A fork lacks the threads that the job's process had, and would wait for them without end.
    torch.set_num_threads(1)
    assert _preparation is not None  # set before the fork
    prepared = _preparation.prepared(images)
    for unit in prepared:
        for group in unit.groups or ():
            _share(group.encoded.inputs.values())
    return prepared


def _share(tensors: Iterable[torch.Tensor]) -> None:
    """Move tensors to shared memory; raises InputError where it is full."""
    try:
        for tensor in tensors:
            tensor.share_memory_()  # type: ignore[no-untyped-call]
    except RuntimeError as error:
        raise InputError(
            f"/dev/shm: the memory that processes share is full ({' '.join(str(error).split())}); lower "
            "`inference.workers`, or enlarge it (in a container, --shm-size)"
        ) from error
