"""Jobs side by side take different GPUs."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from benchc.models import gpus

ROOT = Path(__file__).resolve().parents[2]
CARDS = ("GPU-a", "GPU-b", "GPU-c")
# Of another job, which sees the cards in another order, takes one and keeps it until its input ends.
JOB = """
import sys, tempfile
from types import SimpleNamespace
import torch
tempfile.tempdir = sys.argv[1]
cards = sys.argv[2:]
torch.cuda.device_count = lambda: len(cards)
torch.cuda.get_device_properties = lambda number: SimpleNamespace(uuid=cards[number])
from benchc.models.gpus import taken_gpus
print(taken_gpus(1), flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(torch.cuda, "device_count", lambda: len(CARDS))
    cards = [SimpleNamespace(uuid=card) for card in CARDS]
    monkeypatch.setattr(torch.cuda, "get_device_properties", cards.__getitem__)
    monkeypatch.setattr(gpus, "_locks", [])
    gpus.taken_gpus.cache_clear()
    yield
    for file in gpus._locks:
        file.close()
    gpus.taken_gpus.cache_clear()


def test_a_process_keeps_the_gpus_that_it_has_taken():
    assert gpus.taken_gpus(2) == (0, 1)
    assert gpus.taken_gpus(2) == (0, 1)


def test_a_gpu_of_another_job_is_left_to_it_until_that_ends(tmp_path):
    job = subprocess.Popen(
        [sys.executable, "-c", JOB, str(tmp_path), "GPU-b", "GPU-a"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert job.stdout is not None and job.stdout.readline() == b"(0,)\n"
    assert gpus.taken_gpus(2) == (0, 2)
    gpus.taken_gpus.cache_clear()
    # All are taken: jobs share.
    assert gpus.taken_gpus(2) == (0, 1)
    gpus.taken_gpus.cache_clear()
    job.kill()
    job.wait()
    job.stdout.close()
    assert gpus.taken_gpus(1) == (1,)
