"""Encoders on a GPU, for which torch's device ``meta`` stands in: it refuses tensors of the CPU, too."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from benchc.errors import InputError
from benchc.models import cards
from benchc.models.encoders import device
from benchc.models.encoders.encoders import ImageEncoder, load_image_encoder, load_text_encoder
from benchc.models.encoders.image_text import Library, load_image_text_encoder
from benchc.models.gpus import HeldGpus
from benchc.models.tf32 import forbid_tf32
from tests.models.encoders import test_image_text
from tests.models.encoders.test_image_text import TEXTS, images

folders = test_image_text.folders
LIBRARIES: tuple[Library, ...] = ("open_clip", "sentence_transformers", "blip2")


@pytest.fixture
def on_meta(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are random when they come back to the CPU."""
    back = torch.Tensor.cpu
    monkeypatch.setattr(
        torch.Tensor, "cpu", lambda self: torch.rand(self.shape) if self.is_meta else back(self)
    )


@pytest.mark.usefixtures("on_meta")
@pytest.mark.parametrize("library", ["open_clip", "blip2"])
def test_images_and_texts_are_where_the_model_is(library: Library, folders: dict[str, str]) -> None:
    encoder = load_image_text_encoder(library, folders[library], device="meta", batch=4)  # type: ignore[arg-type]
    assert len(list(encoder.encode_images(images(5)))) == 5
    assert len(list(encoder.encode_texts(TEXTS[:5]))) == 5


@pytest.mark.usefixtures("on_meta")
def test_the_image_encoder_of_a_selection_is_where_it_is_asked_to_be(folders: dict[str, str]) -> None:
    image = load_image_encoder(folders["open_clip"], device="meta", batch=4)  # type: ignore[arg-type]
    assert len(list(image.encode(images(5)))) == 5


class Reached(Exception):  # noqa: N818, no error
    """The input has reached the model. Further on, transformers asks for values, which ``meta`` has not."""


def reached(model: Any, features: tuple[dict[str, Any]]) -> None:
    assert {each.device.type for each in features[0].values() if torch.is_tensor(each)} == {"meta"}
    assert {each.device.type for each in model.parameters()} == {"meta"}
    raise Reached


def test_what_sentence_transformers_embeds_is_where_the_model_is(folders: dict[str, str]) -> None:
    text = load_text_encoder("all-MiniLM-L6-v2", device="meta")  # type: ignore[arg-type]
    name = "sentence_transformers"
    both: Any = load_image_text_encoder(name, folders[name], device="meta")  # type: ignore[arg-type]
    for model in (text.model, both.model):
        model.register_forward_pre_hook(reached)
    for encode in (
        lambda: text.encode(TEXTS),
        lambda: next(both.encode_images(images(1))),
        lambda: next(both.encode_texts(TEXTS)),
    ):
        with pytest.raises(Reached):
            encode()


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_batch_is_as_asked_and_always_full(library: Library, folders: dict[str, str]) -> None:
    encoder = load_image_text_encoder(library, folders[library], batch=3)
    sizes: list[int] = []
    seen: Any = {
        "open_clip": lambda: encoder.images.model.visual,  # type: ignore[attr-defined]
        "sentence_transformers": lambda: encoder.model[0].auto_model.vision_model,  # type: ignore[attr-defined]
        "blip2": lambda: encoder.model.vision_model,  # type: ignore[attr-defined]
    }[library]()
    seen.register_forward_pre_hook(
        lambda _, values, named: sizes.append(len([*values, *named.values()][0])), with_kwargs=True
    )
    list(encoder.encode_images(images(7)))
    assert sizes == [3, 3, 3]


class Full:
    """A model for which the memory does not suffice: to place it, or to ask it."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def to(self, device: str) -> "Full":
        raise self.error

    encode_image = encode = property(lambda self: self.to)


@pytest.mark.parametrize(
    "error", [torch.OutOfMemoryError(), torch.AcceleratorError("CUDA error: out of memory")]
)
def test_a_model_or_batch_that_does_not_fit_is_one_line(error: Exception) -> None:
    with pytest.raises(
        InputError, match=r"^E does not fit into the free memory of the GPU; use a .*`gpus: 0`"
    ):
        device.placed(Full(error), "cuda", "E")
    for batch, match in (
        (
            32,
            "^E: a batch of 32 images does not fit into the memory of the GPU; lower `batch` of the encoder",
        ),
        (1, "^E: a batch of 1 image does not fit .*; use a larger one, or set `gpus: 0` of the encoder"),
    ):
        encoder = ImageEncoder("E", Full(error), lambda _: torch.zeros(3, 2, 2), batch=batch)
        with pytest.raises(InputError, match=match) as caught:
            list(encoder.encode(images(2)))
        assert "\n" not in str(caught.value)


@pytest.fixture
def torch_settings() -> Iterator[None]:
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)
    forbid_tf32()
    torch.use_deterministic_algorithms(False)


@pytest.mark.usefixtures("torch_settings")
def test_a_gpu_is_taken_and_computes_in_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[int] = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "Some GPU")
    monkeypatch.setattr(cards, "take_gpus", lambda count, _: used.append(count) or HeldGpus())
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = True
    device.prepare({"cpu"}, 1)
    assert torch.backends.cudnn.allow_tf32 and used == []
    device.prepare({"cpu", "cuda"}, 2)
    assert not torch.backends.cudnn.allow_tf32 and not torch.backends.cuda.matmul.allow_tf32
    assert torch.are_deterministic_algorithms_enabled() and torch.get_num_threads() == 2
    assert used == [1]
    assert [device.device_name(each) for each in ("cpu", "cuda")] == ["cpu", "Some GPU"]  # type: ignore[arg-type]


@pytest.mark.usefixtures("torch_settings")
def test_a_machine_without_a_gpu_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(cards, "take_gpus", lambda *_: HeldGpus())
    with pytest.raises(
        InputError,
        match=r"^the encoder needs a GPU, but torch finds none( \(torch .*\))?; request .*`gpus: 0`",
    ):
        device.prepare({"cuda"}, 1)
