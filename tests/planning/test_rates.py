"""Rates are the seconds of finished jobs per prediction that they computed."""

import json
from pathlib import Path

import pytest
import yaml

from benchc.config.catalogue import Model
from benchc.models.job_counts import counts_text
from benchc.planning.amounts import Amount
from benchc.planning.rates import Rate, measured_rates


def write_job(logs: Path, name: str, seconds: float, predictions: int, computed: int) -> Path:
    """Write the log and the benchmark file of a job; return the latter."""
    log, benchmark = logs / f"infer/{name}.log", logs / f"benchmarks/infer/{name}.jsonl"
    for path in (log, benchmark):
        path.parent.mkdir(parents=True, exist_ok=True)
    counts = counts_text(predictions, "predictions", predictions - computed, computed)
    log.write_text(f"fog: 5 of 5 items\nmodel: {counts}\n")
    benchmark.write_text(json.dumps({"s": seconds}) + "\n")
    return benchmark


MODEL = Model(label="M", scoring="letter", path="m")


def rates_of(logs: Path, *models: str) -> dict[str, Rate]:
    """Return the rates of models for the run ``mine``."""
    return measured_rates(dict.fromkeys(models, MODEL), logs / "mine", logs / "results/mine")


def record(logs: Path, run: str, **models: Model) -> None:
    """Write the record of a run's models."""
    path = logs / f"results/{run}/config-models.yaml"
    path.parent.mkdir(parents=True)
    path.write_text(yaml.safe_dump({id_: model.model_dump() for id_, model in models.items()}))


def test_a_rate_is_total_seconds_over_computed_predictions(tmp_path: Path) -> None:
    write_job(tmp_path / "mine", "pool/a/all", 3000.0, 10_000, 10_000)
    write_job(tmp_path / "mine", "selected/a/all", 12.0, 100, 95)
    write_job(tmp_path / "mine", "pool/both/weather", 5.0, 100, 0)
    again = write_job(tmp_path / "mine", "pool/both/blur", 0.8, 40, 40)
    # Of a benchmark that Snakemake repeats, the last line is that of the log.
    again.write_text(json.dumps({"s": 900}) + "\n" + again.read_text())
    write_job(tmp_path / "mine", "pool/empty/all", 5.0, 0, 0)
    rates = rates_of(tmp_path, "a", "both", "empty", "other")
    assert rates == {"a": Rate(Amount(3012 / 10_095), 10_095), "both": Rate(Amount(0.8 / 40), 40)}


def test_jobs_that_found_many_predictions_in_the_cache_give_a_bound(tmp_path: Path) -> None:
    write_job(tmp_path / "mine", "pool/a/blur", 50.0, 100, 89)
    write_job(tmp_path / "mine", "pool/a/weather", 16.0, 100, 32)
    write_job(tmp_path / "mine", "selected/a/all", 30.0, 1000, 1)
    write_job(tmp_path / "mine", "pool/cached/all", 5.0, 100, 0)
    bound = Rate(Amount(0.5, "at most"), 32)
    assert rates_of(tmp_path, "a", "cached") == {"a": bound}
    # In whichever order they are found.
    write_job(tmp_path / "mine", "pool/b/blur", 16.0, 100, 32)
    write_job(tmp_path / "mine", "pool/b/weather", 50.0, 100, 89)
    assert rates_of(tmp_path, "b") == {"b": bound}
    write_job(tmp_path / "mine", "pool/a/blur", 60.0, 100, 90)
    assert rates_of(tmp_path, "a") == {"a": Rate(Amount(60 / 90), 90)}


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "",
        "[]",
        "{}",
        '{"s": null}',
        '{"s": "-"}',
        '{"s": NaN}',
        '{"s": Infinity}',
        '{"s": -1}',
        '{"s": 0}',
        "\ufffd",
    ],
)
def test_a_damaged_benchmark_file_is_not_counted(tmp_path: Path, line: str) -> None:
    paths = [write_job(tmp_path / "mine", f"pool/a/{name}", 10.0, 50, 50) for name in ("one", "two")]
    whole = paths[0].read_bytes()
    for path in paths:
        path.write_bytes(b"\xff" if line == "\ufffd" else line.encode())
        # The other one is, in whichever order they are found.
        assert rates_of(tmp_path, "a") == {"a": Rate(Amount(0.2), 50)}
        path.write_bytes(whole)
    for path in paths:
        path.write_bytes(b"\xff" if line == "\ufffd" else line.encode())
    assert rates_of(tmp_path, "a") == {}


def test_a_job_without_counts_in_its_log_is_not_counted(tmp_path: Path) -> None:
    write_job(tmp_path / "mine", "pool/a/all", 10.0, 50, 50)
    (tmp_path / "mine/infer/pool/a/all.log").write_text("fog: 3 of 5 items\n")
    write_job(tmp_path / "mine", "pool/b/all", 10.0, 50, 50)
    (tmp_path / "mine/infer/pool/b/all.log").unlink()
    assert rates_of(tmp_path, "a", "b") == {}


def test_a_model_without_jobs_in_the_run_has_the_rate_of_another(tmp_path: Path) -> None:
    write_job(tmp_path / "small", "pool/a/all", 100.0, 50, 50)
    write_job(tmp_path / "vast", "pool/a/all", 300.0, 100, 100)
    write_job(tmp_path / "vast", "pool/b/all", 10.0, 100, 100)
    write_job(tmp_path / "mine", "pool/b/all", 40.0, 100, 100)
    (tmp_path / "a file").touch()
    record(tmp_path, "small", a=MODEL)
    record(tmp_path, "vast", a=MODEL.model_copy(update={"label": "Other", "mem_mb": 9}), b=MODEL)
    rates = rates_of(tmp_path, "a", "b", "c")
    assert rates == {"a": Rate(Amount(3.0, "estimate"), 100, "vast"), "b": Rate(Amount(0.4), 100)}
    assert [rates[model].text() for model in "ab"] == ["100 of vast", "100"]
    assert Rate(Amount(2.0)).text() == "–"  # of the user


@pytest.mark.parametrize(
    "change",
    [
        {"gpus": 1},
        {"dtype": "bfloat16"},
        {"scoring": "text"},
        {"image_backend": "torchvision"},
        {"compile": True},
        {"attention": "eager"},
        {"units_together": "always"},
        {"processor": {"max_patches": 1}},
        {"path": "other"},
    ],
)
def test_another_run_that_asked_the_model_otherwise_gives_no_rate(tmp_path: Path, change: dict) -> None:
    write_job(tmp_path / "small", "pool/a/all", 100.0, 50, 50)
    record(tmp_path, "small", a=MODEL.model_copy(update=change))
    assert rates_of(tmp_path, "a") == {}


@pytest.mark.parametrize("text", ["", "{", "a: {}", "a: 3", "b: {}", "[a]"])
def test_a_damaged_record_gives_no_rate(tmp_path: Path, text: str) -> None:
    write_job(tmp_path / "small", "pool/a/all", 100.0, 50, 50)
    record(tmp_path, "small", a=MODEL)
    assert rates_of(tmp_path, "a")["a"].run == "small"
    path = tmp_path / "results/small/config-models.yaml"
    path.write_text(text)
    assert rates_of(tmp_path, "a") == {}
    path.unlink()
    assert rates_of(tmp_path, "a") == {}


def test_the_record_of_the_run_itself_gives_no_estimate(tmp_path: Path) -> None:
    write_job(tmp_path / "mine", "pool/a/all", 100.0, 50, 0)
    record(tmp_path, "mine", a=MODEL)
    assert rates_of(tmp_path, "a") == {}


def test_the_number_of_gpus_is_not_recorded(tmp_path: Path) -> None:
    write_job(tmp_path / "small", "pool/a/all", 100.0, 50, 50)
    record(tmp_path, "small", a=MODEL.model_copy(update={"gpus": 1}))
    two = {"a": MODEL.model_copy(update={"gpus": 2})}
    assert measured_rates(two, tmp_path / "mine", tmp_path / "results/mine")["a"].run == "small"
