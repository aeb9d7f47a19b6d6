"""What passes leave in a GPU's memory, and how much of it they use: a stand-in counts the bytes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchc.models.cache.unit_cache import PredictionCache
from benchc.models.generation import Generation
from benchc.models.load import load_generator, load_scorer
from benchc.models.pass_limit import PassLimit
from benchc.models.predict import Passes, answer_units, predict_units
from benchc.models.predictor import Predictor
from benchc.models.protocol import CheckpointSource, ModelError, UnitInput
from benchc.models.units import Unit
from tests.models.conftest import QUESTIONS
from tests.models.stand_ins.build import build
from tests.models.stand_ins.device import StandInDevice

WAYS = ("letter", "text", "generate")
FAMILIES = ("llava", "kimi_vl", "moondream")
# Less than what a variant takes.
SLACK = 2_000


@pytest.fixture(scope="module")
def folders(checkpoints: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    parent = tmp_path_factory.mktemp("own_code")
    own = {family: build(family, parent / family) for family in FAMILIES[1:]}
    return {"llava": checkpoints["llava"], **own}


class Asked:
    """A model on the device. ``rows``: those of each pass; ``used``: its most bytes."""

    def __init__(self, device: StandInDevice, folder: Path, family: str, way: str) -> None:
        own = {"family": family, "trust_remote_code": True} if family != "llava" else {}
        dtype = "float16" if family == "moondream" else "float32"
        source = CheckpointSource(str(folder), device="cuda", dtype=dtype, **own)
        self.device, self.way = device, way
        self.model: Any = (
            load_generator(source.family, source, Generation(4))
            if way == "generate"
            else load_scorer(source.family, way, source)
        )
        self.rows: list[int] = []
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
    """Six variants of one image."""
    rng = np.random.default_rng(3)
    return [[rng.integers(0, 256, (40, 56, 3), dtype=np.uint8)] for _ in range(6)]


@pytest.mark.parametrize(
    ("family", "way"),
    # Own code answers over a server alone.
    [(family, way) for family in FAMILIES for way in WAYS if family == "llava" or way != "generate"],
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


FULL = (
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
        for error in FULL:

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
            with pytest.raises(
                ModelError, match=r"item s/1 under snow: .*: a single variant of its images does"
            ):
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
        assert [line.split(", by")[0] for line in lines] == [
            f"units pass together up to {limit.most:,} tokens"
        ]
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


def test_the_stand_in_device_counts_bytes_and_refuses_mixed_devices():
    with StandInDevice(1_000) as device:
        layer = torch.nn.Linear(4, 5).to("cuda")
        assert device.live == 4 * (4 * 5 + 5)
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
            layer(torch.zeros(3, 4))
        values = torch.ones(3, 4)
        with torch.inference_mode():
            output = layer(values.to("cuda"))
            np.testing.assert_allclose(
                output.cpu(), values @ layer.weight.cpu().T + layer.bias.cpu(), rtol=1e-6
            )
        assert (device.live, device.peak) == (100 + 60, 100 + 60 + 48)
        view = output[0]
        del output
        assert device.live == 160
        with pytest.raises(torch.OutOfMemoryError, match="4000 bytes are needed, but 160 of 1000 are used"):
            torch.zeros(1_000, device="cuda")
        del view
        assert device.live == 100
