"""What jobs ask a cluster for, by their work. The numbers are computed by hand from the constants."""

import math
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from snakemake.iocontainers import Wildcards

from benchc.config.catalogue import Model
from benchc.corruptions.recipe import CLEAN, Recipe
from benchc.workflow.images import Images
from benchc.workflow.minutes import (
    corrupt_seconds,
    corrupt_threads,
    embedding_minutes,
    estimates,
    items,
    megabytes,
    minutes,
    prediction_seconds,
    reading_minutes,
    resumed_minutes,
    rows,
    rows_before_made,
)
from benchc.workflow.models import Models
from benchc.workflow.run import Run

SEVERITIES = {severity: {"gamma": 1.0} for severity in range(1, 6)}
# 2.4 ms; a kernel of the user counts as 100 ms. An image is read and written in 45 ms.
GAMMA = Recipe("gamma", "benchc.corruptions.kernels.colour.gamma_contrast", parameters=SEVERITIES)
OWN = Recipe("own", "mine.light", parameters={1: {"gamma": 1.0}})


def model(**entry: Any) -> Model:
    return Model.model_validate({"label": "A", "scoring": "letter", "repo": "a/b", "gpus": 1} | entry)


def file_of(path: Path, size: float) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    os.truncate(path, int(size))
    return path


# ---- Minutes ----


@pytest.mark.parametrize(
    ("seconds", "asked", "estimate"), [(0, 5, 1), (60, 8, 1), (61, 9, 2), (28_700, 1440, 479)]
)
def test_jobs_ask_for_three_times_an_estimate_and_five_minutes(
    seconds: float, asked: int, estimate: int
) -> None:
    assert minutes(seconds) == resumed_minutes(seconds) == asked
    with estimates():
        assert minutes(seconds) == resumed_minutes(seconds) == estimate
    assert minutes(seconds) == asked


def test_a_job_that_continues_asks_for_at_most_a_day() -> None:
    assert (minutes(28_701), resumed_minutes(28_701)) == (1441, 1440)
    with estimates():
        assert resumed_minutes(100 * 3600) == 6000


def test_estimates_end_with_an_error() -> None:
    with pytest.raises(KeyError), estimates():
        raise KeyError
    assert minutes(0) == 5
    with pytest.raises(KeyError), rows_before_made(3):
        raise KeyError
    assert rows("absent.parquet") == 0


def test_rows_of_a_table_that_is_not_made_are_those_of_a_plan(tmp_path: Path) -> None:
    made, broken = tmp_path / "made.parquet", tmp_path / "broken.parquet"
    pl.DataFrame({"id": range(3)}).write_parquet(made)
    broken.write_text("no table")
    files = [made, broken, tmp_path, tmp_path / "absent.parquet"]
    assert [*map(rows, files)] == [3, 0, 0, 0]
    with rows_before_made(7):
        assert [*map(rows, files)] == [3, 0, 0, 7]
        with rows_before_made(8):
            assert rows(files[-1]) == 8
        assert rows(files[-1]) == 7
    assert rows(files[-1]) == 0


def test_items_are_those_of_the_subset_or_else_of_the_pool(tmp_path: Path) -> None:
    for name, number in (("pool", 3), ("subset", 2)):
        pl.DataFrame({"id": range(number)}).write_parquet(tmp_path / name)
    pool, subset = str(tmp_path / "pool"), str(tmp_path / "subset")
    assert items(SimpleNamespace(pool=pool, subset=subset)) == 2
    # Snakemake gives a rule's own [] for an input that a job has not.
    assert items(SimpleNamespace(pool=pool, subset=[])) == 3
    assert items(SimpleNamespace(pool=pool, subset="")) == 3
    assert items(SimpleNamespace(pool=pool)) == 3


# ---- Images ----


def test_the_time_of_images_is_that_of_all_severities() -> None:
    assert corrupt_seconds(1000, Recipe(CLEAN)) == pytest.approx(45)
    assert corrupt_seconds(1000, GAMMA) == pytest.approx(5 * 47.4)
    assert corrupt_seconds(1000, OWN) == pytest.approx(145)


@pytest.mark.parametrize(("seconds", "cores"), [(0, 1), (1800, 1), (1801, 2), (14_400, 8), (1e6, 8)])
def test_a_job_has_a_core_for_each_half_hour_of_images(seconds: float, cores: int) -> None:
    assert corrupt_threads(seconds) == cores


def images(corrupted: str = "on_the_fly") -> Images:
    found = Images.__new__(Images)
    found.settings = SimpleNamespace(corrupted=corrupted)  # type: ignore[assignment]
    found.stored_subset = "stored"
    found.recipes = {CLEAN: Recipe(CLEAN), "gamma": GAMMA, "own": OWN}
    found.batches = {"all": [CLEAN, "gamma", "own"], "own": ["own"]}
    return found


def test_the_mean_time_of_an_image_counts_each_corruption_once() -> None:
    # 45, 237 and 145 ms.
    assert images().mean_seconds == pytest.approx(0.427 / 3)
    assert images().seconds_of(["own", CLEAN], 1000) == pytest.approx(190)


def test_a_job_that_reads_its_images_does_not_generate_them(tmp_path: Path) -> None:
    pl.DataFrame({"id": range(100)}).write_parquet(tmp_path / "pool")
    input = SimpleNamespace(pool=str(tmp_path / "pool"))

    def seconds(found: Images, part: str, subset: str) -> float:
        return found.generating_seconds(SimpleNamespace(part=part, subset=subset), input)

    assert seconds(images(), "all", "pool") == pytest.approx(42.7)
    assert seconds(images(), "own", "pool") == pytest.approx(14.5)
    assert seconds(images(), "all", "stored") == seconds(images("files"), "all", "pool") == 0


# ---- Models ----


@pytest.mark.parametrize(
    ("entry", "tokens", "expected"),
    [
        # An image, and a prediction for each 10^9 parameters.
        ({"parameters_b": 1.0}, 0, 0.0167),
        ({"parameters_b": 7.0}, 0, 0.0929),
        # Half of the tokens.
        ({"parameters_b": 7.0}, 512, 0.0929 + 7 * 0.003 * 256),
        ({"parameters_b": 7.0, "gpus": 0}, 0, 17.51),
        ({"parameters_b": 7.0, "gpus": 0}, 10, 17.51 + 7 * 0.5 * 5),
        # Without a number: by the main memory, 3 GB for 10^9, at most 8 * 10^9.
        ({"mem_mb": 6000}, 0, 0.004 + 2 * 0.0127),
        ({"mem_mb": 60_000}, 0, 0.004 + 8 * 0.0127),
    ],
)
def test_the_time_of_a_prediction_follows_the_size_of_the_model(
    entry: dict[str, Any], tokens: int, expected: float
) -> None:
    assert prediction_seconds(model(**entry), tokens) == pytest.approx(expected)


def test_a_server_answers_several_requests_at_once() -> None:
    server = {"url": "http://node:8000", "concurrency": 10}
    served = model(parameters_b=7.0, gpus=0, server=server)
    assert prediction_seconds(served) == pytest.approx(0.00929)


def test_a_model_that_the_run_trains_is_tiny() -> None:
    trained = SimpleNamespace(train=object(), parameters_b=None, gpus=0, server=None)
    assert prediction_seconds(trained) == pytest.approx(0.0125)  # type: ignore[arg-type]


def test_the_size_of_a_local_model_is_that_of_its_weights(tmp_path: Path) -> None:
    for name in ("model-1.safetensors", "model-2.safetensors", "other.bin"):
        file_of(tmp_path / name, 3e9)
    local = model(repo=None, path=str(tmp_path))
    assert prediction_seconds(local) == pytest.approx(0.004 + 3 * 0.0127)


def test_a_model_of_a_paper_takes_minutes_for_its_pool() -> None:
    """7600 images of NaturalBench and Qwen2.5-VL-7B: 12 minutes on an H100."""
    seconds = 7600 * prediction_seconds(model(parameters_b=7.0))
    assert resumed_minutes(seconds) == 41
    with estimates():
        assert resumed_minutes(seconds) == 12


@pytest.mark.parametrize(("device", "asked"), [("cuda", 14), ("cpu", 365)])
def test_the_time_of_embedding(device: str, asked: int) -> None:
    assert embedding_minutes(7200, device) == asked
    assert embedding_minutes(10**7, device) == 1440


def models(subset_answers: dict[str, Any] | None = None, **entry: Any) -> Models:
    found = Models.__new__(Models)
    found.entries = {"m": model(parameters_b=1.0, **entry)}
    found.images = images()
    found.settings = SimpleNamespace(  # type: ignore[assignment]
        inference=SimpleNamespace(workers=4),
        label_prompt=None,
        subset_answers=subset_answers or {},
        open_answers=None,
    )
    return found


def runtime(found: Models, input: Any, *arguments: Any, answers: bool = False, **wildcards: str) -> int:
    asked = found.resources(*arguments, answers=answers)["runtime"]
    with estimates():
        return asked(Wildcards(fromdict={"model": "m", **wildcards}), input)


def test_an_inference_job_predicts_and_generates_its_images(tmp_path: Path) -> None:
    input = SimpleNamespace(pool=str(tmp_path / "pool"))
    pl.DataFrame({"id": range(10_000)}).write_parquet(input.pool)
    # 7 images of an item in 0.0167 s each; 4 cores generate them in 0.427 s of one core.
    predicted, generated = 10_000 * 7 * 0.0167, 10_000 * 0.427 / 4
    asked: dict[str, Any] = {"part": "all", "subset": "pool"}
    assert runtime(models(), input, **asked) == math.ceil((predicted + generated) / 60)
    assert runtime(models(), input, part="all", subset="stored") == math.ceil(predicted / 60)
    # The one core of a job on the CPU does all.
    predicted = 10_000 * 7 * 2.51
    assert runtime(models(gpus=0), input, **asked) == math.ceil((predicted + 4 * generated) / 60)


def test_a_job_with_a_number_of_its_own_predicts_only() -> None:
    input = SimpleNamespace(pool="absent")
    with rows_before_made(10_000):
        # 601 s.
        assert runtime(models(), input, lambda input: 36_000, part="all", subset="pool") == 11


def test_an_answer_takes_the_time_of_its_tokens() -> None:
    def of(found: Models, *, answers: bool = True, **wildcards: str) -> int:
        return runtime(found, None, lambda input: 3600, answers=answers, **wildcards)

    # 0.0167 s, and half of the tokens at 0.003 s: 600.1 s, and without them 60.1 s.
    assert of(models(max_new_tokens=100)) == 11
    assert of(models(max_new_tokens=100), answers=False) == 2
    assert of(models(scoring="classify")) == 2
    own = {"open": SimpleNamespace(generation=lambda: {"max_new_tokens": 20})}
    assert of(models(own, max_new_tokens=100), subset="open") == 3  # 168.1 s
    assert of(models(own, max_new_tokens=100), subset="other") == 11


# ---- Files, and the results page ----


def test_the_time_of_reading_follows_the_size_of_the_files_that_are_there(tmp_path: Path) -> None:
    files = [file_of(tmp_path / "a", 3e8), file_of(tmp_path / "b", 3e8), tmp_path / "absent", tmp_path]
    # 600 MB at 5 MB/s.
    assert (megabytes(files), reading_minutes(files)) == (600, 11)
    assert (megabytes(files[2:]), reading_minutes(files[2:])) == (0, 5)
    assert megabytes([file_of(tmp_path / "a", 1)]) == 1


@pytest.mark.parametrize(
    ("chosen", "samples", "strips"),
    [
        # Each sample, and under each of four corruptions.
        (None, 100, 500),
        # There is room for 5000, and one of each of 2000 samples, which is the most.
        (None, 9000, 7000),
        (["a", "b", "c"], 9000, 8000),
    ],
)
def test_the_strips_of_the_page_are_limited(chosen: list[str] | None, samples: int, strips: int) -> None:
    run = Run.__new__(Run)
    page = SimpleNamespace(corruptions=chosen, samples=2000)
    run.settings = SimpleNamespace(  # type: ignore[assignment]
        results_page=page, corruptions=SimpleNamespace(types=["a", "b", "c", "d"])
    )
    assert run.page_strips(samples) == strips
