"""Units that worker processes prepare give the rows of units that the job prepares itself."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from benchc.corruptions.registry import recipe_of
from benchc.errors import InputError
from benchc.images import encode
from benchc.models import predict, prepare, units
from benchc.models.cache.unit_cache import PredictionCache
from benchc.models.inference import infer
from benchc.models.inference import prediction_rows as ask
from benchc.models.items import Item
from benchc.models.predict import Passes, predict_units
from benchc.models.predictor import Predictor
from benchc.models.prepare import prepared_units
from benchc.models.protocol import ModelError
from benchc.models.question import Question
from benchc.models.units import ImagesToCorrupt, Unit, units_in
from tests.models.conftest import QUESTIONS

ROOT = Path(__file__).resolve().parents[2]
COMPUTE = partial(predict_units, passes=Passes())
ITEMS = {f"s/{number}": Item(QUESTIONS[number % 2], (f"s/{number}#0",)) for number in range(4)}


def sources(data=None) -> list[ImagesToCorrupt]:
    found, noise = [], np.random.default_rng(1)
    for number, item in enumerate(ITEMS):
        encoded = encode(noise.integers(0, 256, (40 + 8 * number, 56, 3), np.uint8)) if data is None else data
        for name in ("gaussian_noise", "pixelate"):
            images = {item: [(f"{item}#0", encoded)]}
            found.append(ImagesToCorrupt(recipe_of(name), {item: (1, 3)}, 7, "drop", images))
    return found


def predictions(scorer, folder, found, items=ITEMS) -> tuple[list[dict[str, object]], int]:
    with PredictionCache(folder, {"model": "m"}, "a") as cache:
        predictor = Predictor(scorer, cache, COMPUTE)
        return infer(predictor, items, found(cache), ask), predictor.computed


@pytest.fixture
def prepared(scorers, tmp_path) -> Callable[..., list[Unit]]:
    def units(found=None, key=("llava", "letter"), workers: int = 1) -> list[Unit]:
        with PredictionCache(tmp_path, {"model": "m"}, "a") as cache:
            return [*prepared_units(found or sources(), scorers[key], ITEMS, cache, workers)]

    return units


def test_the_folder_for_temporary_files_may_have_a_long_path(prepared, tmp_path, monkeypatch):
    """In a folder of 80 bytes, the path of a socket of multiprocessing is longer than any may be."""
    (folder := tmp_path / ("t" * 80)).mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    assert len(prepared()) == 8


@pytest.mark.parametrize("family", ["llava", "internvl", "idefics3"])
def test_rows_are_equal_and_cached_units_are_not_encoded(family, scorers, tmp_path, monkeypatch):
    scorer = scorers[family, "letter"]
    expected, computed = predictions(scorer, tmp_path / "a", lambda cache: units_in(sources()))
    assert computed == 16

    def prepared(cache):
        return prepared_units(sources(), scorer, ITEMS, cache, 2)

    # Nothing is encoded in this process.
    monkeypatch.setattr(predict, "encoded_groups", None)
    assert predictions(scorer, tmp_path / "b", prepared) == (expected, 16)
    assert predictions(scorer, tmp_path / "b", prepared) == (expected, 0)
    with PredictionCache(tmp_path / "b", {"model": "m"}, "a") as cache:
        assert all(unit.groups is None for unit in prepared(cache))


def test_items_that_share_an_image_are_prepared_in_parts(scorers, tmp_path, monkeypatch):
    monkeypatch.setattr(prepare, "ITEMS_OF_CALL", 3)
    scorer, data = scorers["llava", "letter"], encode(np.full((40, 56, 3), 90, np.uint8))
    items = {f"s/{n}": Item(Question(f"Is it {n}?", ("yes", "no")), ("sha256://a",)) for n in range(8)}
    levels = {id_: (3,) if id_ == "s/4" else (1, 3) for id_ in items}
    images = {id_: [("sha256://a", data)] for id_ in items}

    rows, names = partial(predictions, scorer), ("gaussian_noise", "pixelate")

    def shared():
        return [ImagesToCorrupt(recipe_of(name), levels, 7, "drop", images) for name in names]

    alone = [replace(each, items={id_: images[id_]}) for id_ in items for each in shared()]
    expected = rows(tmp_path / "alone", lambda _: units_in(alone), items)
    asked = [(id_, name) for id_ in items for name in names for _ in levels[id_]]
    assert [(row["id"], row["corruption"]) for row in expected[0]] == asked
    together = rows(tmp_path / "a", lambda _: units_in(shared()), items)
    in_parts = rows(tmp_path / "b", lambda cache: prepared_units(shared(), scorer, items, cache, 2), items)
    assert expected == together == in_parts
    # A job that goes on after one that asked about two items, in another order, asks about the others.
    some = {id_: items[id_] for id_ in ("s/6", "s/1")}
    part = [replace(each, items={id_: images[id_] for id_ in some}) for each in shared()]
    rows(tmp_path / "c", lambda _: units_in(part), some)
    with PredictionCache(tmp_path / "c", {"model": "m"}, "a") as cache:
        encoded = [unit.item for unit in prepared_units(shared(), scorer, items, cache, 2) if unit.groups]
    assert sorted(encoded) == [id_ for id_ in sorted(items) for _ in names if id_ not in some]
    assert rows(tmp_path / "c", lambda _: units_in(shared()), items) == (expected[0], expected[1] - 8)


@pytest.mark.parametrize("device", ["NVIDIA H100", "gfx90a"])
def test_the_input_of_a_gpu_is_in_pinned_memory(scorers, prepared, monkeypatch, device):
    chat = scorers["llava", "letter"].chat
    monkeypatch.setattr(chat, "identity", {**chat.identity, "device": device})
    pinned = []
    # torch without CUDA refuses it.
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor: pinned.append(tensor.shape) or tensor)
    groups = [group for unit in prepared() for group in unit.groups]
    assert pinned == [value.shape for group in groups for value in group.encoded.inputs.values()] != []


def test_pixels_are_made_again_and_another_question_is_encoded_for_itself(prepared, scorers, tmp_path):
    for unit, own in zip(prepared(key=("llava", "text")), units_in(sources()), strict=True):
        assert (unit.item, unit.corruption, unit.severities) == (own.item, own.corruption, own.severities)
        assert len(unit.variants) == 2
        for [image], [of_own] in zip(unit.variants, own.variants, strict=True):
            assert image.tobytes() == of_own.tobytes()
    scorer = scorers["llava", "letter"]
    other = Question("Is it dark?", ("yes", "no"))
    with PredictionCache(tmp_path, {"model": "m"}, "a") as cache:
        unit = next(iter(prepared_units(sources(), scorer, ITEMS, cache, 1)))
        [(scores, *_)] = Predictor(scorer, cache, COMPUTE).ask(other, [unit])
    assert scores.logits.tobytes() == scorer.score(other, list(unit.variants)).logits.tobytes()


def test_an_error_of_a_worker_is_the_jobs(prepared):
    with pytest.raises(InputError, match=r"image 's/0#0', under gaussian_noise: these 3 bytes are not"):
        prepared(sources(b"bad"), workers=2)


def test_an_item_that_a_worker_cannot_encode_is_named(prepared, scorers, monkeypatch):
    def refuse(*_: object) -> None:
        raise ModelError("m: prompt, images and answer have 57 tokens")

    monkeypatch.setattr(type(scorers["llava", "letter"].chat), "require_context", refuse)
    with pytest.raises(ModelError, match=r"^item s/0 under gaussian_noise: m: prompt, images and answer"):
        prepared(workers=2)


def test_the_limit_on_open_files_is_raised(prepared):
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (128, before[1]))
    try:
        # Kept, so that each tensor keeps its file.
        found = prepared(sources() * 5)
        assert len(found) == 40
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


INF = resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("soft", "hard", "wanted"),
    [
        (1024, 4096, 4096),
        *((1024, hard, 65536) for hard in (10**6, INF)),
        *((soft, INF, None) for soft in (65536, 10**6, INF)),
    ],
)
def test_the_limit_on_open_files_is_never_lowered(monkeypatch, soft, hard, wanted):
    limits: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, each: limits.append(each))
    prepare._allow_open_files()
    assert limits == ([] if wanted is None else [(wanted, hard)])


def test_a_killed_worker_is_one_sentence(prepared, monkeypatch):
    monkeypatch.setattr(units, "variants_of_image", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
    with pytest.raises(InputError, match=r"^a process that prepares images was killed, probably since"):
        prepared(workers=2)


def test_shared_memory_that_is_full_is_one_sentence(prepared, monkeypatch):
    def full(_: torch.Tensor) -> None:  # as torch says it where /dev/shm is too small
        raise RuntimeError("unable to allocate shared memory(shm) for file </t>: No space left on device")

    monkeypatch.setattr(torch.Tensor, "share_memory_", full)
    with pytest.raises(InputError, match=r"/dev/shm: .* full \(unable .* device\); lower `inference"):
        prepared(workers=2)


def test_a_worker_uses_no_threads_of_torch(monkeypatch):
    """Those of the process that it is forked from are not there, and it would wait for them."""
    threads = torch.get_num_threads()
    found: list[int] = []
    preparation = SimpleNamespace(prepared=lambda _: found.append(torch.get_num_threads()) or [])
    monkeypatch.setattr(prepare, "_preparation", preparation)
    try:
        torch.set_num_threads(2)
        prepare._prepare(None)
    finally:
        torch.set_num_threads(threads)
    assert found == [1]


def test_workers_are_forked_from_a_process_in_which_opencv_has_threads(tmp_path, checkpoints):
    """A process of its own, since a hang is what is tested."""
    script = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import cv2, numpy as np
cv2.setNumThreads(4)
cv2.GaussianBlur(np.zeros((2000, 2000, 3), np.uint8), (31, 31), 5)
from benchc.models.load import load_scorer
from benchc.models.cache.unit_cache import PredictionCache
from benchc.models.prepare import prepared_units
from benchc.models.protocol import CheckpointSource
from tests.models.test_prepare import ITEMS, sources
scorer = load_scorer("llava", "letter", CheckpointSource({str(checkpoints["llava"])!r}))
with PredictionCache({str(tmp_path)!r}, {{"model": "m"}}, "a") as cache:
    print(len(list(prepared_units(sources(), scorer, ITEMS, cache, 2))))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "8", done.stderr
