"""A model that is divided among devices, or compiled, gives the predictions of the plain one."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from benchc.hugging_face import transformers
from benchc.models import checkpoint, placement, predict
from benchc.models.chat import Head
from benchc.models.generate import Generator
from benchc.models.generation import Generation
from benchc.models.letter import LetterScorer
from benchc.models.load import load_scorer
from benchc.models.placement import division
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.text import TextScorer
from tests.models.classes.builders import save
from tests.models.conftest import FAMILIES, QUESTIONS
from tests.models.stand_ins.device import StandInDevice

FULL = "does not fit into the GPU memory of its job with `gpus: {}` and `dtype: {}` in the model catalogue "
FREE = "(stand-in: 0.0 of 24.0 GB free); "


def results(chat: Any, variants: Any) -> list[Any]:
    """Return what a model says in every way of asking it."""
    found = []
    for question in QUESTIONS:
        for scorer in (LetterScorer(chat), TextScorer(chat)):
            scores = scorer.score(question, variants)
            found += [scores.logits.tobytes(), scores.label_mass.tobytes()]
    return [*found, *Generator(chat, Generation(4)).replies(QUESTIONS[0], variants)]


def layers(model: Any) -> list[str]:
    return [name for name, module in model.named_modules() if name.endswith(("layers.1", "layer.0"))]


@pytest.mark.filterwarnings("ignore:The following device_map keys")  # of parameters, not modules
@pytest.mark.parametrize("family", FAMILIES)
def test_a_divided_model_has_the_bits_of_the_whole_one(checkpoints, variants, family, monkeypatch, tmp_path):
    """Some layers are read from disk in each forward pass, as those of another GPU get their input."""
    source = CheckpointSource(str(checkpoints[family]))
    whole = checkpoint.load(source)
    disk = layers(whole.model)
    assert disk
    names = [
        name
        for name, _ in (*whole.model.named_parameters(remove_duplicate=False), *whole.model.named_buffers())
    ]
    parts = {name: "cpu" for name in names if not name.startswith(tuple(disk))}
    parts |= dict.fromkeys(disk, "disk")
    divided = {"device_map": parts, "offload_folder": str(tmp_path)}
    monkeypatch.setattr(checkpoint, "division", lambda _: divided)
    monkeypatch.setattr(checkpoint, "place", lambda *_: None)
    chat = checkpoint.load(source)
    assert set(chat.model.hf_device_map.values()) == {"cpu", "disk"}
    assert results(chat, variants) == results(whole, variants)
    assert chat.facts() == whole.facts()


def test_a_model_that_its_gpus_cannot_hold_is_one_sentence(checkpoints, monkeypatch):
    """Without the check, transformers reads what does not fit from disk in each pass, and says nothing."""
    few = {"device_map": "balanced", "max_memory": {"cpu": 100_000}}
    monkeypatch.setattr(checkpoint, "division", lambda _: few)
    card = SimpleNamespace(name="H", total_memory=24e9)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _: card)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda number: (1e9 + number * 1e9, 24e9))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _: 5e8)
    with pytest.raises(ModelError) as caught:
        checkpoint.load(CheckpointSource(str(checkpoints["llava"]), gpus=2))
    assert str(caught.value) == (
        f"{checkpoints['llava']}: {FULL.format(2, 'float32')}"
        "(H: 1.5 of 24.0 GB free, H: 2.5 of 24.0 GB free); "
        "set `dtype: bfloat16`, or raise `gpus` above 2, or use larger GPUs"
    )


@pytest.fixture
def full_card():
    """A card of 24 GB of which other processes have all but 100 kB."""
    with StandInDevice(24 * 10**9, others=24 * 10**9 - 10**5) as device:
        yield device


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("ask", ["letter", "generate"])
def test_a_card_that_fills_while_a_model_is_loaded_is_one_sentence(checkpoints, full_card, dtype, ask):
    source = CheckpointSource(str(checkpoints["llava"]), device="cuda", dtype=dtype)
    with pytest.raises(ModelError) as caught:
        if ask == "letter":
            predict.load_model(source, "llava", "letter")
        else:
            predict.load_generative(source, None, Generation(4))
    advice = "set `dtype: bfloat16`, or " if dtype == "float32" else ""
    advice += "raise `gpus` above 1, or use a larger GPU"
    assert str(caught.value) == f"{checkpoints['llava']}: {FULL.format(1, dtype)}{FREE}{advice}"


def test_a_card_that_fills_while_a_divided_model_is_loaded_is_one_sentence(
    checkpoints, full_card, monkeypatch
):
    # The stand-in is that of one thread.
    monkeypatch.setenv("HF_DEACTIVATE_ASYNC_LOAD", "1")
    monkeypatch.setattr(checkpoint, "division", lambda _: {"device_map": {"": "cuda:0"}})
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    with pytest.raises(ModelError) as caught:
        predict.load_model(CheckpointSource(str(checkpoints["llava"]), device="cuda", gpus=2), None, "letter")
    advice = "set `dtype: bfloat16`, or raise `gpus` above 2, or use larger GPUs"
    free = "(stand-in: 0.0 of 24.0 GB free, stand-in: 0.0 of 24.0 GB free); "
    assert str(caught.value) == f"{checkpoints['llava']}: {FULL.format(2, 'float32')}{free}{advice}"


def test_a_card_that_fills_while_weights_are_converted_is_one_sentence(tmp_path, monkeypatch):
    """Experts become one tensor on the GPU, which takes a layer's weights once more."""

    def full(*_: object, **__: object) -> None:
        raise torch.OutOfMemoryError

    save("qwen3_omni_moe", tmp_path)
    monkeypatch.setenv("HF_DEACTIVATE_ASYNC_LOAD", "1")
    monkeypatch.setattr(checkpoint, "division", lambda _: {"device_map": {"": "cuda:0"}})
    monkeypatch.setattr(transformers.core_model_loading.MergeModulelist, "convert", full)
    logged = transformers.core_model_loading.log_conversion_errors
    with StandInDevice(24 * 10**9), pytest.raises(ModelError, match=r"does not fit into the GPU memory of"):
        checkpoint.load(CheckpointSource(str(tmp_path), device="cuda"))
    assert transformers.core_model_loading.log_conversion_errors is logged


def test_a_card_without_memory_for_torch_is_one_sentence(checkpoints, monkeypatch):
    def full(*_: object) -> None:
        raise torch.AcceleratorError("CUDA error: out of memory")

    with StandInDevice(24 * 10**9), monkeypatch.context() as patch:
        patch.setattr(torch.nn.Module, "to", full)
        patch.setattr(torch.cuda, "mem_get_info", full)
        with pytest.raises(ModelError, match=r"does not fit .* \(stand-in: nothing of 24.0 GB free\); "):
            source = CheckpointSource(str(checkpoints["llava"]), device="cuda")
            predict.load_model(source, None, "letter")


def test_a_model_is_divided_among_the_gpus_of_its_job(monkeypatch):
    assert division(CheckpointSource("m", gpus=2)) == {}
    assert division(CheckpointSource("m", device="cuda")) == {}
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda number: (100 + number, 200))
    found = division(CheckpointSource("m", device="cuda", gpus=2))
    assert found == {"device_map": "balanced", "max_memory": {0: 100, 1: 101}}


def test_a_job_with_too_few_gpus_is_one_sentence(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(Exception, match="m: the job needs 2 GPUs, but torch finds 1; request a node with"):
        predict.load_model(CheckpointSource("m", device="cuda", gpus=2), None, "letter")


def test_the_head_computes_where_its_weight_is():
    """The device ``meta`` has shapes alone, and refuses tensors of others as a second GPU does."""
    module = torch.nn.Linear(8, 12, device="meta")
    head = Head(module)
    for tokens in (torch.tensor([3, 1]), torch.tensor([[3, 1], [2, 0], [5, 5]])):
        head.tokens = tokens
        states = torch.zeros(3, 4, 8, device="meta")
        output = head.after_forward(states, module(states))
        assert (output.device.type, output.shape) == ("meta", (3, tokens.ndim, 12))
    assert head.logits(torch.zeros(3, 8), torch.tensor([3, 1])).device.type == "meta"


def test_a_compiled_model_says_so_and_gives_the_same_predictions(checkpoints, scorers, variants):
    family = "internvl"
    plain = scorers[family, "letter"]
    compiled = load_scorer(family, "letter", CheckpointSource(str(checkpoints[family]), compile=True))
    assert (plain.identity()["compile"], compiled.identity()["compile"]) == ("False", "True")
    torch._dynamo.reset()
    programs = []
    for question in QUESTIONS:
        for rows in (variants, variants[:2]):
            expected = plain.score(question, rows)
            found = compiled.score(question, rows)
            np.testing.assert_allclose(found.logits, expected.logits, atol=1e-4)
            np.testing.assert_allclose(found.label_mass, expected.label_mass, atol=1e-5)
            programs.append(torch._dynamo.utils.counters["stats"]["unique_graphs"])
    # None for other sizes.
    assert programs[0] > 0 and len(set(programs)) == 1
    texts = TextScorer(compiled.chat).score(QUESTIONS[1], variants)
    np.testing.assert_allclose(
        texts.logits, TextScorer(plain.chat).score(QUESTIONS[1], variants).logits, atol=1e-4
    )


def test_a_package_that_is_absent_is_one_sentence(monkeypatch):
    monkeypatch.setattr(placement, "find_spec", lambda _: None)
    with pytest.raises(ModelError, match="m: several GPUs need the package accelerate, which is not"):
        division(CheckpointSource("m", device="cuda", gpus=2))


def test_the_library_of_the_image_processor_is_chosen_and_recorded(checkpoints: dict[str, Path], variants):
    folder = str(checkpoints["llava"])
    large = [[np.tile(image, (8, 9, 1)) for image in images] for images in variants]
    pil, torchvision = (
        load_scorer("llava", "letter", CheckpointSource(folder, image_backend=backend))
        for backend in ("pil", "torchvision")
    )
    assert pil.identity()["image_processor"] != torchvision.identity()["image_processor"]
    assert [each.identity()["image_backend"] for each in (pil, torchvision)] == ["pil", "torchvision"]
    first, second = (each.encode(QUESTIONS[0], large).inputs["pixel_values"] for each in (pil, torchvision))
    assert 0 < (first - second).abs().max() < 0.1
