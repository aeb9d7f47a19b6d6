"""Runs from scratch: one core or two, killed or not, they give the same tables to the last byte."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
import torch
import yaml

from benchc.benchmarks.bench_c.schemas.orders import ORDERS
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.models.asking import AskedModel, Job
from benchc.schemas.corrupted import CORRUPTED
from benchc.schemas.parquet import read_table
from tests.stages import command_of
from tests.workflow.conftest import small_checkout
from tests.workflow.preloaded import preloaded_python
from tests.workflow.test_rerun import SELECTORS, TARGETS

CORRUPTIONS = ("gaussian_noise", "shot_noise", "gaussian_blur")


def wait_for(condition, seconds=600):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not true within {seconds} seconds"
        time.sleep(0.02)


def without_predictions(hashes: dict[str, str]) -> dict[str, str]:
    """Return the hashes of the files that do not depend on how inference is divided into jobs."""
    files = ("/predictions/", "/small/config.yaml")
    return {file: hash_ for file, hash_ in hashes.items() if not any(part in file for part in files)}


@pytest.fixture(scope="module")
def other_python() -> Iterator[Path]:
    """A python like that of the finished run, with another seed of hashes."""
    with preloaded_python({**os.environ, "PYTHONPATH": "", "PYTHONHASHSEED": "1"}) as program:
        yield program


def test_one_core_a_kill_and_other_jobs_change_no_byte(tmp_path_factory, checkpoints, finished, other_python):
    # The seed of hashes changes at each step, so that no step relies on the order of a set in another.
    checkout = small_checkout(tmp_path_factory.mktemp("killed") / "benchc", checkpoints)
    checkout.configure(inference={"corruptions_per_job": "group"})
    checkout.python = other_python
    checkout.make("--omit-from", "infer", cores=1)
    # The process itself is killed, and not one that a server forked.
    del checkout.python
    command = [sys.executable, "-m", "snakemake", "--configfile", checkout.config, "--cores", "1"]
    process = subprocess.Popen(
        command,
        cwd=checkout.folder,
        env=checkout.environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    cache = checkout.folder / "results/.cache"
    try:
        wait_for(lambda: process.poll() is not None or any(cache.glob("*/*/small-*.units")))
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == -signal.SIGKILL
    assert not (checkout.folder / "results/small/tables/table1.csv").exists()

    checkout.python = finished.python
    checkout.snakemake("--unlock")
    jobs = [(pair, part) for pair in SELECTORS + TARGETS for part in ("blur", "noise")]
    predictions = [f"results/small/predictions/{pair}/{part}.parquet" for pair, part in jobs]
    checkout.make("--rerun-incomplete", *predictions, cores=1)
    checkout.python_of_jobs = Path(sys.executable)
    checkout.make("results/small/scores/other.parquet", cores=1)
    checkout.python, checkout.python_of_jobs = other_python, None
    checkout.make(cores=1)
    assert checkout.plan() == {}
    # Predictions are in other files, one per family; everything made from them is the same to the last byte.
    files = sorted(file.name for file in (checkout.folder / "results/small/predictions/pool/texts").iterdir())
    assert files == ["blur.parquet", "noise.parquet"]
    assert without_predictions(checkout.hashes("results/small")) == without_predictions(
        finished.hashes("results/small")
    )


def test_images_made_on_the_fly_give_the_same_results_and_only_the_benchmarks_are_written(finished):
    types = yaml.safe_load((finished.folder / finished.config).read_text())["corruptions"]["types"]
    files, fly = (
        {
            file.removeprefix(f"results/{name}/"): hash_
            for file, hash_ in finished.hashes(f"results/{name}").items()
            if not file.endswith(f"{name}/config.yaml")
        }
        for name in ("small", "fly")
    )
    written = {file for file in fly if file.startswith("benchmark/")}
    assert written == {f"benchmark/{name}.parquet" for name in ("clean", *types)}
    assert {file: fly[file] for file in fly if file not in written} == {
        file: hash_ for file, hash_ in files.items() if not file.startswith("corrupted/")
    }
    # The benchmark's images are those of its items in the other run's pool.
    selected = read_table(finished.folder / "results/fly/selection/selected.parquet", SELECTED)
    kept = [f"{id_}#0" for id_ in selected.filter("selected")["id"]]
    for file in written:
        benchmark = read_table(finished.folder / "results/fly" / file, CORRUPTED)
        whole = read_table(finished.folder / "results/small/corrupted" / Path(file).name, CORRUPTED)
        assert benchmark.equals(whole.filter(pl.col("image_key").is_in(kept)))


def test_other_orders_are_predicted_clean_and_at_the_highest_severity(finished):
    orders = read_table(finished.folder / "results/small/orders/other.parquet", ORDERS)
    assert set(orders.filter(corruption="clean")["severity"]) == {0}
    corrupted = orders.filter(pl.col("corruption") != "clean")
    types = yaml.safe_load((finished.folder / finished.config).read_text())["corruptions"]["types"]
    assert set(corrupted["corruption"]) == set(types) and set(corrupted["severity"]) == {5}
    assert orders["id"].n_unique() == 2


def test_the_report_shows_tables_and_figures_with_their_captions(finished, tmp_path):
    checkout = finished.copy(tmp_path / "benchc")
    checkout.snakemake("--report", "report.html")
    page = (checkout.folder / "report.html").read_text()
    assert "system-message" not in page
    for text in ("figure1a.png", "figure8.png", "table1.csv", "Composition", "eq. 11", "config-models.yaml"):
        assert text in page, text


def infer(finished, cache, output, *, model="letters", corrupted=None, python=None, device="cpu"):
    """Return the command that runs a model on the pool of the finished run."""
    folder = finished.folder / "results/small/corrupted"
    files = corrupted or [folder / f"{name}.parquet" for name in ("clean", *CORRUPTIONS)]
    location = str(finished.folder / "checkpoints" / model)
    command = command_of(
        "infer",
        model=AskedModel(label="tiny", location=location, family="llava", device=device),
        scoring="letter",
        job=Job(cache=cache, shard="w"),
        pool=finished.folder / "results/small/pool/items.parquet",
        corrupted=files,
        output=output,
    )
    return [python or finished.python, *command[1:]]


def test_a_killed_inference_resumes_from_its_cache(finished, tmp_path):
    def run(cache, output):
        result = subprocess.run(
            infer(finished, cache, output), cwd=finished.folder, text=True, capture_output=True, check=True
        )
        return next(line for line in result.stderr.splitlines() if "from the cache" in line)

    whole = run(tmp_path / "one", tmp_path / "whole.parquet")
    assert " 0 from the cache" in whole

    cache = tmp_path / "two"
    # The process itself, and not one that a server forked.
    command = infer(finished, cache, tmp_path / "resumed.parquet", python=sys.executable)
    process = subprocess.Popen(command, cwd=finished.folder, stderr=subprocess.DEVNULL)
    wait_for(lambda: sum(file.stat().st_size for file in cache.glob("*/*/w-*.units")) > 600)
    process.kill()
    process.wait()
    assert not (tmp_path / "resumed.parquet").exists()
    resumed = run(cache, tmp_path / "resumed.parquet")
    assert " 0 from the cache" not in resumed
    assert " 0 computed" not in resumed
    assert (tmp_path / "resumed.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
def test_a_missing_gpu_is_refused(finished, tmp_path):
    command = infer(finished, tmp_path / "cache", tmp_path / "out.parquet", device="cuda")
    result = subprocess.run(command, cwd=finished.folder, text=True, capture_output=True, check=False)
    assert result.returncode == 1
    assert "the job needs a GPU, but torch finds none" in result.stderr.splitlines()[-1]
