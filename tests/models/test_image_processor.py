"""Settings of image processors in the catalogue: LLaVA's padding, and those that a class does not read."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from benchc.hugging_face import transformers
from benchc.models.image_processor import apply_settings, check_settings, load_image_processor
from benchc.models.load import load_scorer
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
    transformers.CLIPImageProcessor(
        size={"shortest_edge": SIDE},
        crop_size={"height": SIDE, "width": SIDE},
        image_mean=MEAN,
        image_std=STD,
    ).save_pretrained(folder)
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
    pixels, cropped = (
        each([picture], return_tensors="pt")["pixel_values"][0]
        for each in (loaded(clip, **PADDED), loaded(clip))
    )
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


@pytest.mark.parametrize("processor", [{"do_center_crop": False}, {"resample": 0}, {"size": 80}])
def test_a_setting_that_changes_images_is_not(clip: str, processor: dict[str, object]) -> None:
    loaded(clip, **processor)


def test_a_setting_as_in_the_checkpoint_is_not(clip: str) -> None:
    loaded(clip, resample=3, do_center_crop=True)


def test_a_setting_of_the_class_that_few_images_show_is_not(tmp_path: Path) -> None:
    """The number of crops changes images that are much wider than what is compared."""
    transformers.Gemma3ImageProcessor(
        size={"height": SIDE, "width": SIDE},
        do_pan_and_scan=True,
        pan_and_scan_min_crop_size=8,
        pan_and_scan_max_num_crops=4,
        pan_and_scan_min_ratio_to_activate=1.2,
    ).save_pretrained(tmp_path)
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
    message = [
        {"role": "user", "content": [{"type": "image"}, {"type": "text", "text": QUESTIONS[2].prompt}]}
    ]
    rendered = plain.apply_chat_template(message, add_generation_prompt=True)
    expected, usual = (
        plain(
            text=rendered,
            images=[Image.fromarray(wide)],
            return_tensors="pt",
            add_special_tokens=False,
            **settings,
        )
        for settings in (given, {})
    )
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
    processor._merge_kwargs = lambda **options: merge(crop_to_patches=True, **options)
    apply_settings(processor, CheckpointSource("owner/name", processor={"crop_to_patches": True}))
    message = (
        "owner/name: InternVLProcessor calls its image processor with crop_to_patches = True, whatever is "
        "set; remove it from `processor` of the model in the catalogue"
    )
    with pytest.raises(ModelError) as caught:
        apply_settings(processor, CheckpointSource("owner/name", processor={"crop_to_patches": False}))
    assert str(caught.value) == message


def test_an_unknown_class_or_setting_is_refused(clip: str) -> None:
    with pytest.raises(
        ModelError, match="transformers has no image processor LavaImageProcessorPil; correct"
    ):
        loaded(clip, image_processor_type="LavaImageProcessor")
    for ending, backend in (("Pil", "pil"), ("Fast", "torchvision")):
        message = (
            "image_processor_type in `processor` names a backend, which `image_backend` decides; set "
            f"`image_processor_type: LlavaImageProcessor`, and `image_backend: {backend}`"
        )
        with pytest.raises(ModelError, match=message):
            loaded(clip, image_processor_type=f"LlavaImageProcessor{ending}")
    with pytest.raises(ModelError, match="LlavaImageProcessorPil has no setting 'max_patches'; correct"):
        loaded(clip, image_processor_type="LlavaImageProcessor", max_patches=3)
