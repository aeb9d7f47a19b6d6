"""What is wrong with the GPUs of a job, said in one line each before a model's weights are loaded.

The facts are nvidia-smi's: without it, as on GPUs of AMD, nothing is said. Jobs import this module by
name, so that an edit of it reruns none. A server's job has no torch.
"""

import math
import os
import re
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError, safe_open

from benchc.models.attentions import FLASH
from benchc.models.folder import json_object
from benchc.models.gpus import TYPE_ASKED, Gpu, nvidia_smi, take_gpus
from benchc.models.hub.files import weight_files
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.remote_code_families import OF_PACKAGE
from benchc.models.revisions import commit_of
from benchc.models.snapshot import snapshot_folder

# The others are SLURM's, such as a100:2; it has none for --gres.
TYPES_ASKED = (TYPE_ASKED, "SLURM_GPUS", "SLURM_GPUS_PER_NODE", "SLURM_GPUS_PER_TASK")
# Of a card, in a site's name of a type, which may be any: a100, l40s, 2080; no size, such as 80gb.
NUMBER_OF_MODEL = re.compile(r"(?:(?<![a-z])(?:gh|gb|[abhklmptv])\d{1,4}|(?<!\d)\d{3}0)(?!\d)")
FIELDS = "uuid,name,memory.used,memory.free"
# Of one memory with the host, whose files may be in it until it is needed.
SHARES_MEMORY = re.compile(r"\bG[HB]\d")
HALF = {"bfloat16": 2, "float16": 2}
FLOATS = ("F64", "F32", "F16", "BF16")
MIB = 2**20
# Less is no model: the contexts of other processes, or a screen.
IN_USE = 10**9
# The memory of a job that has just ended is freed after its lock.
SECONDS_TO_FREE = 5.0
# Of the bytes in files: some models leave a part of them.
LOADED_SHARE = 0.9
AMPERE = (8, 0)  # the first with bfloat16, and with kernels of flash_attn


@dataclass(frozen=True)
class Card:
    """A GPU of the job. ``used`` and ``free``: bytes; None where nvidia-smi does not tell, as of a slice."""

    number: int
    name: str
    used: int | None
    free: int | None
    capability: tuple[int, ...] | None


def take_cards(label: str, source: CheckpointSource | None = None) -> None:
    """Take the GPUs of a model in this process, as ``take_gpus``, and check them by :func:`check_cards`.

    ``source``: the model; None for an encoder, which has one GPU.
    """
    check_cards(take_gpus(source.gpus if source else 1, label).gpus, label, source)


def check_cards(gpus: Sequence[Gpu], label: str, source: CheckpointSource | None = None) -> None:
    """Warn of GPUs of another type than asked, in use by others, or without bfloat16.

    ``source``: of a model in this process; None for an encoder, and a server, which decides its precision.
    Raises ModelError where the model cannot run: torch or flash attention has no kernels for a GPU, or its
    weights do not fit.
    """
    cards = _cards(gpus)
    end = time.monotonic() + SECONDS_TO_FREE
    while any((card.used or 0) > IN_USE for card in cards) and time.monotonic() < end:
        time.sleep(SECONDS_TO_FREE / 10)
        cards = _cards(gpus)
    for text in dict.fromkeys([*_of_another_type(cards), *_in_use(cards), *_without_bfloat16(cards, source)]):
        print(f"warning: {label}: {text}", file=sys.stderr)
    if source is not None:
        _require_kernels(cards, label, source)
        _require_memory(cards, label, source)


def _cards(gpus: Sequence[Gpu]) -> list[Card]:
    """Return what nvidia-smi says of GPUs; of one that it does not list, nothing."""
    if not gpus:
        return []
    options = "--format=csv,noheader,nounits"
    # Drivers before R510 know no compute_cap.
    lines = nvidia_smi(f"--query-gpu={FIELDS},compute_cap", options) or nvidia_smi(
        f"--query-gpu={FIELDS}", options
    )
    # Another text is that of a driver which knows none of the fields.
    facts = {uuid: rest for uuid, *rest in (line.split(", ") for line in lines) if len(rest) >= 3}
    found = []
    for gpu in gpus:
        if gpu.whole not in facts:
            continue
        name, *memory = facts[gpu.whole][:3]
        # The numbers are those of the whole GPU.
        is_known = gpu.uuid == gpu.whole and all(map(str.isdigit, memory)) and not SHARES_MEMORY.search(name)
        used, free = (int(each) * MIB for each in memory) if is_known else (None, None)
        capability = re.fullmatch(r"(\d+)\.(\d+)", facts[gpu.whole][-1])
        found.append(
            Card(gpu.number, name, used, free, tuple(map(int, capability.groups())) if capability else None)
        )
    return found


def _of_another_type(cards: Iterable[Card]) -> Iterable[str]:
    """Yield a warning for each GPU whose name lacks the model's number in the type that the job asked for."""
    given = (os.environ.get(name, "") for name in TYPES_ASKED)
    asked = next(filter(re.compile("[A-Za-z]").search, given), "")
    numbers = [match[0] for match in map(NUMBER_OF_MODEL.search, asked.lower().split(",")) if match]
    for card in cards:
        if numbers and not any(_names(number, card.name.lower()) for number in numbers):
            yield (
                f"the job asked for a GPU of type {asked}, and has {card.name}; predictions of different "
                "cards differ in last bits: correct `gpus.type` in slurm/site.yaml, or ask your site"
            )


def _names(number: str, card: str) -> bool:
    # Else a10 were in A100, and h200 in GH200.
    return re.search(rf"{'(?<![a-z])' if number[0].isalpha() else ''}{number}(?!\d)", card) is not None


def _in_use(cards: Iterable[Card]) -> Iterable[str]:
    for card in cards:
        if card.used is not None and card.free is not None and card.used > IN_USE:
            yield (
                f"other processes use {card.used / 1e9:.1f} GB of GPU {card.number} ({card.name}), and "
                f"{card.free / 1e9:.1f} GB are free; if that is too little, wait, or ask for another"
            )


def _without_bfloat16(cards: Iterable[Card], source: CheckpointSource | None) -> Iterable[str]:
    if source is None or source.dtype != "bfloat16":
        return
    for card in cards:
        if card.capability is not None and card.capability < AMPERE:
            yield (
                f"{_called(card)} has no bfloat16: torch computes it in float32 and rounds, which is slower "
                "than `dtype: float32`, and some kernels fail; set `dtype: float16` or float32 in the model "
                "catalogue, or ask for a GPU of compute capability 8.0 or later"
            )


def _require_kernels(cards: Iterable[Card], label: str, source: CheckpointSource) -> None:
    """Raise ModelError for a GPU that is too old for flash attention, or for this process's torch."""
    for card in cards:
        if card.capability is None:
            continue
        if source.attention == FLASH and card.capability < AMPERE:
            raise ModelError(
                f"{label}: `attention: {FLASH}` needs a GPU of compute capability 8.0 or later, and this is "
                f"{_called(card)}; remove the key in the model catalogue, or ask for another GPU"
            )
        # Imported here, since a server's job does without.
        import torch

        # Such as sm_75 and compute_120.
        kernels = [int(re.sub(r"\D", "", each)) for each in torch.cuda.get_arch_list()]
        if kernels and 10 * card.capability[0] + card.capability[1] < min(kernels):
            raise ModelError(
                f"{label}: torch {torch.__version__} has no kernels for {_called(card)}, but from "
                f"{min(kernels) / 10:.1f} on; install a torch for an earlier CUDA, or ask for another GPU"
            )


def _require_memory(cards: Sequence[Card], label: str, source: CheckpointSource) -> None:
    """Raise ModelError where the weights alone are more than what is free on all GPUs."""
    free = [card.free for card in cards if card.free is not None]
    if len(free) < source.gpus or (weights := weight_bytes(source)) is None:
        return
    if LOADED_SHARE * weights > sum(free):
        others = "wait for the other processes, or " if any(_in_use(cards)) else ""
        smaller = "set `dtype: bfloat16`, or " if source.dtype == "float32" else ""
        raise ModelError(
            f"{label}: its weights take {weights / 1e9:.1f} GB with `dtype: {source.dtype}`, and "
            f"{sum(free) / 1e9:.1f} GB are free on {' and '.join(card.name for card in cards)}; {others}"
            f"{smaller}raise `gpus` above {source.gpus} in the model catalogue, or use larger GPUs"
        )


def _called(card: Card) -> str:
    return f"{card.name} (compute capability {'.'.join(map(str, card.capability or ()))})"


def weight_bytes(source: CheckpointSource) -> int | None:
    """Return the bytes of a model's weights in its dtype, by the headers of its files of safetensors.

    Those of a quantised model stay as they are. None where it is not known what is loaded: other files, code
    of the checkpoint or of a package, or a model of which a part is loaded.
    """
    if source.trust_remote_code or source.family in OF_PACKAGE:
        return None
    folder = Path(source.location)
    try:
        if not folder.is_dir():
            folder = snapshot_folder(source.location, commit_of(source.location, source.revision))
        config = json_object(folder / "config.json")
        if "thinker_config" in config:
            return None
        names = weight_files([path.name for path in folder.iterdir()], folder)
        size = None if config.get("quantization_config") else HALF.get(source.dtype, 4)
        return sum(_bytes(folder / name, size) for name in names) or None
    except (OSError, SafetensorError, ValueError):  # which loading the model reports
        return None


def _bytes(path: Path, size: int | None) -> int:
    """Return the bytes of a file's tensors, with numbers of ``size`` bytes in place of other floats."""
    if size is None:
        return path.stat().st_size
    with safe_open(path, framework="numpy") as file:
        slices = [file.get_slice(name) for name in file.keys()]  # noqa: SIM118, no mapping
    return sum(math.prod(each.get_shape()) * (size if each.get_dtype() in FLOATS else 1) for each in slices)
