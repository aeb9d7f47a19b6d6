"""The measurement on a GPU runs on a CPU with small models; what a GPU alone shows has stand-ins."""

import argparse
import gc
import importlib
import json
import subprocess
import sys
import time
import weakref
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

SPEED = Path(__file__).resolve().parents[2] / "speed"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a module of speed/."""
    monkeypatch.syspath_prepend(str(SPEED))
    threads = torch.get_num_threads()

    def imported(name: str) -> ModuleType:
        return importlib.import_module(name)

    yield imported
    torch.set_num_threads(threads)


def test_small_models_are_measured_on_a_cpu(python: Path, tmp_path: Path) -> None:
    file = tmp_path / "deep/figures.json"
    options = ("--models", "InternVL3-1B", "--items", "4", "--workers", "1", "--together", "1", "2")
    attention = ("--attention", "sdpa", "eager", "flash_attention_2", "--sides", "56")
    given = ["--tiny", "--device", "cpu", "--json", str(file), *options, *attention]
    command = [str(python), str(SPEED / "gpu_inference.py"), *given]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text())
    assert (found["tiny"], found["facts"]["device"]) == (True, "cpu")
    figures = found["models"]["InternVL3-1B"]
    assert figures["probabilities"] == {"bfloat16": 0.0, "float32": 0.0}  # the same device
    assert figures["workers_needed"] >= figures["unit_on_host"] / figures["unit_on_device"] > 0
    assert figures["job"] > 0 and figures["busy"] is None
    assert 0 < figures["in_model"] <= 1
    passes = [(each["attention"], each["rows"], each["failed"]) for each in figures["passes"]]
    absent = "not installed"
    assert passes == [
        *[("sdpa", 5, None), ("eager", 5, None), ("flash_attention_2", 5, absent)],
        *[("sdpa", 10, None), ("eager", 10, None), ("flash_attention_2", 10, absent)],
    ]
    assert f"Loop: {figures['loop']:.2f} predictions/s. benchc with 1 worker: {figures['job']:.2f} pred" in (
        done.stdout
    )
    rate = figures["passes"][3]["rate"]
    assert f"| sdpa | 56 | 2 | 10 | 60 | {rate:.1f} | – |" in done.stdout


def test_without_a_gpu_only_small_models_are_measured(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    device_of = script("card").device_of
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.version, "cuda", "13.0")
    monkeypatch.setattr(torch.version, "hip", None)
    assert (device_of(None, tiny=True), device_of("cpu", tiny=False)) == ("cpu", "cpu")
    for named, tiny in ((None, False), ("cuda", True)):
        with pytest.raises(SystemExit, match=r"^error: torch finds no GPU; run this where it finds one"):
            device_of(named, tiny=tiny)
    monkeypatch.setattr(torch.version, "cuda", None)
    with pytest.raises(
        SystemExit, match=r"finds no GPU \(torch \S+ is built for the CPU alone: install one .*\); run"
    ):
        device_of(None, tiny=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert [device_of(named, tiny=True) for named in (None, "cuda", "cpu")] == ["cuda", "cuda", "cpu"]


def test_a_scorer_on_the_cpu_has_no_tensors_of_the_device(script: Any) -> None:
    """The device ``meta`` refuses tensors of others, as a GPU does."""
    speed = script("gpu_inference")
    image = np.random.default_rng(1).integers(0, 256, (56, 56, 3), dtype=np.uint8)
    scorer, _ = speed.scorer_of("InternVL3-1B", True, "cpu", torch.float32)
    expected = speed.probabilities(scorer, image)
    assert scorer._tokens
    scorer._tokens.update({key: tokens.to("meta") for key, tokens in scorer._tokens.items()})
    np.testing.assert_array_equal(speed.probabilities(speed.on_cpu(scorer), image), expected)


def test_a_model_is_freed_before_the_next_is_made(script: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    speed, made, alive = script("gpu_inference"), [], []
    scorer_of = speed.scorer_of

    def watched(*given: Any) -> Any:
        alive.append(sum(model() is not None for model in made))
        scorer, plain = scorer_of(*given)
        made.append(weakref.ref(scorer.chat.model))
        return scorer, plain

    monkeypatch.setattr(speed, "scorer_of", watched)
    options = ["--measure", "probabilities", "passes", "--sides", "56", "--together", "1"]
    monkeypatch.setattr(sys, "argv", ["gpu_inference.py", "--tiny", "--device=cpu", *options])
    gc.disable()  # it would free by chance
    gc.freeze()  # what this process has imported, which each collection of the script would go through
    try:
        speed.main()
    finally:
        gc.unfreeze()
        gc.enable()
    assert alive == [0] * 6


def test_a_model_without_room_is_refused_before_it_is_made(
    script: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    speed = script("gpu_inference")
    given = SimpleNamespace(models=["Qwen2.5-VL-7B"], tiny=False, measure=["probabilities", "job"])
    free = 40_000_000_000
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (free, 10**12))
    speed.require_memory(given)
    free = 36_000_000_000
    with pytest.raises(SystemExit) as error:
        speed.require_memory(given)
    assert str(error.value).startswith(
        "error: Qwen2.5-VL-7B needs 36.5 GB of the GPU's memory, of which 36.0 GB are free; use a larger"
    )
    speed.require_memory(argparse.Namespace(**{**vars(given), "measure": ["job"]}))


@pytest.mark.parametrize(
    ("name", "peak"),
    [
        ("NVIDIA H100 80GB HBM3", 989.0),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", None),
        ("NVIDIA H200", 989.0),
        ("NVIDIA H200 NVL", 835.0),
        ("NVIDIA H100 NVL", None),
    ],
)
def test_the_peak_is_that_of_the_card_and_not_of_one_like_it(
    script: Any, name: str, peak: float | None
) -> None:
    assert script("card").peak_of(name) == peak


def test_the_share_in_which_a_gpu_computes_is_that_of_nvidia_smi(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = script("card")
    monkeypatch.setattr(card, "SAMPLE_SECONDS", 0.01)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def sampled(calls: int) -> list[float]:
        (tmp_path / "calls").write_text("0")
        with card.utilization() as samples:
            while int((tmp_path / "calls").read_text() or 0) < calls:
                pass
            time.sleep(0.05)
        return list(samples)

    assert sampled(0) == [] and card.busy_share([]) is None
    program = tmp_path / "nvidia-smi"
    count = f"n=$(cat {tmp_path}/calls); echo $((n + 1)) > {tmp_path}/calls"
    cases = "case $n in 0) echo 0;; 1) echo '[N/A]';; *[02468]) echo 90;; *) echo 70;; esac"
    program.write_text(f"#!/bin/sh\n{count}\n{cases}\n")
    program.chmod(0o755)
    samples = sampled(12)
    assert samples[:5] == [0.0, 0.9, 0.7, 0.9, 0.7]
    assert 0.78 < card.busy_share(samples) < 0.82
