import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.corruptions.corrupt import corrupt
from benchc.corruptions.registry import SEVERITIES, corruptions_of
from benchc.images import Pixels, pixel_hash

NAMES = corruptions_of("imagenet-c")
VARIANTS = [(name, severity) for name in NAMES for severity in SEVERITIES]
# numpy 2.4.6, scipy 1.17.1, scikit-image 0.26.0, opencv 4.11.0, pillow 13.0.0, imaug 0.4.3,
# imagecorruptions-imaug 1.1.5: none of them promises the same pixels in another version.
GOLDEN: dict[str, list[str]] = json.loads((Path(__file__).parent / "golden.json").read_text())
DETERMINISTIC = {
    "brightness",
    "contrast",
    "saturate",
    "defocus_blur",
    "gaussian_blur",
    "zoom_blur",
    "jpeg_compression",
    "pixelate",
}


def picture(height: int = 40, width: int = 56) -> Pixels:
    """A slope in red, another in green, and blue squares with sharp corners."""
    y, x = np.mgrid[:height, :width]
    channels = [x * 255 // max(1, width - 1), y * 255 // max(1, height - 1), (x // 8 + y // 8) % 2 * 200]
    return np.stack(channels, axis=-1).astype(np.uint8)


def hash_of(variant: tuple[str, int]) -> str:
    name, severity = variant
    return pixel_hash([corrupt(picture(), name, severity, seed=2**40 + 7)])


def test_pixels_are_those_recorded_in_any_order_of_calls() -> None:
    order = list(VARIANTS)
    random.Random(1).shuffle(order)
    found = {variant: hash_of(variant) for variant in order}
    assert {name: [found[name, severity] for severity in SEVERITIES] for name in NAMES} == GOLDEN


def test_another_process_draws_the_same_pixels_from_another_state_of_numpys_random() -> None:
    code = (
        "import json, numpy as np; np.random.seed(99); "
        "from tests.corruptions.test_corrupt import VARIANTS, hash_of; "
        "print(json.dumps([hash_of(variant) for variant in VARIANTS]))"
    )
    root = Path(__file__).parents[2]
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root
    )
    golden = [hash_ for hashes in GOLDEN.values() for hash_ in hashes]
    assert json.loads(printed.stdout.splitlines()[-1]) == golden


@pytest.mark.parametrize("name", NAMES)
def test_global_random_state_is_neither_read_nor_moved(name: str) -> None:
    image = picture()
    np.random.seed(1)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    first = corrupt(image, name, 3, seed=5)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
    np.random.seed(2)  # noqa: NPY002
    np.testing.assert_array_equal(corrupt(image, name, 3, seed=5), first)
    np.testing.assert_array_equal(image, picture())


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_matters_to_the_random_ones_and_only_to_them(name: str) -> None:
    seeds = (0, 1, 2**32 + 1, 2**63 - 1)
    different = {pixel_hash([corrupt(picture(), name, 3, seed=seed)]) for seed in seeds}
    assert len(different) == (1 if name in DETERMINISTIC else len(seeds))


@pytest.mark.parametrize("name", [*NAMES, "clean"])
def test_severity_0_gives_the_pixels_back_in_a_new_array(name: str) -> None:
    image = picture(3, 5)
    result = corrupt(image, name, 0, seed=1)
    np.testing.assert_array_equal(result, image)
    assert not np.shares_memory(result, image)


@given(
    name=st.sampled_from(NAMES),
    severity=st.sampled_from(SEVERITIES),
    height=st.integers(1, 70),
    width=st.integers(1, 70),
    grey=st.booleans(),
    seed=st.integers(0, 2**63 - 1),
)
@settings(max_examples=150, deadline=None)
def test_any_shape_keeps_its_shape(
    name: str, severity: int, height: int, width: int, grey: bool, seed: int
) -> None:
    image = np.random.default_rng(seed).integers(0, 256, (height, width, 1 if grey else 3), np.uint8)
    image = np.broadcast_to(image, (height, width, 3))  # not writeable, not contiguous
    result = corrupt(image, name, severity, seed=seed)
    assert result.shape == image.shape
    assert result.dtype == np.uint8
    assert result.flags.c_contiguous


def test_a_small_image_is_the_middle_of_its_mirrored_surroundings() -> None:
    # A slope that is mirrored at its edges stays a slope near its middle, and a blur leaves that alone.
    image = np.repeat(np.arange(0, 250, 10, np.uint8)[None, :, None], 20, axis=0).repeat(3, axis=2)
    blurred = corrupt(image, "gaussian_blur", 1, seed=0)
    assert blurred.shape == (20, 25, 3)
    middle = np.abs(blurred[:, 8:17].astype(int) - image[:, 8:17])
    assert middle.max() <= 1


@pytest.mark.parametrize("name", ["gaussian_noise", "shot_noise", "gaussian_blur", "contrast"])
def test_strength_grows_with_severity(name: str) -> None:
    image = picture(64, 64)
    errors = [
        np.abs(corrupt(image, name, severity, seed=3).astype(int) - image).mean() for severity in SEVERITIES
    ]
    assert errors == sorted(errors)
    assert errors[-1] > 1.5 * errors[0]


def test_spatter_without_a_drop_leaves_the_image_as_it_is() -> None:
    image = np.full((32, 32, 3), 128, np.uint8)
    means = [corrupt(image, "spatter", 1, seed=seed).mean() for seed in range(400)]
    # The package's own 0/0 would give a mean of 0.
    assert min(means) == 128
    assert np.median(means) > 129


@pytest.mark.parametrize(
    ("image", "name", "severity", "seed", "error", "match"),
    [
        (picture().astype(np.float32), "fog", 1, 0, TypeError, "float32"),
        (picture()[..., 0], "fog", 1, 0, ValueError, r"\[40, 56\]"),
        (picture()[:0], "fog", 1, 0, ValueError, r"\[0, 56, 3\]"),
        (np.zeros((9, 9, 4), np.uint8), "fog", 1, 0, ValueError, r"\[9, 9, 4\]"),
        (picture(), "frogg", 1, 0, ValueError, "did you mean 'fog'"),
        (picture(), "fog", 6, 0, ValueError, "severities 0, 1, 2, 3, 4, 5, not 6"),
        (picture(), "fog", True, 0, ValueError, "not True"),
        (picture(), "clean", 1, 0, ValueError, "severities 0, not 1"),
        (picture(), "fog", 1, -1, ValueError, "at least 0, not -1"),
    ],
)
def test_bad_input_is_refused(
    image: Pixels, name: str, severity: int, seed: int, error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        corrupt(image, name, severity, seed=seed)


def test_an_unknown_suite_is_refused() -> None:
    with pytest.raises(ValueError, match="no suite 'mine'"):
        corrupt(picture(), "fog", 1, seed=0, suite="mine")
