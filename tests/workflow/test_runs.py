"""Runs from scratch: one core or two, killed or not, they give the same tables to the last byte."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.workflow.checkout import Checkout
from tests.workflow.conftest import small_checkout


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def first_hashes(finished: Checkout) -> dict[str, str]:
    return finished.first_hashes


def test_a_run_on_one_core_that_was_killed_gives_the_same_bytes(tmp_path_factory, checkpoints, first_hashes):
    checkout = small_checkout(tmp_path_factory.mktemp("killed") / "benchc", checkpoints)
    command = [sys.executable, "-m", "snakemake", "--configfile", checkout.config, "--cores", "1"]
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": "",
    }
    process = subprocess.Popen(
        command,
        cwd=checkout.folder,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    store = checkout.folder / "results/small/.reads"
    wait_for(lambda: process.poll() is not None or any(store.glob("*/*/*.jsonl")))
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (checkout.folder / "results/small/tables/table1.csv").exists()

    checkout.snakemake("--unlock")
    checkout.make("--rerun-incomplete", cores=1)
    assert checkout.hashes("results/small") == first_hashes
    assert checkout.plan() == {}


def test_a_killed_inference_resumes_from_its_store(finished, tmp_path):
    def command(store, output):
        corrupted = finished.folder / "results/small/corrupted"
        names = ("clean", "gaussian_noise", "gaussian_blur", "snow")
        return [
            *(
                sys.executable,
                "-m",
                "scripts.infer",
                "--location",
                str(finished.folder / "checkpoints/letters"),
            ),
            *("--family", "llava", "--scoring", "letter", "--device", "cpu"),
            *("--items", str(finished.folder / "results/small/pool/items.parquet")),
            *("--corrupted", *(str(corrupted / f"{name}.parquet") for name in names)),
            *("--store", str(store), "--writer", "w", "--output", str(output)),
        ]

    def run(store, output):
        result = subprocess.run(
            command(store, output), cwd=finished.folder, text=True, capture_output=True, check=True
        )
        return next(line for line in result.stderr.splitlines() if "from the store" in line)

    whole = run(tmp_path / "one", tmp_path / "whole.parquet")
    assert " 0 from the store" in whole

    store = tmp_path / "two"
    process = subprocess.Popen(
        command(store, tmp_path / "resumed.parquet"), cwd=finished.folder, stderr=subprocess.DEVNULL
    )
    wait_for(lambda: sum(file.stat().st_size for file in store.glob("*/*/w.jsonl")) > 2000)
    process.kill()
    process.wait()
    assert not (tmp_path / "resumed.parquet").exists()
    resumed = run(store, tmp_path / "resumed.parquet")
    assert " 0 from the store" not in resumed
    assert " 0 new" not in resumed
    assert (tmp_path / "resumed.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
