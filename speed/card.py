"""What a measurement on a GPU says of its machine, and how busy the GPU is."""

import platform
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import mean
from threading import Event, Thread
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch
from machine import processor

from benchc.models.torch_build import only_for_cpu

PACKAGES = ("torch", "transformers", "accelerate", "flash-attn", "triton", "numpy", "pillow")
# TFLOPS in bfloat16 without sparsity, of NVIDIA's data sheets, by a part of the name that torch gives; of the
# first that fits. A slice (MIG) has the name of its GPU, and an unknown part of its peak.
PEAKS: dict[str, float | None] = {
    "MIG": None,
    "H200 NVL": 835.0,
    "H200": 989.0,
    "H100 80GB HBM3": 989.0,
    "H100 PCIe": 756.0,
    "A100": 312.0,
    "L40S": 362.0,
}
SAMPLE_SECONDS = 0.5


def facts(device: str) -> dict[str, Any]:
    """Return date, versions and machine; ``device``: cpu or cuda, for which also the card."""
    found: dict[str, Any] = {
        "date": str(date.today()),
        "commit": _printed(["git", "rev-parse", "--short", "HEAD"]),
        "device": device,
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "processor": processor(),
    }
    if device == "cuda":
        card = torch.cuda.get_device_properties(0)
        found |= {
            "card": card.name,
            "memory_gb": card.total_memory / 1e9,
            "capability": f"{card.major}.{card.minor}",
            "cuda": torch.version.cuda,
            "hip": torch.version.hip,
            "driver": _printed(_of_card("--query-gpu=driver_version")),
        }
    return found


def device_of(named: str | None, *, tiny: bool) -> str:
    """Return the device that is named, else a GPU, else the CPU for tiny models.

    Raises SystemExit where there is no GPU for it.
    """
    if named != "cpu" and torch.cuda.is_available():
        return "cuda"
    if named == "cuda" or not (tiny or named == "cpu"):
        raise SystemExit(
            f"error: torch finds no GPU{only_for_cpu()}; run this where it finds one, or try it with --tiny "
            "(of make: TINY=1)"
        )
    return "cpu"


def peak_of(card: str) -> float | None:
    """Return the TFLOPS of a card in bfloat16; None of one that is not listed, and of a slice."""
    return next((peak for name, peak in PEAKS.items() if name in card), None)


@contextmanager
def utilization() -> Iterator[list[float]]:
    """Yield a list that is filled in the block with shares of time in which the GPU computed, in [0, 1].

    Each is what nvidia-smi says of the last moments (up to a second); none where it says nothing.
    """
    found: list[float] = []
    ended = Event()

    def sample() -> None:
        while not ended.wait(SAMPLE_SECONDS):
            percent = _printed(_of_card("--query-gpu=utilization.gpu")) or ""
            found.extend([int(percent) / 100] if percent.isdigit() else [])

    thread = Thread(target=sample)
    thread.start()
    try:
        yield found
    finally:
        ended.set()
        thread.join()


def busy_share(samples: list[float]) -> float | None:
    """Return the mean without the first tenth, in which a job begins; None without samples."""
    rest = samples[len(samples) // 10 :]
    return mean(rest) if rest else None


def _of_card(query: str) -> list[str]:
    command = ["nvidia-smi", query, "--format=csv,noheader,nounits"]
    if torch.cuda.is_available():
        uuid = str(torch.cuda.get_device_properties(0).uuid).removeprefix("GPU-")
        command.append(f"--id=GPU-{uuid}")
    return command


def _printed(command: list[str]) -> str | None:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
