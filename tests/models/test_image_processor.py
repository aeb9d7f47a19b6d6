"""Settings of image processors in the catalogue: LLaVA's padding, and those that a class does not read."""

import importlib
import json
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image

from benchc.hugging_face import transformers
from benchc.models import fast_images, pil_resize
from benchc.models.fast_images import PilBackend, accelerated
from benchc.models.image_processor import apply_settings, check_settings, load_image_processor
from benchc.models.load import load_scorer
from benchc.models.pil_resize import FILTERS, agrees_with_pillow, resize
from benchc.models.protocol import CheckpointSource, ModelError
from tests.models.classes.builders import save
from tests.models.classes.common import QUESTIONS
from tests.models.classes.plain import load

MEAN = [0.48145466, 0.4578275, 0.40821073]
STD = [0.26862954, 0.26130258, 0.27577711]
SIDE = 56
PADDED = {"image_processor_type": "LlavaImageProcessor", "do_pad": True}


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Save an image processor like that of llava-hf/llava-1.5-7b-hf."""
    folder = tmp_path_factory.mktemp("clip")
    sizes = {"size": {"shortest_edge": SIDE}, "crop_size": {"height": SIDE, "width": SIDE}}
    transformers.CLIPImageProcessor(**sizes, image_mean=MEAN, image_std=STD).save_pretrained(folder)
    return str(folder)


def loaded(folder: str, **processor: object) -> Any:
    source = CheckpointSource(folder, processor=processor)
    found = load_image_processor(source, {})
    check_settings(found, source, {})
    return found


def llavas_pixels(picture: Image.Image) -> torch.Tensor:
    """Return the pixels of haotian-liu/LLaVA, llava/mm_utils.py, where image_aspect_ratio is pad.

    CLIP's processor resizes the shorter side and crops the centre, which of a square image is all of it.
    """
    longest = max(picture.size)
    square = Image.new("RGB", (longest, longest), tuple(int(mean * 255) for mean in MEAN))
    square.paste(picture, ((longest - picture.width) // 2, (longest - picture.height) // 2))
    small = np.asarray(square.resize((SIDE, SIDE), Image.Resampling.BICUBIC))
    return ((torch.from_numpy(small / 255) - torch.tensor(MEAN)) / torch.tensor(STD)).permute(2, 0, 1).float()


@pytest.mark.parametrize("size", [(640, 480), (97, 130), (60, 60)])
def test_a_padded_image_has_the_pixels_of_llava(clip: str, size: tuple[int, int]) -> None:
    noise = np.random.default_rng(1).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    picture = Image.fromarray(noise)
    both = (loaded(clip, **PADDED), loaded(clip))
    pixels, cropped = (each([picture], return_tensors="pt")["pixel_values"][0] for each in both)
    assert torch.allclose(pixels, llavas_pixels(picture), atol=1e-6)
    # A square one is not padded.
    assert torch.equal(pixels, cropped) == (size[0] == size[1])


def test_a_model_is_loaded_with_the_class_that_pads(checkpoints: dict[str, Path]) -> None:
    scorer = load_scorer(None, "letter", CheckpointSource(str(checkpoints["llava"]), processor=PADDED))
    assert scorer.identity()["image_processor"] == "LlavaImageProcessorPil"
    plain = load_scorer(None, "letter", CheckpointSource(str(checkpoints["llava"])))
    assert scorer.identity()["processor"] != plain.identity()["processor"]


@pytest.mark.parametrize("name", ["do_pad", "pad_size"])
def test_a_setting_that_the_class_does_not_read_is_refused(clip: str, name: str) -> None:
    message = (
        rf"its image processor CLIPImageProcessorPil does not read '{name}', and images are the "
        r"same without it; remove it from `processor` .*, or name a class there that reads it "
        r"\(image_processor_type\)$"
    )
    with pytest.raises(ModelError, match=message):
        loaded(clip, **{name: 64 if name == "pad_size" else True})


# What changes images, and what is as in the checkpoint.
@pytest.mark.parametrize(
    "processor",
    [{"do_center_crop": False}, {"resample": 0}, {"size": 80}, {"resample": 3, "do_center_crop": True}],
)
def test_other_settings_are_not(clip: str, processor: dict[str, object]) -> None:
    loaded(clip, **processor)


def test_a_setting_of_the_class_that_few_images_show_is_not(tmp_path: Path) -> None:
    """The number of crops changes images that are much wider than what is compared."""
    crops = {"min_crop_size": 8, "max_num_crops": 4, "min_ratio_to_activate": 1.2}
    settings = {f"pan_and_scan_{name}": value for name, value in crops.items()} | {"do_pan_and_scan": True}
    size = {"height": SIDE, "width": SIDE}
    transformers.Gemma3ImageProcessor(size=size, **settings).save_pretrained(tmp_path)
    wide = Image.new("RGB", (400, 40))
    plain, other = loaded(str(tmp_path)), loaded(str(tmp_path), pan_and_scan_max_num_crops=6)
    assert [each([wide], return_tensors="pt")["num_crops"].item() for each in (plain, other)] == [4, 6]


# Settings that the processor's class gives a default with each call.
OVERRIDDEN = {
    "gemma3": {"do_pan_and_scan": True, "pan_and_scan_min_crop_size": 64},
    "internvl": {"crop_to_patches": False},
    "aya_vision": {"crop_to_patches": False},
    "aria": {"max_image_size": 490},
}


@pytest.mark.parametrize("model_type", OVERRIDDEN)
def test_a_setting_that_the_processor_overrides_takes_effect(model_type: str, tmp_path: Path) -> None:
    save(model_type, tmp_path)
    if model_type == "aria":
        _let_aria_read_small_images(tmp_path / "processor_config.json")
    given = OVERRIDDEN[model_type]
    wide = np.random.default_rng(2).integers(0, 256, (100, 240, 3), dtype=np.uint8)
    plain = load(tmp_path, model_type).processor
    content = [{"type": "image"}, {"type": "text", "text": QUESTIONS[2].prompt}]
    message = [{"role": "user", "content": content}]
    rendered = plain.apply_chat_template(message, add_generation_prompt=True)
    call = partial(plain, text=rendered, images=[Image.fromarray(wide)], return_tensors="pt")
    expected, usual = (call(add_special_tokens=False, **settings) for settings in (given, {}))
    assert not torch.equal(expected["pixel_values"], usual["pixel_values"])
    plainly, asked = (
        load_scorer(None, "letter", CheckpointSource(str(tmp_path), processor=processor))
        for processor in ({}, given)
    )
    found = asked.encode(QUESTIONS[2], [[wide]]).inputs
    assert found.keys() <= expected.keys()
    for name, value in found.items():
        assert torch.equal(value, expected[name]), name
    assert asked.identity()["processor"] != plainly.identity()["processor"]
    if model_type == "aria":  # whose small model reads large images alone
        return
    # Further variants, whose images the image processor alone reads, and the model take it, too.
    variants = [[wide], [wide[::-1].copy()], [wide[:, ::-1].copy()]]
    together = asked.score(QUESTIONS[2], variants).logits
    for row, images in enumerate(variants):
        np.testing.assert_allclose(together[row], asked.score(QUESTIONS[2], [images]).logits[0], atol=1e-4)
    assert np.abs(together - plainly.score(QUESTIONS[2], variants).logits).max() > 1e-3


def _let_aria_read_small_images(path: Path) -> None:
    config = json.loads(path.read_text())
    config["size_conversion"] = {"490": 4, "980": 8}
    path.write_text(json.dumps(config))


def test_a_setting_that_the_processor_fixes_is_refused(tmp_path: Path) -> None:
    save("internvl", tmp_path)
    processor = load(tmp_path, "internvl").processor
    merge = processor._merge_kwargs
    for fixed in (True, False):
        processor._merge_kwargs = partial(merge, crop_to_patches=fixed)
        apply_settings(processor, CheckpointSource("owner/name", processor={"crop_to_patches": fixed}))
        message = (
            f"^owner/name: InternVLProcessor calls its image processor with crop_to_patches = {fixed}, "
            "whatever is set; remove it from `processor` of the model in the catalogue$"
        )
        with pytest.raises(ModelError, match=message):
            apply_settings(
                processor, CheckpointSource("owner/name", processor={"crop_to_patches": not fixed})
            )


def test_an_unknown_class_or_setting_is_refused(clip: str) -> None:
    with pytest.raises(ModelError, match="transformers has no image processor LavaImageProcessorPil; corr"):
        loaded(clip, image_processor_type="LavaImageProcessor")
    for ending, backend in (("Pil", "pil"), ("Fast", "torchvision")):
        message = (
            "image_processor_type in `processor` names a backend, which `image_backend` decides; set "
            f"`image_processor_type: LlavaImageProcessor`, and `image_backend: {backend}`"
        )
        with pytest.raises(ModelError, match=message):
            loaded(clip, image_processor_type=f"LlavaImageProcessor{ending}")
    # Of torchvision, the class has the name alone. That of another part of a model is not one of images.
    of_torchvision = partial(CheckpointSource, clip, image_backend="torchvision")
    found = load_image_processor(
        of_torchvision(processor={"image_processor_type": "LlavaImageProcessor"}), {}
    )
    assert type(found).__name__ == "LlavaImageProcessor"
    with pytest.raises(ModelError, match="transformers has no image processor CLIPConfig; correct"):
        load_image_processor(of_torchvision(processor={"image_processor_type": "CLIPConfig"}), {})
    with pytest.raises(ModelError, match="LlavaImageProcessorPil has no setting 'max_patches'; correct"):
        loaded(clip, image_processor_type="LlavaImageProcessor", max_patches=3)


def test_bounds_of_pixels_reach_the_processor(tmp_path: Path) -> None:
    save("qwen2_5_vl", tmp_path)
    image = np.random.default_rng(1).integers(0, 256, (140, 140, 3), dtype=np.uint8)

    def image_tokens(**bounds: int) -> int:
        scorer = load_scorer("qwen2_5_vl", "letter", CheckpointSource(str(tmp_path), processor=bounds))
        ids = scorer.chat.encode(scorer.prompt(QUESTIONS[1], 1), [[image]])["input_ids"]
        return int((ids == scorer.chat.model.config.image_token_id).sum())

    # Of 14 x 14 pixels, merged 2 x 2.
    assert image_tokens(min_pixels=56 * 56, max_pixels=112 * 112) == 4 * 4
    assert image_tokens(min_pixels=140 * 140, max_pixels=280 * 280) == 5 * 5
    with pytest.raises(ModelError, match="no setting 'min_pixel'"):
        image_tokens(min_pixel=1)


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
    recorded = lambda *given: resized.append(given[1:3]) or resize(*given)  # noqa: E731
    monkeypatch.setattr(fast_images, "resize", recorded)
    for size in ((300, 200), (64, 333), (500, 500), (1200, 90)):
        expected = plain([noise(*size)], return_tensors="pt")
        found = fast([noise(*size)], return_tensors="pt")
        assert expected.keys() == found.keys()
        for key, value in expected.items():
            assert value.dtype == found[key].dtype and torch.equal(value, found[key]), (key, size)
    assert resized  # by the faster method


OFF = ({"do_normalize": False}, {"do_rescale": False}, {"do_resize": False}, {"resample": 0})


def same(processor: Any, **options: Any) -> bool:
    """Return whether an image has the same values by the faster methods."""
    both = (processor, accelerated(processor))
    both = (each([noise(300, 240)], return_tensors="pt", **options) for each in both)
    return torch.equal(*(each["pixel_values"] for each in both))


@pytest.mark.parametrize("settings", OFF)
def test_switched_off_steps_stay_off(settings):
    module = importlib.import_module("transformers.models.clip.image_processing_pil_clip")
    assert same(module.CLIPImageProcessorPil(**settings))


@pytest.mark.parametrize("options", [*OFF[:2], {"do_normalize": True}])
def test_a_step_that_a_call_switches_off_stays_off(options):
    assert same(processor_of("clip"), **options)


def test_other_numbers_than_of_8_bits_have_the_values_of_transformers():
    plain, image = processor_of("siglip"), np.random.default_rng(0).random((3, 90, 70), np.float32)
    both = [each([image], return_tensors="pt")["pixel_values"] for each in (plain, accelerated(plain))]
    assert torch.equal(*both)


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


def test_a_class_that_does_not_take_what_is_not_yet_rescaled_is_left_as_it_is(monkeypatch):
    plain = processor_of("clip")
    monkeypatch.setattr(fast_images._FastPil, "normalize", Mock(side_effect=TypeError("no uint8")))
    assert accelerated(plain) is plain


def test_classes_that_do_more_or_of_other_backends_are_left_as_they_are():
    module = importlib.import_module("transformers.models.clip.image_processing_pil_clip")

    class Gamma(module.CLIPImageProcessorPil):
        def normalize(self, image, mean, std, **more):
            # Of 8-bit values that are not rescaled yet, this would be something else.
            return super().normalize(image**2, mean, std, **more)

    other = importlib.import_module("transformers.models.clip.image_processing_clip").CLIPImageProcessor()
    assert not isinstance(other, PilBackend)
    for plain in (Gamma(), other):
        assert accelerated(plain) is plain


SIDES = st.integers(1, 90)


@given(SIDES, SIDES, SIDES, SIDES, st.sampled_from(list(FILTERS)), st.booleans(), st.integers(0, 99))
# The rows first, then the columns first, at the limit: 20 rows fewer against 10 columns fewer.
@example(41, 40, 20, 30, Image.Resampling.BICUBIC, False, 1)
@example(40, 40, 20, 30, Image.Resampling.BICUBIC, False, 1)
@example(1, 1, 90, 90, Image.Resampling.LANCZOS, True, 1)
def test_every_value_is_pillows(height, width, new_height, new_width, resample, extreme, seed):
    generator = np.random.default_rng(seed)
    # Values of 0 and 255 alone make most filters exceed the range.
    values = generator.integers(0, 2 if extreme else 256, (height, width, 3)) * (255 if extreme else 1)
    pixels = values.astype(np.uint8)
    expected = np.asarray(Image.fromarray(pixels).resize((new_width, new_height), resample))
    np.testing.assert_array_equal(resize(pixels, new_width, new_height, resample), expected)


def test_pixels_that_are_not_contiguous_are_resized_as_others():
    pixels = np.random.default_rng(1).integers(0, 256, (40, 60, 3), np.uint8)[::-1, ::2]
    expected = np.asarray(Image.fromarray(pixels.copy()).resize((17, 50), Image.Resampling.LANCZOS))
    np.testing.assert_array_equal(resize(pixels, 17, 50, Image.Resampling.LANCZOS), expected)


def test_another_pillow_is_noticed(monkeypatch: pytest.MonkeyPatch):
    agrees_with_pillow.cache_clear()
    assert agrees_with_pillow()
    # As of versions that always resize the columns first.
    monkeypatch.setattr(
        pil_resize,
        "resize",
        lambda image, width, height, resample: pil_resize._rows_resized(
            pil_resize._columns_resized(image, width, resample), height, resample
        ),
    )
    agrees_with_pillow.cache_clear()
    assert not agrees_with_pillow()
    agrees_with_pillow.cache_clear()
