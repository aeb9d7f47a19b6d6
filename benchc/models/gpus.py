"""Which GPUs of its machine a job takes: jobs side by side take different ones. Imports no torch.

A GPU, or a slice of one (MIG), is taken by a lock on a file with its UUID, since CUDA_VISIBLE_DEVICES changes
the numbers. The lock ends with the processes that hold it, however they end.
"""

import fcntl
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import IO

from benchc.errors import InputError
from benchc.pluralize import pluralize

CUDA = "CUDA_VISIBLE_DEVICES"
# Before the other, of torch for GPUs of AMD.
HIP = "HIP_VISIBLE_DEVICES"
# The order of nvidia-smi. Without it, CUDA counts the fastest GPU first.
ORDER = {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
# Lines of nvidia-smi -L. The UUID of a slice is MIG-GPU-{UUID}/7/0 with drivers before R470, then MIG-{UUID}.
GPU_LINE = re.compile(r"GPU (\d+): .*\(UUID: (GPU-[^)]+)\)")
SLICE_LINE = re.compile(r"\s+MIG .*\(UUID: (MIG-[^)]+)\)")
GPU_NAME = re.compile(r"\d+$|GPU-|MIG-")
UUIDS_OF_TORCH = """
import torch
for number in range(torch.cuda.device_count()):
    print(torch.cuda.get_device_properties(number).uuid)
"""
# Set for jobs by the executor of slurm/site.yaml: the type of GPU that they ask for.
TYPE_ASKED = "BENCHC_GPU_TYPE"
JOB_OF_SCHEDULER = ("SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID")
SECONDS_TO_LIST = 60.0
SECONDS_TO_IMPORT_TORCH = 300.0
SECONDS_BETWEEN_TRIES = 1.0
SECONDS_BETWEEN_LINES = 600.0


@dataclass(frozen=True)
class Gpu:
    """A GPU or a slice of one. ``entry``: its name in CUDA_VISIBLE_DEVICES; ``whole``: the GPU's UUID."""

    uuid: str
    entry: str
    number: int
    whole: str

    def is_named(self, entry: str) -> bool:
        """Return whether an entry of CUDA_VISIBLE_DEVICES names it; a UUID may lack its end."""
        if entry.startswith("MIG-"):
            return self.uuid.startswith(entry)
        return self.whole.startswith(entry) if entry.startswith("GPU-") else str(self.number) == entry


@dataclass(frozen=True)
class HeldGpus:
    """The GPUs that a job holds.

    Attributes:
        environment: variables by which a process sees these and no others
        locks: descriptors of their locks; they stay taken until all processes that have these are done
        gpus: those that it holds; none where they are not known
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    locks: Sequence[int] = ()
    gpus: Sequence[Gpu] = ()


# Never closed: the locks end with the process.
_kept = ExitStack()


class TooFewGpusError(InputError):
    """A job sees fewer GPUs than it needs."""


class UnlockableError(Exception):
    """A file that the system cannot lock; another job's lock is no such error."""


def visible_gpus() -> list[Gpu] | None:
    """Return the GPUs and slices that CUDA_VISIBLE_DEVICES allows, in its order; None without nvidia-smi.

    Numbers are those of nvidia-smi. As in CUDA, an entry that names none ends the list.
    """
    listed, entries = _listed_gpus(), _entries(CUDA)
    if not listed:
        return None
    if entries is None:
        return listed
    found: dict[Gpu, None] = {}
    for entry in entries:
        named = [gpu for gpu in listed if gpu.is_named(entry)]
        if not named:
            break
        found |= dict.fromkeys(named)
    return list(found)


def count_gpus() -> int:
    """Return how many GPUs this process may use, by nvidia-smi or else by CUDA_VISIBLE_DEVICES."""
    gpus = visible_gpus()
    return len(_named_gpus() if gpus is None else gpus)


@cache
def take_gpus(count: int, label: str) -> HeldGpus:
    """Hold GPUs as :func:`held_gpus` until this process ends, which sees no others from then on.

    To be called once, and before anything asks CUDA for its devices.
    """
    held = _kept.enter_context(held_gpus(count, label))
    os.environ.update(held.environment)
    return held


@contextmanager
def held_gpus(count: int, label: str) -> Iterator[HeldGpus]:
    """Hold ``count`` GPUs that no other job of this user on this machine holds, while the block runs.

    It waits for them; ``label`` is the job's name in what it says. A job to which a scheduler gave a GPU that
    another job of the scheduler holds shares it, with a warning. Raises TooFewGpusError where fewer are
    visible. Where nothing lists GPUs, it holds none: torch, or a server, may see some all the same.
    """
    listed = visible_gpus()
    gpus, order = (_gpus_without_nvidia_smi(label), {}) if listed is None else (listed, ORDER)
    if len(gpus) < count and (gpus or listed is not None):
        raise TooFewGpusError(_too_few(len(gpus), count, label))
    count = min(count, len(gpus))
    with ExitStack() as stack:
        try:
            found = _wait_for(gpus, count, label)
        except UnlockableError as error:
            print(
                f"warning: {label}: {error}, so that another job may use the same GPU; set TMPDIR to another "
                "folder",
                file=sys.stderr,
            )
            found = dict.fromkeys(_least_used(gpus)[:count])
        locks = [stack.enter_context(file).fileno() for file in found.values() if file is not None]
        entries = ",".join(gpu.entry for gpu in gpus if gpu in found)
        names = [CUDA, *([HIP] if HIP in os.environ else [])]
        environment = {**dict.fromkeys(names, entries), **order} if found else {}
        yield HeldGpus(environment, locks, [gpu for gpu in gpus if gpu in found])


def _too_few(seen: int, count: int, label: str) -> str:
    named = [f"{name}={os.environ[name]}" for name in (HIP, CUDA) if name in os.environ]
    return (
        f"{label}: needs {pluralize(count, 'GPU')}, but this job sees {seen or 'none'} (node "
        f"{socket.gethostname()}, {named[0] if named else f'{CUDA} is not set'}); request {count}, "
        f"or set `gpus: {seen}` in its entry of the model catalogue or the configuration"
    )


def _entries(*names: str) -> list[str] | None:
    """Return the entries of the first of some variables that is set; None where none is."""
    found = next((os.environ[name] for name in names if name in os.environ), None)
    return None if found is None else [entry.strip() for entry in found.split(",")]


def _named_gpus() -> list[str]:
    """Return the entries that can name a GPU, up to the first that cannot; none where no variable is set."""
    return list(takewhile(GPU_NAME.match, _entries(HIP, CUDA) or []))


def _listed_gpus() -> list[Gpu]:
    """Return the GPUs that nvidia-smi lists, and in place of a divided one its slices; none without it."""
    found: list[Gpu] = []
    for line in nvidia_smi("-L"):
        if match := GPU_LINE.match(line):
            number, uuid = match.groups()
            # vLLM reads the number of a GPU, not its UUID.
            found.append(Gpu(uuid, number, int(number), uuid))
        elif (match := SLICE_LINE.match(line)) and found:
            whole = found[-1]
            if whole.uuid == whole.whole:
                found.pop()
            found.append(Gpu(match[1], match[1], whole.number, whole.whole))
    return found


def nvidia_smi(*options: str) -> list[str]:
    """Return the lines that nvidia-smi prints; none where it fails."""
    command = ["nvidia-smi", *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS_TO_LIST, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return done.stdout.splitlines()


def _gpus_without_nvidia_smi(label: str) -> list[Gpu]:
    """Return the GPUs that torch sees, or that CUDA_VISIBLE_DEVICES names, and say which."""
    entries = _entries(HIP, CUDA)
    # In a process of its own, since the first question fixes the GPUs that a process sees.
    command = [sys.executable, "-c", UUIDS_OF_TORCH]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS_TO_IMPORT_TORCH, check=True
        )
    except (OSError, subprocess.SubprocessError):
        uuids = _named_gpus()
        result = f"which are told apart by {CUDA}" if uuids else "so that another job may use the same"
        print(f"warning: {label}: neither nvidia-smi nor torch lists the GPUs, {result}", file=sys.stderr)
    else:
        uuids = [f"GPU-{line.removeprefix('GPU-')}" for line in done.stdout.split()]
        if uuids:
            print(f"{label}: without nvidia-smi, GPUs are told apart by torch's UUIDs", file=sys.stderr)
    names = entries or [str(number) for number in range(len(uuids))]
    return [Gpu(uuid, name, 0, uuid) for uuid, name in zip(uuids, names, strict=False)]


def _wait_for(gpus: Sequence[Gpu], count: int, label: str) -> Mapping[Gpu, IO[str] | None]:
    """Return ``count`` GPUs and their locks, as soon as so many are free; None for one that is shared."""
    start, lines = time.monotonic(), 0
    while True:
        found, taken = _locked(gpus, count)
        if len(found) == count:
            return found
        holders = [_holder(gpu) for gpu in taken]
        processes = ", ".join(sorted({words[0] for words in holders if words}))
        others = f"other jobs (processes {processes})" if processes else "other jobs"
        if len(gpus) == count and _job_of_scheduler() and all(_is_of_another_job(words) for words in holders):
            print(
                f"warning: {label}: shares {pluralize(len(taken), 'GPU')} with {others}; the scheduler gave "
                f"this job {pluralize(count, 'GPU')}",
                file=sys.stderr,
            )
            return dict.fromkeys(gpus)
        # Not at once: a job that needs more GPUs than are free holds the others for a moment.
        if time.monotonic() - start >= SECONDS_BETWEEN_TRIES + lines * SECONDS_BETWEEN_LINES:
            lines += 1
            print(
                f"warning: {label}: waits for {pluralize(count, 'GPU')}, as {others} have {len(taken)} of "
                f"{len(gpus)}; with --resources gpu={len(gpus)}, snakemake starts no more jobs than fit",
                file=sys.stderr,
                flush=True,
            )
        # By chance, so that two jobs which need several do not disturb each other forever.
        time.sleep(random.uniform(0.5, 1.5) * SECONDS_BETWEEN_TRIES)


def _locked(gpus: Sequence[Gpu], count: int) -> tuple[dict[Gpu, IO[str]], list[Gpu]]:
    """Return ``count`` GPUs with their locks, or none and the GPUs of other jobs; raises UnlockableError.

    All jobs try them in one order and keep none in vain, so that none waits for another in a circle.
    """
    found: dict[Gpu, IO[str]] = {}
    taken: list[Gpu] = []
    with ExitStack() as stack:
        for gpu in sorted(gpus, key=lambda gpu: gpu.uuid):
            if len(found) == count:
                break
            if (file := _lock(gpu)) is None:
                taken.append(gpu)
            else:
                found[gpu] = stack.enter_context(file)
        if len(found) < count:
            return {}, taken
        stack.pop_all()
    return found, taken


def _lock(gpu: Gpu) -> IO[str] | None:
    """Return the open file that locks a GPU; None where another job has it; raises UnlockableError."""
    path: Path | str = "the folder for temporary files"
    with ExitStack() as stack:
        try:
            path = _lock_file(gpu)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            # Appended to, as the file may have the text of the job that holds it.
            file = stack.enter_context(path.open("a"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file.truncate(0)
            file.write(f"{os.getpid()} {_job_of_scheduler()}")
            file.flush()
        except BlockingIOError:
            return None
        except OSError as error:
            raise UnlockableError(f"{path} cannot be locked ({error.strerror or error})") from error
        stack.pop_all()
    return file


def _lock_file(gpu: Gpu) -> Path:
    folder = Path(tempfile.gettempdir()) / f"benchc-gpus-{os.getuid()}"
    return folder / f"{gpu.uuid.replace('/', '-')}.lock"


def _holder(gpu: Gpu) -> list[str]:
    """Return process and scheduler's job of the one that locked a GPU last; what is not known is left out."""
    try:
        return _lock_file(gpu).read_text().split()
    except OSError:
        return []


def _job_of_scheduler() -> str:
    return next((os.environ[name] for name in JOB_OF_SCHEDULER if name in os.environ), "")


def _is_of_another_job(holder: Sequence[str]) -> bool:
    return bool(holder) and list(holder[1:]) != [_job_of_scheduler()]


def _least_used(gpus: Sequence[Gpu]) -> list[Gpu]:
    """Return GPUs by their memory in use, in a random order where it is equal or not known."""
    used: dict[str, int] = {}
    for line in nvidia_smi("--query-gpu=uuid,memory.used", "--format=csv,noheader,nounits"):
        uuid, _, megabytes = line.partition(", ")
        used[uuid] = int(megabytes) if megabytes.isdigit() else 0
    return sorted(random.sample(gpus, len(gpus)), key=lambda gpu: used.get(gpu.whole, 0))
