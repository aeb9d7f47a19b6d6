"""What a measurement says about the machine and the process, on Linux and macOS."""

import os
import platform
import resource
import sys
from pathlib import Path


def processor() -> str:
    """Return the number of cores and the processor's name."""
    listed = Path("/proc/cpuinfo")
    lines = listed.read_text().splitlines() if listed.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return (
        f"{len(names)} cores of {names[0]}" if names else f"{os.cpu_count()} cores of {platform.processor()}"
    )


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def peak_bytes() -> int:
    """Return the largest resident size of this process so far; macOS counts it in bytes, Linux in KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
