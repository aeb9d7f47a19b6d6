"""Small and read-only disks for tests that run as root."""

import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounts disks, which needs root")
SECONDS_OF_USE = 60.0


@contextmanager
def mounted(options: list[str], place: Path) -> Iterator[None]:
    """Mount what the options say at a place until the end of the block, and of its use."""
    subprocess.run(["mount", *options, str(place)], check=True)
    try:
        yield
    finally:
        end = time.monotonic() + SECONDS_OF_USE
        while subprocess.run(["umount", str(place)], check=False).returncode:
            assert time.monotonic() < end, f"{place} is in use"
            time.sleep(0.2)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let nothing be written in a folder."""
    with mounted(["--bind", str(folder)], folder):
        subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True)
        yield


class Disk:
    """A small disk. ``place``: its folder."""

    def __init__(self, place: Path) -> None:
        self.filler = place / "filler"

    def fill(self, left: int = 0) -> None:
        """Fill the disk up to some bytes that are left."""
        with self.filler.open("wb", buffering=0) as file, pytest.raises(OSError, match="No space left"):
            while True:
                file.write(bytes(1 << 16))
        os.truncate(self.filler, max(0, self.filler.stat().st_size - left))

    def empty(self) -> None:
        self.filler.unlink()


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Disk]:
    """Put a folder on a small disk; afterwards it is what it was before."""
    moved = folder.rename(folder.with_name(f"{folder.name}.moved"))
    folder.mkdir()
    with mounted(["-t", "tmpfs", "-o", f"size={size}", "tmpfs"], folder):
        subprocess.run(["cp", "-a", f"{moved}/.", str(folder)], check=True)
        yield Disk(folder)
    folder.rmdir()
    moved.rename(folder)
