"""Which GPUs of its machine a job takes: jobs side by side take different ones."""

import fcntl
import os
import tempfile
from functools import cache
from itertools import islice
from pathlib import Path
from typing import IO

import torch

# Kept open: a lock ends with the file, and so with the process, however that ends.
_locks: list[IO[str]] = []


@cache
def taken_gpus(count: int) -> tuple[int, ...]:
    """Take ``count`` of the GPUs that torch sees until this process ends; return their numbers.

    They are those that no other job of this user on this machine has taken. Where these are too few, which
    ``--resources gpu=N`` and a cluster prevent, others are shared.
    """
    folder = Path(tempfile.gettempdir()) / f"benchc-gpus-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    visible = range(torch.cuda.device_count())
    free = list(islice((number for number in visible if _lock(folder, number)), count))
    shared = [number for number in visible if number not in free]
    return tuple([*free, *shared][:count])


def _lock(folder: Path, number: int) -> bool:
    # By the card, as CUDA_VISIBLE_DEVICES changes the numbers.
    name = str(torch.cuda.get_device_properties(number).uuid)
    file = (folder / f"{name}.lock").open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        return False
    _locks.append(file)
    return True
