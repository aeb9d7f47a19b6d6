"""Image processors with faster methods give the bits of transformers' own."""

import importlib
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from benchc.hugging_face import transformers  # noqa: F401  before its modules
from benchc.models import fast_images
from benchc.models.fast_images import PilBackend, accelerated

CLASSES = {
    "qwen2_vl": ("Qwen2VLImageProcessorPil", {"min_pixels": 3136, "max_pixels": 400 * 400}),
    "got_ocr2": ("GotOcr2ImageProcessorPil", {"crop_to_patches": True, "max_patches": 6}),
    "idefics3": ("Idefics3ImageProcessorPil", {}),
    "smolvlm": ("SmolVLMImageProcessorPil", {}),
    "clip": ("CLIPImageProcessorPil", {}),
    "siglip": ("SiglipImageProcessorPil", {}),
    "llava_next": ("LlavaNextImageProcessorPil", {}),
    "gemma3": ("Gemma3ImageProcessorPil", {}),
}


def processor_of(name: str) -> Any:
    class_name, settings = CLASSES[name]
    module = importlib.import_module(f"transformers.models.{name}.image_processing_pil_{name}")
    return getattr(module, class_name)(**settings)


def noise(width: int, height: int, seed: int = 0) -> Image.Image:
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8))


@pytest.mark.parametrize("name", CLASSES)
def test_values_are_those_of_transformers(name, monkeypatch):
    plain = processor_of(name)
    fast = accelerated(plain)
    assert fast is not plain and type(fast).__name__ == type(plain).__name__
    assert fast.to_dict() == plain.to_dict()
    resized = []
    resize = fast_images.resize
    monkeypatch.setattr(
        fast_images, "resize", lambda *arguments: resized.append(arguments[1:3]) or resize(*arguments)
    )
    for size in ((300, 200), (64, 333), (500, 500), (1200, 90)):
        expected = plain([noise(*size)], return_tensors="pt")
        found = fast([noise(*size)], return_tensors="pt")
        assert expected.keys() == found.keys()
        for key, value in expected.items():
            assert value.dtype == found[key].dtype and torch.equal(value, found[key]), (key, size)
    assert resized  # by the faster method


@pytest.mark.parametrize(
    "settings", [{"do_normalize": False}, {"do_rescale": False}, {"do_resize": False}, {"resample": 0}]
)
def test_switched_off_steps_stay_off(settings):
    module = importlib.import_module("transformers.models.clip.image_processing_pil_clip")
    plain = module.CLIPImageProcessorPil(**settings)
    expected = plain([noise(300, 240)], return_tensors="pt")["pixel_values"]
    assert torch.equal(accelerated(plain)([noise(300, 240)], return_tensors="pt")["pixel_values"], expected)


def test_a_step_that_a_call_switches_off_stays_off():
    plain = processor_of("clip")
    fast = accelerated(plain)
    for options in ({"do_normalize": False}, {"do_rescale": False}, {"do_normalize": True}):
        expected = plain([noise(300, 240)], return_tensors="pt", **options)["pixel_values"]
        assert torch.equal(fast([noise(300, 240)], return_tensors="pt", **options)["pixel_values"], expected)


def test_a_version_of_pillow_that_resizes_otherwise_is_left_as_it_is(monkeypatch):
    plain = processor_of("clip")
    monkeypatch.setattr(fast_images, "agrees_with_pillow", lambda: False)
    assert accelerated(plain) is plain


@pytest.mark.parametrize("differs", ["tall", "wide", "larger", "smaller"])
def test_a_class_that_differs_for_some_images_alone_is_left_as_it_is(differs, monkeypatch):
    plain = processor_of("siglip")
    side = plain.size["height"]
    chosen = {
        "tall": lambda height, width: height > width,
        "wide": lambda height, width: height < width,
        "larger": lambda height, width: min(height, width) > side,
        "smaller": lambda height, width: max(height, width) < side,
    }[differs]
    resize = fast_images.resize

    def other(image: Any, *arguments: Any) -> Any:
        return resize(image, *arguments) ^ np.uint8(chosen(*image.shape[:2]))

    monkeypatch.setattr(fast_images, "resize", other)
    assert accelerated(plain) is plain


def test_values_of_another_type_are_not_equal(monkeypatch):
    plain = processor_of("clip")
    normalize = fast_images._FastPil.normalize

    def wider(*values: Any, **more: Any) -> Any:
        return normalize(*values, **more).astype(np.float64)

    monkeypatch.setattr(fast_images._FastPil, "normalize", wider)
    assert accelerated(plain) is plain


def test_a_class_that_does_more_between_the_steps_is_left_as_it_is():
    module = importlib.import_module("transformers.models.clip.image_processing_pil_clip")

    class Gamma(module.CLIPImageProcessorPil):
        def normalize(self, image, mean, std, **more):
            # Of 8-bit values that are not rescaled yet, this would be something else.
            return super().normalize(image**2, mean, std, **more)

    plain = Gamma()
    assert accelerated(plain) is plain


def test_other_backends_are_left_as_they_are():
    module = importlib.import_module("transformers.models.clip.image_processing_clip")
    other = module.CLIPImageProcessor()
    assert not isinstance(other, PilBackend) and accelerated(other) is other
