"""Facts of each job, for the record of its run: when and where it ran, its versions, GPUs and memory.

Each try of a job appends two lines of JSON to a file, when it starts and when it ends; a try that was killed
has no second line.
"""

import hashlib
import json
import os
import resource
import shlex
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from benchc.models.gpus import nvidia_smi

FOLDER = Path(".snakemake/jobs")
STAGE = ["python", "-m", "scripts.stage"]
END_OF_STAGE = "2>&1"
MODULES = (
    *("torch", "torchvision", "transformers", "tokenizers", "open_clip", "sentence_transformers", "peft"),
    *("numpy", "PIL", "imgaug", "cv2", "scipy", "polars"),
)
# Set for jobs by the executor of slurm/site.yaml, since srun takes SLURM's own away.
MEMORY_ASKED = "BENCHC_MEM_MB"
KB_PER_MB = 1000  # of 1024 and 10^6 bytes


def stage_words(command: str) -> list[str]:
    """Return the words of a rule's command behind ``python -m scripts.stage``; none of another command."""
    if not command.startswith(" ".join(STAGE)):
        return []
    words = shlex.split(command)
    return words[len(STAGE) : words.index(END_OF_STAGE)] if END_OF_STAGE in words else []


def facts_file(words: Sequence[str]) -> Path:
    """Return the file of a job, given the words of its command behind ``python -m scripts.stage``."""
    return FOLDER / f"{hashlib.blake2b(json.dumps([*words]).encode(), digest_size=16).hexdigest()}.jsonl"


@contextmanager
def recorded_facts(words: Sequence[str]) -> Iterator[None]:
    """Record a try of a job of Snakemake; a call by hand elsewhere leaves nothing."""
    if not FOLDER.parent.is_dir():
        yield
        return
    file = facts_file(words)
    _append(file, {"start": time.time(), "host": socket.gethostname()} | _asked())
    failed = True
    try:
        yield
        failed = False
    finally:
        _append(file, {"end": time.time(), "failed": failed} | _used())


def tries_of(file: Path) -> list[dict[str, Any]]:
    """Return the tries of a job, each as one mapping; none where the file cannot be read."""
    found: list[dict[str, Any]] = []
    lines: list[str] = []
    with suppress(OSError, UnicodeError):
        lines = file.read_text(encoding="utf-8").splitlines()
    for line in lines:
        # One may be cut off.
        with suppress(ValueError):
            facts = json.loads(line)
            if "start" in facts or not found:
                found.append({})
            found[-1] |= facts
    return found


def _append(file: Path, facts: dict[str, Any]) -> None:
    # A job does not fail for want of them.
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as opened:
            # Behind a line that was cut off.
            opened.write("\n" + json.dumps(facts) + "\n")


def _asked() -> dict[str, Any]:
    """Return the job of SLURM, and the memory that it asked for, in MB."""
    job, memory = os.environ.get("SLURM_JOB_ID"), os.environ.get(MEMORY_ASKED, "")
    found: dict[str, Any] = {"slurm_job": job} if job else {}
    return found | ({"asked_mb": int(memory)} if memory.isdigit() else {})


def _used() -> dict[str, Any]:
    peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    # macOS counts bytes.
    unit = KB_PER_MB * (1024 if sys.platform == "darwin" else 1)
    versions = {name: getattr(sys.modules.get(name), "__version__", None) for name in MODULES}
    found: dict[str, Any] = {
        "python": sys.version.split()[0],
        "versions": {name: str(version) for name, version in versions.items() if version},
        # Of this process and of the largest one that it started.
        "peak_mb": sum(peaks) // unit,
    }
    torch = sys.modules.get("torch")
    # CUDA raises its last error again.
    with suppress(Exception):
        if torch is not None and torch.cuda.is_initialized():
            count = torch.cuda.device_count()
            found["gpus"] = [torch.cuda.get_device_name(number) for number in range(count)]
            found["driver"] = _driver()
    return found


def _driver() -> str | None:
    return next(iter(nvidia_smi("--query-gpu=driver_version", "--format=csv,noheader")), None)
