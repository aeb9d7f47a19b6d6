"""Units that pass through a model together or alone, and how torch is set up for it."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from benchc.errors import InputError
from benchc.models import predict
from benchc.models.encoders.encoders import loading
from benchc.models.encoding import Encoded, VariantGroup, sizes_of
from benchc.models.generation import Generation
from benchc.models.predict import Passes, batch_difference, load_model, predict_units
from benchc.models.protocol import CheckpointSource, OptionScores, UnitInput
from benchc.models.question import Question
from tests.models.classes.common import variants
from tests.models.test_predictor import QUESTION, PixelScorer

EPSILON = float(np.finfo(np.float32).eps)

APPLE = "torch finds one of Apple .MPS., which benchc does not use; set `gpus: 0`"


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has a GPU")
@pytest.mark.usefixtures("torch_settings")
@pytest.mark.parametrize(
    ("cuda", "is_apple", "sentence"),
    [
        ("13.0", False, "needs a GPU, but torch finds none; request"),
        (None, False, r"but torch finds none \(torch \S+ is built for the CPU alone: install .*\); request"),
        (None, True, f"no-such-model: the job needs a GPU of CUDA or ROCm, and {APPLE}"),
    ],
)
def test_a_missing_gpu_is_refused_before_the_model_is_loaded(monkeypatch, cuda, is_apple, sentence):
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.version, "hip", None)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: is_apple)
    with pytest.raises(InputError, match=sentence):
        load_model(CheckpointSource("no-such-model", device="cuda"), "llava", "letter")


@pytest.mark.usefixtures("torch_settings")
def test_a_gpu_of_apple_is_not_used(checkpoints, monkeypatch):
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    scorer = load_model(CheckpointSource(str(checkpoints["llava"])), "llava", "letter")
    assert {each.device.type for each in scorer.chat.model.parameters()} == {"cpu"}


def allow_by_flags() -> None:
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = True


def allow_by_names() -> None:
    torch.backends.fp32_precision = torch.backends.cudnn.fp32_precision = "tf32"
    torch.backends.cudnn.conv.fp32_precision = torch.backends.cuda.matmul.fp32_precision = "tf32"


@pytest.mark.usefixtures("torch_settings")
@pytest.mark.parametrize(
    "allow", [allow_by_flags, allow_by_names, partial(torch.set_float32_matmul_precision, "medium")]
)
@pytest.mark.parametrize("load", ["scorer", "generator", "classifier", "encoder"])
def test_a_job_computes_without_tf32_whatever_the_code_of_a_model_allows(load, allow, monkeypatch):
    source = CheckpointSource("m")
    monkeypatch.setattr(predict, f"load_{load}", lambda *_: allow(), raising=False)
    torch.set_num_threads(3)
    if load == "encoder":
        with loading("e", "mend it"):
            allow()
    elif load == "scorer":
        predict.load_model(source, None, "letter")
    elif load == "generator":
        predict.load_generative(source, None, Generation(1))
    else:
        predict.load_classifying(source, None)
    backends = torch.backends
    products = (backends.cuda.matmul, backends.mkldnn.matmul)
    convolutions = (backends.cudnn.conv, backends.cudnn.rnn, backends.mkldnn.conv)
    assert {each.fp32_precision for each in (*products, *convolutions)} == {"ieee"}
    # As torch says it where the two interfaces agree.
    assert (backends.cuda.matmul.allow_tf32, backends.cudnn.allow_tf32) == (False, False)
    assert torch.get_float32_matmul_precision() == "highest"
    if load != "encoder":
        assert torch.get_num_threads() == 1
        # Deterministic algorithms would fill all new memory first, which takes time and changes no number.
        assert not torch.utils.deterministic.fill_uninitialized_memory


# Passes of several units.


class Bits(PixelScorer):
    """Scores that differ in a bit where more than five variants pass together, if ``uneven``."""

    def __init__(self, capacity: int = 100, *, uneven: bool = False) -> None:
        super().__init__(capacity)
        self.uneven = uneven

    def encode(self, question, variants):
        pixels = torch.from_numpy(np.stack([images[0] for images in variants]))
        inputs = {"input_ids": torch.zeros(len(variants), 50), "pixels": pixels}
        return Encoded("", sizes_of(variants[0]), len(variants), inputs, independent=True)

    def ask(self, question, encoded):
        scores = self.score(question, [[image.numpy()] for image in encoded.inputs["pixels"]])
        if self.uneven and encoded.rows > 5:
            scores.logits.view("int32")[-1, 0] ^= 1
        return scores


@pytest.mark.parametrize("rows", [[0, 1, 1], [0]])
def test_another_number_of_scores_than_of_variants_is_an_error(rows):
    class Other(Bits):
        def ask(self, question, encoded):
            return OptionScores(*(values[rows] for values in super().ask(question, encoded)))

    unit = UnitInput([[np.full((2, 3, 3), n, np.uint8)] for n in (1, 2)])
    with pytest.raises(ValueError, match="zip"):
        predict_units(Other(), QUESTION, [unit], Passes())


def passed(together: str, sizes: list[int], **options) -> tuple[list[int], list[list[float]], Passes]:
    """Return the rows of each call, the first logit of each unit's variants, and the passes."""
    scorer, passes = Bits(**options), Passes(together)
    inputs = [UnitInput([[np.full((2, 3, 3), n, np.uint8)] for n in range(size)]) for size in sizes]
    found = predict_units(scorer, QUESTION, inputs, passes)
    assert not any(split for _, split in found)
    return scorer.calls, [scores.logits[:, 0].tolist() for scores, _ in found], passes


def test_units_pass_alone_unless_they_may_pass_together(monkeypatch):
    sizes = [1, 5, 5, 5, 5, 5]
    expected = [[18.0 * n for n in range(size)] for size in sizes]
    assert passed("never", sizes)[:2] == (sizes, expected)
    # At most 1,024 tokens, that is 20 rows of 50.
    assert passed("always", sizes)[:2] == ([16, 10], expected)
    assert passed("always", [3] * 7)[0] == [18, 3]
    assert passed("always", [*[5] * 8, 1])[0] == [20, 20, 1]
    # A single row passes alone, since its bits would differ; the first passes are repeated unit by unit.
    assert passed("if_equal", sizes)[:2] == ([1, 20, 5, 5, 5, 5, 5], expected)
    # As many as the limit allows.
    monkeypatch.setattr("benchc.models.pass_limit.TOKENS_ON_CPU", 16 * 50)
    assert passed("always", sizes)[:2] == ([16, 10], expected)
    monkeypatch.setattr("benchc.models.pass_limit.TOKENS_ON_CPU", 1024)
    # Nor together where the memory does not suffice.
    calls, found, _ = passed("always", [4, 4], capacity=5)
    assert calls == [8, 4, 4] and found == passed("never", [4, 4])[1]
    # After enough equal passes none is repeated.
    monkeypatch.setattr("benchc.models.predict.CHECKED_PASSES", 1)
    assert passed("if_equal", [5] * 8)[0] == [20, 5, 5, 5, 5, 20]
    monkeypatch.undo()
    assert passed("if_equal", [5] * 4 * 65)[0] == [20, 5, 5, 5, 5] * 64 + [20]


class OnDevice(Bits):
    """Encodes on its device, where only what passes next may be."""

    encodes_on_host = False
    encoded = 0

    def encode(self, question, variants):
        self.encoded += len(variants)
        return super().encode(question, variants)

    def ask(self, question, encoded):
        assert self.encoded == encoded.rows
        self.encoded = 0
        return super().ask(question, encoded)


def test_a_model_that_encodes_on_its_device_is_given_one_unit_after_the_other():
    sized = [np.full((2 + n % 2, 3, 3), n, np.uint8) for n in range(5)]
    units = [UnitInput([[image] for image in sized]), UnitInput([[sized[2]]] * 3)]
    scorer = OnDevice()
    found = predict_units(scorer, QUESTION, units, Passes("always"))
    assert scorer.calls == [3, 2, 3]
    sums = [[float(image.sum()) for image in sized], [float(sized[2].sum())] * 3]
    assert [scores.logits[:, 0].tolist() for scores, _ in found] == sums


def test_what_is_encoded_is_not_encoded_again_unless_it_does_not_fit():
    class Once(Bits):
        def encode(self, question, variants):
            raise AssertionError("again")

    images = [[np.full((2, 3, 3), n, np.uint8)] for n in range(4)]
    groups = [
        VariantGroup(places, Bits().encode(QUESTION, [images[n] for n in places]))
        for places in ([3, 0], [1, 2])
    ]
    [(scores, split)] = predict_units(Once(), QUESTION, [UnitInput(images, groups)], Passes())
    assert scores.logits[:, 0].tolist() == [0, 18, 36, 54] and not split
    # Only the unit that was split is counted as one.
    units = [UnitInput(images[:1]), UnitInput(images, groups[:1]), UnitInput(images[:1])]
    found = predict_units(Bits(capacity=1), QUESTION, units, Passes())
    assert [(scores.logits[:, 0].tolist(), split) for scores, split in found] == [
        ([0], False),
        ([0, 54], True),
        ([0], False),
    ]


@pytest.mark.parametrize("signed_together", [True, False])
def test_after_one_other_bit_units_pass_alone(signed_together):
    sizes = [5, 5, 5, 5, 5, 5]
    expected = passed("never", sizes)[1]
    calls, found, passes = passed("if_equal", sizes, uneven=True)
    assert passes.differ and found == expected
    # The next pass, of the last two units, is alone, too.
    assert calls == [20, 5, 5, 5, 5, 5, 5]
    assert passed("always", sizes, uneven=True)[1] != expected

    # Minus zero is another bit, of whichever of the two.
    class Signed(Bits):
        def ask(self, question, encoded):
            scores = super().ask(question, encoded)
            if (encoded.rows > 5) == signed_together:
                scores.logits[0, 0] = -0.0
            return scores

    passes = Passes("if_equal")
    inputs = [UnitInput([[np.full((2, 3, 3), n, np.uint8)] for n in range(5)]) for _ in range(4)]
    found = predict_units(Signed(), QUESTION, inputs, passes)
    assert passes.differ
    assert np.signbit([scores.logits for scores, _ in found]).any() != signed_together


class Leaking:
    """Gives the mean of a variant's pixels, and what ``leak`` makes of the means of all rows."""

    encodes_on_host = True
    one_by_one = False

    def __init__(self, leak: Any, dtype: str = "float32", scale: float = 1.0) -> None:
        self.leak, self.dtype, self.scale = leak, dtype, scale
        self.rows: list[int] = []

    def identity(self) -> dict[str, str]:
        return {"model": "owner/name", "dtype": self.dtype}

    def encode(self, question: Question, variants: Sequence[Any]) -> Encoded:
        # The left half alone, which is another one in a mirror.
        means = torch.tensor([[float(image[:, :20].mean()) for image in images] for images in variants])
        return Encoded("", sizes_of(variants[0]), len(variants), {"means": means}, independent=True)

    def numbers(self, question: Question, encoded: Encoded) -> Any:
        means = encoded.inputs["means"].mean(dim=1, keepdim=True).numpy() / 255 * self.scale
        self.rows.append(encoded.rows)
        return (means + self.leak(means)).astype(np.float32)


LEAKS = {
    "counts rows": lambda means: 0.01 * np.arange(len(means))[:, None],
    "mean of the batch": lambda means: means.mean() - means,
    "size of the batch": lambda means: 0.01 * len(means),
    "next row": lambda means: np.roll(means, -1, axis=0),
}


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("leak", LEAKS)
def test_what_leaks_between_rows_is_seen(leak: str, count: int) -> None:
    model: Any = Leaking(LEAKS[leak])
    assert batch_difference(model, QUESTION, variants()[:count]) > 1e-3


def test_the_variants_pass_together_twice_and_once_each_alone() -> None:
    model: Any = Leaking(lambda means: 0)
    assert batch_difference(model, QUESTION, variants()) == 0
    assert model.rows == [3, 3, 1, 1, 1]
    # Images of two sizes are compared with their own.
    sizes = [[images[0][: 40 - 8 * (place % 2)]] for place, images in enumerate(variants())]
    assert batch_difference(model, QUESTION, sizes) == 0
    model.leak = LEAKS["counts rows"]
    assert batch_difference(model, QUESTION, sizes) > 0


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_rounding_is_no_dependence(scale: float) -> None:
    def rounded(steps: float) -> float:
        # Of a row alone, as a library rounds it that takes another routine for one row.
        largest = max(1.0, scale * 0.5)
        model: Any = Leaking(lambda means: steps * EPSILON * largest * (len(means) == 1), scale=scale)
        return batch_difference(model, QUESTION, variants())

    # By up to 256 steps; those of large numbers are not known as exactly.
    few, many = (255.5, 256.5) if scale == 1 else (128, 512)
    assert rounded(few) == 0 < rounded(many)


def test_in_bfloat16_the_other_order_tells_what_a_row_alone_cannot() -> None:
    alone: Any = Leaking(lambda means: 0.01 * (len(means) == 1), dtype="bfloat16")
    assert batch_difference(alone, QUESTION, variants()) == 0
    order: Any = Leaking(LEAKS["counts rows"], dtype="bfloat16")
    assert batch_difference(order, QUESTION, variants()) == pytest.approx(0.02, rel=1e-3)


def test_a_model_that_cannot_be_asked_is_left_to_the_run() -> None:
    def fails(_: object) -> None:
        raise IndexError

    model: Any = Leaking(fails)
    assert batch_difference(model, QUESTION, variants()) == 0
    assert batch_difference(model, QUESTION, [[]]) == 0
