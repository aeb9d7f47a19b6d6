"""A model that is divided among devices, or compiled, gives the predictions of the plain one."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from benchc.hugging_face import transformers
from benchc.models import checkpoint, placement, predict
from benchc.models.cache.unit_cache import PredictionCache
from benchc.models.chat import Head
from benchc.models.generate import Generator
from benchc.models.generation import Generation
from benchc.models.letter import LetterScorer
from benchc.models.load import load_generator, load_scorer
from benchc.models.pass_limit import PassLimit
from benchc.models.placement import division, place
from benchc.models.predict import Passes, answer_units, predict_units
from benchc.models.predictor import Predictor
from benchc.models.protocol import CheckpointSource, ModelError, UnitInput
from benchc.models.text import TextScorer
from benchc.models.units import Unit
from tests.models.classes.builders import save
from tests.models.conftest import FAMILIES, QUESTIONS
from tests.models.stand_ins.build import build
from tests.models.stand_ins.device import StandInDevice

FULL = "does not fit into the GPU memory of its job with `gpus: {}` and `dtype: {}` in the model catalogue "
CARD = "stand-in: 0.0 of 24.0 GB free"


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
    model = whole.model
    named = (*model.named_parameters(remove_duplicate=False), *model.named_buffers())
    parts = {name: "cpu" for name, _ in named if not name.startswith(tuple(disk))}
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
    with StandInDevice(24 * 10**9, others=24 * 10**9 - 10**5) as device:
        yield device


@pytest.mark.parametrize("gpus", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("ask", ["letter", "generate"])
def test_a_card_that_fills_while_a_model_is_loaded_is_one_sentence(
    checkpoints, full_card, monkeypatch, dtype, ask, gpus
):
    if gpus == 2:
        # The stand-in is that of one thread.
        monkeypatch.setenv("HF_DEACTIVATE_ASYNC_LOAD", "1")
        monkeypatch.setattr(checkpoint, "division", lambda _: {"device_map": {"": "cuda:0"}})
        monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    source = CheckpointSource(str(checkpoints["llava"]), device="cuda", dtype=dtype, gpus=gpus)
    with pytest.raises(ModelError) as caught:
        if ask == "letter":
            predict.load_model(source, "llava", "letter")
        else:
            predict.load_generative(source, None, Generation(4))
    advice = "set `dtype: bfloat16`, or " if dtype == "float32" else ""
    advice += f"raise `gpus` above {gpus}, or use {'a larger GPU' if gpus == 1 else 'larger GPUs'}"
    free = f"({', '.join([CARD] * gpus)}); "
    assert str(caught.value) == f"{checkpoints['llava']}: {FULL.format(gpus, dtype)}{free}{advice}"


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
    several = CheckpointSource("m", device="cuda", gpus=2)
    assert division(several) == {"device_map": "balanced", "max_memory": {0: 100, 1: 101}}
    monkeypatch.setattr(placement, "find_spec", lambda _: None)
    with pytest.raises(ModelError, match="m: several GPUs need the package accelerate, which is not"):
        division(several)
    # With too few GPUs.
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(Exception, match="m: the job needs 2 GPUs, but torch finds 1; request a node with"):
        predict.load_model(CheckpointSource("m", device="cuda", gpus=2), None, "letter")
    # More than it needs are no fault.
    monkeypatch.setattr(predict, "load_scorer", lambda *_: "loaded")
    for count in (2, 3):
        monkeypatch.setattr(torch.cuda, "device_count", lambda count=count: count)
        assert predict.load_model(CheckpointSource("m", device="cuda", gpus=2), None, "letter") == "loaded"


@pytest.mark.usefixtures("torch_settings")
def test_a_divided_model_stays_where_it_is_and_its_blocks_alone_are_compiled():
    compiled: list[dict[str, bool]] = []

    class Block:
        def compile(self, **how: bool) -> None:
            compiled.append(how)

    class Other(Block):
        pass

    model = SimpleNamespace(hf_device_map={"layers.0": 0, "layers.1": 1}, _no_split_modules=["Block"])
    model.modules = lambda: [Other(), Block(), Block()]
    place(model, CheckpointSource("m", device="cuda", gpus=2))
    assert not compiled
    place(model, CheckpointSource("m", device="cuda", gpus=2, compile=True))
    # For all sizes, and with operations that always give the same bits.
    assert compiled == [{"dynamic": True}] * 2
    assert torch.are_deterministic_algorithms_enabled()
    assert torch.is_deterministic_algorithms_warn_only_enabled()
    for part in ("cpu", "disk"):
        model.hf_device_map["layers.1"] = part
        with pytest.raises(ModelError, match="does not fit"), StandInDevice():
            place(model, CheckpointSource("m", device="cuda"))


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
    texts = (TextScorer(each.chat).score(QUESTIONS[1], variants).logits for each in (compiled, plain))
    np.testing.assert_allclose(*texts, atol=1e-4)


def test_the_library_of_the_image_processor_is_chosen_and_recorded(checkpoints: dict[str, Path], variants):
    large = [[np.tile(image, (8, 9, 1)) for image in images] for images in variants]
    names = ("pil", "torchvision")
    sources = (CheckpointSource(str(checkpoints["llava"]), image_backend=name) for name in names)
    both = [load_scorer("llava", "letter", source) for source in sources]
    assert len({each.identity()["image_processor"] for each in both}) == 2
    assert tuple(each.identity()["image_backend"] for each in both) == names
    first, second = (each.encode(QUESTIONS[0], large).inputs["pixel_values"] for each in both)
    assert 0 < (first - second).abs().max() < 0.1


WAYS = ("letter", "text", "generate")
ASKED = ("llava", "kimi_vl", "moondream")
# Less than what a variant takes.
SLACK = 2_000


@pytest.fixture(scope="module")
def folders(checkpoints: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    parent = tmp_path_factory.mktemp("own_code")
    own = {family: build(family, parent / family) for family in ASKED[1:]}
    return {"llava": checkpoints["llava"], **own}


class Asked:
    """A model on the device. ``rows``: those of each pass; ``used``: its most bytes."""

    def __init__(self, device: StandInDevice, folder: Path, family: str, way: str) -> None:
        own = {"family": family, "trust_remote_code": True} if family != "llava" else {}
        dtype = "float16" if family == "moondream" else "float32"
        source = CheckpointSource(str(folder), device="cuda", dtype=dtype, **own)
        self.device, self.way, self.rows = device, way, []
        self.model: Any = None
        if way == "generate":
            self.model = load_generator(source.family, source, Generation(4))
        else:
            self.model = load_scorer(source.family, way, source)
        ask = self.model.ask

        def recorded(question: Any, encoded: Any) -> Any:
            self.rows.append(encoded.rows)
            return ask(question, encoded)

        self.model.ask = recorded

    def __call__(self, *units: Any, passes: Passes | None = None) -> list[Any]:
        self.rows.clear()
        self.device.peak = self.device.live
        compute = answer_units if self.way == "generate" else predict_units
        found = compute(self.model, QUESTIONS[0], [UnitInput(unit) for unit in units], passes or Passes())
        self.used = self.device.peak
        return found


@contextmanager
def asked(folders: dict[str, Path], family: str, way: str) -> Iterator[Asked]:
    with StandInDevice() as device:
        yield Asked(device, folders[family], family, way)


def said(found: Any) -> Any:
    return found if isinstance(found, list) else (found.logits.round(3).tolist(), found.label_mass.round(3))


@pytest.fixture
def images() -> list[list[np.ndarray]]:
    rng = np.random.default_rng(3)
    return [[rng.integers(0, 256, (40, 56, 3), dtype=np.uint8)] for _ in range(6)]


@pytest.mark.parametrize(
    ("family", "way"),
    # Own code answers over a server alone.
    [(family, way) for family in ASKED for way in WAYS if family == "llava" or way != "generate"],
)
def test_a_unit_is_split_once_where_its_halves_fit(folders, images, family, way):
    with asked(folders, family, way) as model:
        [(expected, _)] = model(images)
        model(images[:3])
        model.device.capacity = model.used + SLACK
        [(found, split)] = model(images)
    assert split
    # Of own code, the images of all may not fit, so that nothing is asked about them.
    assert model.rows in ([6, 3, 3], [3, 3])
    np.testing.assert_equal(said(found), said(expected))


def wrapped(link: str) -> Exception:
    error = ValueError("layer 3")  # of a model's own code
    setattr(error, link, torch.OutOfMemoryError())
    return error


ERRORS = (
    torch.AcceleratorError("CUDA error: out of memory"),
    RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"),
    RuntimeError("Triton Error [CUDA]: out of memory"),
    wrapped("__cause__"),
    wrapped("__context__"),  # raised in an `except`, without `from`
)


def test_a_unit_is_split_whatever_says_that_the_memory_is_full(folders, images):
    with asked(folders, "llava", "letter") as model:
        [(expected, _)] = model(images)
        ask = model.model.ask
        for error in ERRORS:

            def full(question: Any, encoded: Any, error: Exception = error) -> Any:
                if encoded.rows > 3:
                    raise error
                return ask(question, encoded)

            model.model.ask = full
            [(found, split)] = model(images)
            assert split and model.rows == [3, 3], error
            np.testing.assert_equal(said(found), said(expected))


@pytest.mark.parametrize("way", WAYS)
def test_units_that_do_not_fit_together_pass_alone_whole(folders, images, way):
    with asked(folders, "llava", way) as model:
        model(images[:3])
        model.device.capacity = model.used + SLACK
        found = model(images[:3], images[3:], passes=Passes("always"))
    assert model.rows == [6, 3, 3]
    assert [split for _, split in found] == [False, False]


def test_a_single_variant_that_fits_is_asked_after_one_that_does_not(folders, images, tmp_path):
    """The error names the image that is too large, and the others are stored."""
    with asked(folders, "llava", "text") as model:
        model(images[:3])
        model.device.capacity = model.used + SLACK
        large = [images[0] * 9]  # nine images of one item
        with PredictionCache(tmp_path, {"model": "m"}, "a") as cache:
            predictor = Predictor(model.model, cache, lambda *given: predict_units(*given, Passes()))
            units = [Unit("s/1", "fog", [1, 2, 3], images[:3], 1), Unit("s/1", "snow", [1], large, 9)]
            model.rows.clear()
            with pytest.raises(ModelError, match=r"item s/1 under snow: .*: a single variant of its ima"):
                predictor.ask(QUESTIONS[0], units)
            assert model.rows == [1, 3, 1]
            predictor.ask(QUESTIONS[0], units[:1])
            assert model.rows == [1, 3, 1]  # stored


@pytest.mark.parametrize(("room", "rows"), [(12, 8), (30, 16)])
def test_units_fill_the_memory_that_a_measured_pass_leaves(folders, images, room, rows):
    """Half of the memory for ``room`` passes of 2 rows is for ``room`` rows, of 57 tokens each.

    These are 684 and 1,710 tokens, and 512 and 1,024 as powers of two.
    """
    lines: list[str] = []
    units = [images[2 * (place % 3) :][:2] for place in range(20)]
    with asked(folders, "llava", "letter") as model:
        expected = model(*units)
        model(units[0])
        model.device.capacity = model.device.live + room * (model.used - model.device.live)
        limit = PassLimit((0,), lines.append)
        found = model(*units, passes=Passes("always", limit))
        assert model.rows[:2] == [2, 2] and set(model.rows[2:-1]) == {rows} and sum(model.rows) == 40
        assert lines[0].startswith(f"units pass together up to {limit.most:,} tokens, by") and len(lines) == 1
        assert (limit.most, limit.lowered) == (1 << (rows * 57).bit_length(), 0)
        # With less memory, a pass that does not fit is repeated unit by unit, and is the last so large.
        model.device.capacity = model.device.live + (model.used - model.device.live) * 3 // 4
        again = model(*units, passes=Passes("always", limit))
        assert model.rows[: rows // 2 + 2] == [rows, *[2] * (rows // 2), rows // 4 * 2]
        assert limit.lowered == 1 and len(lines) == 1
    for other in (found, again):
        assert not any(split for _, split in other)
        for scores, plain in zip(other, expected, strict=True):
            np.testing.assert_allclose(scores[0].logits, plain[0].logits, atol=1e-4)


def test_the_limit_is_that_of_the_fullest_gpu_with_what_the_allocator_keeps(monkeypatch):
    """A pass of 10 tokens takes 200 bytes of one GPU and 100 of the other.

    The first has 1,000 bytes that are free and 600 that torch keeps: half of them is for 40 tokens. The
    second has 3,000: half is for 150.
    """
    for name, of in {
        "memory_allocated": {0: 300, 1: 300},
        "max_memory_allocated": {0: 500, 1: 400},
        "memory_reserved": {0: 900, 1: 300},
        "mem_get_info": {0: (1000, 9000), 1: (3000, 9000)},
        "reset_peak_memory_stats": {0: None, 1: None},
    }.items():
        monkeypatch.setattr(torch.cuda, name, of.__getitem__)
    lines: list[str] = []
    limit = PassLimit((0, 1), lines.append)
    for _ in range(2):
        assert limit.most == 0
        with limit.measured(10):
            pass
    assert limit.most == 32 and lines[0].startswith("units pass together up to 32 tokens, by 2e-05 MB a tok")


def test_the_stand_in_device_refuses_mixed_devices_and_what_does_not_fit():
    with StandInDevice(1_000):
        layer = torch.nn.Linear(4, 5).to("cuda")
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            layer(torch.zeros(3, 4))
        with pytest.raises(torch.OutOfMemoryError, match="4000 bytes are needed, but 100 of 1000 are used"):
            torch.zeros(1_000, device="cuda")
