"""What a GPU alone shows, with small random models.

pytest collects them where the file is named or ``--device`` is given: `make first-gpu-hour` runs them on a
GPU, and with --tiny those that can on the CPU. They record figures as properties of JUnit's XML.
"""

import gc
import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchc.corruptions.chunks import CorruptionSpec, write_corrupted
from benchc.corruptions.registry import recipe_of
from benchc.errors import InputError
from benchc.models.predict import Passes, load_model, predict, predict_units
from benchc.models.protocol import CheckpointSource, ModelError, UnitInput
from benchc.schemas.parquet import read_table
from benchc.schemas.pool_images import unique_images
from benchc.schemas.predictions import PREDICTIONS
from tests.models import test_units
from tests.models.classes.builders import BUILDERS, save
from tests.models.classes.checks import variants
from tests.models.classes.common import QUESTIONS
from tests.models.conftest import QUESTIONS as KNOWN_QUESTIONS
from tests.models.test_adapter import base_model, matrices, write_adapter
from tests.stages import ROOT, call_stage, command_of

CLASSES = ("gemma3", "idefics3", "internvl", "llava_next", "llava_onevision", "qwen2_5_vl")
TOLERANCE = 1e-4  # of logits in float32
TOLERANCE_BFLOAT16 = 0.1  # of probabilities
WIDE = 65_536  # of a layer, whose activations are then most of the memory
QUESTION = QUESTIONS[0]

folder = test_units.folder


@pytest.fixture
def device(pytestconfig: pytest.Config, torch_settings: None) -> str:
    return str(pytestconfig.getoption("device"))


def loaded(folder: Path, device: str, scoring: str = "letter", **settings: Any) -> Any:
    return load_model(CheckpointSource(str(folder), device=device, **settings), None, scoring)


def probabilities(logits: np.ndarray) -> np.ndarray:
    exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("model_type", CLASSES)
def test_agreement_with_the_cpu(model_type, device, tmp_path, record_property):
    save(model_type, tmp_path)
    largest = 0.0
    for scoring in ("letter", "text"):
        on_cpu, on_device = (loaded(tmp_path, each, scoring) for each in ("cpu", device))
        assert str(on_device.chat.model.device).startswith(device)
        for question, images in ((QUESTION, 2), *((question, 1) for question in QUESTIONS)):
            expected, found = (each.score(question, variants(images)) for each in (on_cpu, on_device))
            for name in ("logits", "label_mass"):
                difference = np.abs(getattr(found, name) - getattr(expected, name)).max()
                largest = max(largest, float(difference))
    record_property(f"largest difference, {model_type}", f"{largest:.1e}")
    assert largest < TOLERANCE


def test_agreement_of_a_merged_adapter_with_the_cpu(checkpoints, device, tmp_path, record_property):
    """Logits in float32, and in bfloat16 each weight, bit by bit: sums are rounded after they are made."""
    base, question = checkpoints["llava"], KNOWN_QUESTIONS[0]
    lora = str(write_adapter(tmp_path / "lora", matrices(base_model(base))))
    on_cpu, on_device = (loaded(base, each, adapter=lora) for each in ("cpu", device))
    models = (loaded(base, device), on_cpu, on_device)
    without, expected, found = (model.score(question, variants(1)).logits for model in models)
    largest = float(np.abs(found - expected).max())
    record_property("largest difference, an adapter", f"{largest:.1e}")
    assert largest < TOLERANCE
    assert np.abs(found - without).max() > 100 * TOLERANCE
    rounded = [loaded(base, each, adapter=lora, dtype="bfloat16").chat.model for each in ("cpu", device)]
    weights = [{name: each.cpu() for name, each in model.state_dict().items()} for model in rounded]
    assert weights[0].keys() == weights[1].keys()
    assert all(torch.equal(each, weights[1][name]) for name, each in weights[0].items())


@pytest.fixture
def job(folder: Path, checkpoints: dict[str, Path], device: str) -> Callable[..., list[str]]:
    """Return the options of an infer job on 41 items under three corruptions, whose output has a name."""
    items = list(unique_images(folder / "pool.parquet", set(test_units.SHOWN)))
    for name in (others := ("shot_noise", "fog")):
        write_corrupted(items, CorruptionSpec(recipe_of(name), seed=5), folder / f"{name}.parquet")
    images = json.dumps([str(folder / f"{name}.parquet") for name in ("gaussian_noise", *others)])
    fixed = {
        **{"model.label": "m", "model.location": checkpoints["internvl"], "model.device": device},
        **{"scoring": "letter", "pool": folder / "pool.parquet", "corrupted": images},
    }

    def words(name: str, workers: int = 0, **others: Any) -> list[str]:
        own = {"job.cache": folder / name, "job.workers": workers, "output": folder / f"{name}.parquet"}
        own |= {f"model.{key.replace('_', '-')}": value for key, value in others.items()}
        return [f"--{key}={value}" for key, value in (fixed | own).items()]

    return words


def test_bits_are_equal_in_the_next_job_and_with_workers(job, folder):
    for name, workers in (("first", 0), ("next", 0), ("workers", 4)):
        call_stage("infer", *job(name, workers))
    first, *others = ((folder / f"{name}.parquet").read_bytes() for name in ("first", "next", "workers"))
    assert [other == first for other in others] == [True, True]


def test_processes_side_by_side_have_the_bits_of_one_alone(job, folder):
    """The first two have one folder for locks of GPUs; the third, which sees none, runs beside them."""
    started = {}
    for name, locks in (("one", "common"), ("other", "common"), ("third", "own")):
        (folder / locks).mkdir(exist_ok=True)
        environment = {**os.environ, "TMPDIR": str(folder / locks)}
        command, pipe = command_of("infer", *job(name, 1)), subprocess.PIPE
        started[name] = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=pipe, text=True)
    errors = [process.communicate()[1] for process in started.values()]
    assert [process.returncode for process in started.values()] == [0, 0, 0], errors
    call_stage("infer", *job("alone"))
    alone = (folder / "alone.parquet").read_bytes()
    assert [(folder / f"{name}.parquet").read_bytes() == alone for name in started] == [True] * 3


def test_together_units_pass_with_the_predictions_of_each_alone(job, folder, device, capsys, record_property):
    """With "if_equal" bit by bit, and with "always" but for rounding."""
    table, said = {}, {}
    for mode in ("never", "if_equal", "always"):
        call_stage("infer", *job(mode, units_together=mode))
        said[mode] = re.findall(r"(units pass.*?) \(`units_together`\)", capsys.readouterr().err)
        table[mode] = read_table(folder / f"{mode}.parquet", PREDICTIONS)
        record_property(f"said with {mode}", "; ".join(said[mode]) or "nothing")
    assert not said["never"]
    if device == "cuda":
        assert said["always"][0].startswith("units pass together up to ")
    assert said["if_equal"][-1].startswith("units passed ")
    assert table["if_equal"].equals(table["never"])
    logits = [table[mode]["logits"].explode().to_numpy() for mode in ("never", "always")]
    largest = np.abs(logits[0] - logits[1]).max()
    record_property("largest difference of a logit with always", f"{largest:.1e}")
    assert largest < TOLERANCE


@pytest.mark.parametrize("scoring", ["letter", "text"])
def test_compile_changes_the_last_bits_alone(scoring, device, checkpoints, record_property):
    folder = checkpoints["internvl"]
    plain, compiled = (loaded(folder, device, scoring, compile=each) for each in (False, True))
    torch._dynamo.reset()
    passes = {"first pass": variants(), "next pass": variants(), "pass of two rows": variants()[:2]}
    for name, rows in passes.items():
        start = time.perf_counter()
        found = compiled.score(KNOWN_QUESTIONS[1], rows)
        record_property(f"seconds of the {name}, {scoring}", f"{time.perf_counter() - start:.1f}")
        expected = plain.score(KNOWN_QUESTIONS[1], rows)
        np.testing.assert_allclose(found.logits, expected.logits, atol=TOLERANCE)
        np.testing.assert_allclose(found.label_mass, expected.label_mass, atol=TOLERANCE)
    assert torch._dynamo.utils.counters["stats"]["unique_graphs"] > 0


@pytest.mark.parametrize("model_type", CLASSES)
def test_bfloat16_is_near_float32(model_type, device, tmp_path, record_property):
    save(model_type, tmp_path)
    exact, rounded = loaded(tmp_path, "cpu"), loaded(tmp_path, device, dtype="bfloat16")
    assert rounded.chat.model.dtype == torch.bfloat16
    for question in QUESTIONS:
        expected, found = (each.score(question, variants()) for each in (exact, rounded))
        assert ((found.label_mass > 0) & (found.label_mass <= 1)).all()
        for name, value, other in (
            ("label mass", found.label_mass, expected.label_mass),
            ("probability", probabilities(found.logits), probabilities(expected.logits)),
        ):
            difference = float(np.abs(value - other).max())
            record_property(f"largest difference of {name}, {model_type}", f"{difference:.1e}")
            assert difference < TOLERANCE_BFLOAT16


class Memory:
    """The memory of the GPU, as far as torch may take it."""

    @contextmanager
    def limited(self, size: float) -> Iterator[None]:
        """Let torch have ``size`` bytes."""
        self.free()
        torch.cuda.set_per_process_memory_fraction(size / torch.cuda.get_device_properties(0).total_memory)
        try:
            yield
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)
            self.free()

    def peak(self, call: Callable[[], Any]) -> int:
        """Return the bytes that torch has at most during a call."""
        self.free()
        torch.cuda.reset_peak_memory_stats()
        call()
        return torch.cuda.max_memory_reserved()

    def free(self) -> None:
        gc.collect()
        torch.cuda.empty_cache()


@pytest.fixture
def memory(device: str) -> Memory:
    if device != "cuda":
        pytest.skip("only a GPU's memory can be limited")
    return Memory()


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    """Return a checkpoint whose weights take 100 MB, and the activations of a row of 60 tokens 45 MB."""
    model, processor = BUILDERS["internvl"]()
    model.config.text_config.intermediate_size = WIDE
    torch.manual_seed(7)
    type(model)(model.config).save_pretrained(tmp_path)
    processor.save_pretrained(tmp_path)
    return tmp_path


def close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found.logits, expected.logits, atol=TOLERANCE)


def test_memory_for_fewer_units_lets_them_pass_alone(wide, device, memory, record_property):
    scorer, units = loaded(wide, device), [UnitInput(variants())] * 4

    def asked(together: str) -> Any:
        return predict_units(scorer, QUESTION, units, Passes(together))

    expected = asked("never")
    alone, joint = (memory.peak(lambda each=each: asked(each)) for each in ("never", "always"))
    record_property("peak of units alone and together, MB", f"{alone / 1e6:.0f}, {joint / 1e6:.0f}")
    assert joint > 1.5 * alone
    with memory.limited((alone + joint) / 2):
        found = asked("always")
    for (scores, split), (other, _) in zip(found, expected, strict=True):
        close(scores, other)
        assert not split


def test_memory_for_fewer_variants_halves_a_unit(wide, device, memory, record_property):
    scorer = loaded(wide, device)
    expected, _ = predict(scorer, QUESTION, variants())
    several = (variants()[:1], variants())
    one, all_ = (memory.peak(lambda rows=rows: predict(scorer, QUESTION, rows)) for rows in several)
    record_property("peak of a variant and of a unit, MB", f"{one / 1e6:.0f}, {all_ / 1e6:.0f}")
    assert all_ > 1.2 * one
    with memory.limited((one + all_) / 2):
        found, split = predict(scorer, QUESTION, variants())
    close(found, expected)
    assert split


def test_memory_for_no_variant_is_one_sentence_and_then_free(wide, device, memory):
    scorer = loaded(wide, device)
    expected, _ = predict(scorer, QUESTION, variants())
    memory.free()
    with (
        memory.limited(torch.cuda.memory_reserved() + 1_000_000),
        pytest.raises(ModelError, match="a single variant of its images does not fit into the memory"),
    ):
        predict(scorer, QUESTION, variants())
    found, split = predict(scorer, QUESTION, variants())
    close(found, expected)
    assert not split


def test_memory_for_no_model_is_one_sentence_and_then_free(wide, device, memory):
    memory.free()
    half = (wide / "model.safetensors").stat().st_size / 2
    with (
        memory.limited(torch.cuda.memory_reserved() + half),
        pytest.raises(InputError, match=r"`gpus`.*`dtype|`dtype.*`gpus`") as error,
    ):
        loaded(wide, device)
    assert "\n" not in str(error.value)
    predict(loaded(wide, device), QUESTION, variants())
