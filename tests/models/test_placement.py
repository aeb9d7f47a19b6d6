"""A model that is divided among devices, or compiled, gives the predictions of the plain one."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchc.models import checkpoint, placement, predict
from benchc.models.chat import Head
from benchc.models.generate import Generator
from benchc.models.generation import Generation
from benchc.models.letter import LetterScorer
from benchc.models.load import load_scorer
from benchc.models.placement import division
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.text import TextScorer
from tests.models.conftest import FAMILIES, QUESTIONS


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
    sentence = "does not fit into the free memory of 2 GPUs; raise `gpus`, or set `dtype: bfloat16`, in"
    with pytest.raises(ModelError, match=sentence):
        checkpoint.load(CheckpointSource(str(checkpoints["llava"]), gpus=2))


def test_a_model_is_divided_among_the_gpus_of_its_job(monkeypatch):
    assert division(CheckpointSource("m", gpus=2)) == {}
    assert division(CheckpointSource("m", device="cuda")) == {}
    monkeypatch.setattr(placement, "taken_gpus", lambda count: (1, 3)[:count])
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda number: (100 + number, 200))
    found = division(CheckpointSource("m", device="cuda", gpus=2))
    assert found == {"device_map": "balanced", "max_memory": {1: 101, 3: 103}}


def test_a_job_with_too_few_gpus_is_one_sentence(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(Exception, match="m: the job needs 2 GPUs, but torch finds 1; request a node with"):
        predict.load_model(CheckpointSource("m", device="cuda", gpus=2), None, "letter")


def test_a_job_uses_the_gpus_that_it_has_taken(monkeypatch):
    used: list[int] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 4)
    monkeypatch.setattr(predict, "taken_gpus", lambda count: (2, 3)[:count])
    monkeypatch.setattr(torch.cuda, "set_device", used.append)
    with pytest.raises(ModelError, match="no-such-model"):
        predict.load_model(CheckpointSource("no-such-model", device="cuda", gpus=2), None, "letter")
    assert used == [2]


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


def test_a_compiler_or_package_that_is_absent_is_one_sentence(checkpoints, monkeypatch):
    monkeypatch.setenv("CXX", "/nowhere/c++")
    sentence = r"`compile: true` needs a C\+\+ compiler, and there is no /nowhere/c\+\+; install g\+\+,"
    with pytest.raises(ModelError, match=sentence):
        checkpoint.load(CheckpointSource(str(checkpoints["llava"]), compile=True))
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
