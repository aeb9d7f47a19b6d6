"""What SLURM says of a cluster: its partitions with the limits of a job, and what it refuses."""

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from getpass import getuser

from benchc.cluster.site import SITE, minutes_of
from benchc.errors import InputError

SECONDS = 60.0
NO_LIMIT = ("unlimited", "infinite", "n/a", "none")
# A partition, whether it is up, its time, and of each kind of node cores, memory in MB and generic resources.
FORMAT = "%P|%a|%l|%c|%m|%G"
# A type and a number may follow; without a number, it is 1.
GPU = re.compile(r"(?:^|,)gpu(?::([^:,()]+))??(?::(\d+))?(?=[,(]|$)")
LEAST_MEMORY_MB = 100  # of a node whose memory the site has stated


@dataclass
class FoundPartition:
    """The limits of a job in a partition; None for none. ``gpu_types``: of its nodes, as SLURM names them."""

    is_default: bool = False
    max_runtime: int | None = None
    max_threads: int = 0
    max_mem_mb: int = 0
    max_gpu: int = 0
    gpu_types: tuple[str, ...] = ()


def said(*command: str) -> str:
    """Return what a command of SLURM prints. Raises InputError where it fails, or is not there."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=True
        )
    except FileNotFoundError as error:
        raise InputError(
            f"{command[0]}: there is no such command here; call benchc site on a node that submits jobs"
        ) from error
    except (OSError, subprocess.SubprocessError) as error:
        printed = getattr(error, "stderr", "") or ""
        # That of a time-out is bytes.
        reason = (printed.decode(errors="replace") if isinstance(printed, bytes) else printed) or str(error)
        raise InputError(f"{' '.join(command)} failed ({' '.join(reason.split())}); ask your site") from error
    return done.stdout


def partitions() -> dict[str, FoundPartition]:
    """Return the partitions that are up and have nodes, the default first.

    The limits are those of the largest node in each respect. Raises InputError where SLURM does not answer,
    or has none.
    """
    found: dict[str, FoundPartition] = {}
    # Without --exact, nodes of several sizes have the smallest one's.
    for line in said("sinfo", "--noheader", "--exact", f"--format={FORMAT}").splitlines():
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != len(FORMAT.split("|")):  # a line of the site
            continue
        name, state, time, cores, memory, resources = parts
        if state != "up" or not _number(cores):  # without nodes
            continue
        partition = found.setdefault(name.rstrip("*"), FoundPartition(name.endswith("*")))
        if time.lower() not in NO_LIMIT:
            try:
                partition.max_runtime = minutes_of(time)
            except ValueError as error:
                raise InputError(
                    f"sinfo: the time limit of partition {name} {error}; write {SITE} by hand"
                ) from error
        partition.max_threads = max(partition.max_threads, _number(cores))
        partition.max_mem_mb = max(partition.max_mem_mb, _number(memory))
        gpus = GPU.findall(resources)
        partition.max_gpu = max(partition.max_gpu, sum(int(count or 1) for _, count in gpus))
        types = [kind for kind, _ in gpus if kind]
        partition.gpu_types = tuple(dict.fromkeys([*partition.gpu_types, *types]))
    if not found:
        raise InputError("sinfo lists no partition that is up; ask your site")
    return dict(sorted(found.items(), key=lambda entry: not entry[1].is_default))


def is_refused(options: Sequence[str]) -> bool:
    """Return whether SLURM would refuse a job with some options of sbatch."""
    command = ["sbatch", "--test-only", "--time=1", *options, "--wrap=true"]
    try:
        said(*command)
    except InputError:
        return True
    return False


def accounts() -> list[str]:
    """Return the accounts of the user; none where SLURM has no accounting."""
    command = ["sacctmgr", "--noheader", "--parsable2", "show", "associations", "format=Account"]
    try:
        text = said(*command, f"user={getuser()}")
    except InputError:
        return []
    return list(dict.fromkeys(line.strip() for line in text.splitlines() if line.strip()))


def _number(text: str) -> int:
    """Return the number of a field that may end in "+", where nodes differ."""
    digits = re.match(r"\d+", text)
    return int(digits[0]) if digits else 0
