"""The suite's parameters are the published ones, and its own kernels follow the paper."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import poisson

from benchc.corruptions.apply import apply
from benchc.corruptions.kernels import additive_noise, value_assignment
from benchc.corruptions.registry import recipe_of
from benchc.corruptions.suite import Origin
from benchc.corruptions.suites import imagenet_c
from benchc.corruptions.suites.vqa_robustness import VQA_ROBUSTNESS
from benchc.pixels import Pixels
from tests.corruptions.likeness import assert_same_pixels
from tests.corruptions.photos import photo

TYPES = {type_.name: type_ for type_ in VQA_ROBUSTNESS.types()}
# Table A.1, column by column.
RESULTS = {
    "noise": ["shot_noise", "gaussian_noise", "impulse_noise", "speckle_noise"],
    "blur": ["defocus_blur", "zoom_blur"],
    "weather": ["snow"],
    "image_attribute": ["brightness", "contrast", "saturate"],
    "physical": ["elastic_transform", "spatter"],
    "digital": ["pixelate", "jpeg_compression"],
}
OWN = [
    *("shot_noise", "pixelate", "pixelate_upscaled", "salt_and_pepper", "random_valued_impulse_noise"),
    *("binary_threshold", "inverse", "grayscale", "grayscale_luma", "grayscale_inverse"),
    "grayscale_inverse_luma",
]
IMAGES = arrays(np.uint8, st.tuples(st.integers(1, 70), st.integers(1, 70), st.just(3)))


def corrupted(name: str, image: Pixels, severity: int, seed: int = 0) -> Pixels:
    return apply(recipe_of(name, VQA_ROBUSTNESS), image, severity, seed)


def noise_image(height: int = 64, width: int = 96) -> Pixels:
    return np.random.default_rng(5).integers(0, 256, (height, width, 3), dtype=np.uint8)


def test_the_default_set_is_the_papers_14_of_which_three_have_their_own_parameters() -> None:
    found = {group: [t.name for t in types if t.in_default] for group, types in VQA_ROBUSTNESS.groups.items()}
    assert found == RESULTS
    assert VQA_ROBUSTNESS.severities == (1, 2, 3, 4, 5)
    imagenet = {type_.name: type_ for type_ in imagenet_c.IMAGENET_C.types()}
    own = {n for n, t in TYPES.items() if t.in_default and t is not imagenet.get(n)}
    assert own == {"shot_noise", "elastic_transform", "pixelate"}
    elastic, affine = TYPES["elastic_transform"], imagenet["elastic_transform_affine"]
    for field in ("kernel", "noise", "parameters", "ordered"):
        assert getattr(elastic, field) == getattr(affine, field)
    assert [elastic.at(s)["alpha"] for s in (1, 2, 3, 4, 5)] == [488, 488, 12.2, 17.08, 29.28]
    assert all(p.origin is Origin.PUBLISHED for n in own for p in TYPES[n].parameters.values())


@pytest.mark.parametrize("severity", [1, 2, 3, 4, 5])
def test_shot_noise_is_the_clipped_sum_with_the_counts_of_the_same_uniforms(severity: int) -> None:
    image = noise_image()
    rate = TYPES["shot_noise"].at(severity)["rate"]
    field = additive_noise.draw_uniform(np.random.default_rng(severity), 64, 96)
    counts = poisson.ppf(field.astype(np.float64), rate)
    expected = np.clip(image / 255 + counts, 0, 1) * 255
    found = additive_noise.additive_shot_noise(image, field, rate=rate)
    assert_same_pixels(found, np.uint8(np.rint(expected)))


def test_shot_noise_saturates_the_share_given_by_its_rate() -> None:
    black = np.zeros((400, 400, 3), dtype=np.uint8)
    for severity, share in zip((1, 2, 3, 4, 5), (0.077, 0.181, 0.393, 0.551, 0.699), strict=True):
        result = corrupted("shot_noise", black, severity)
        assert set(np.unique(result)) == {0, 255}
        assert (result == 255).mean() == pytest.approx(share, abs=0.003)


def test_salt_and_pepper_and_random_values_hit_the_given_share_of_whole_pixels() -> None:
    grey = np.full((400, 400, 3), (10, 100, 200), dtype=np.uint8)
    for severity, share in zip((1, 2, 3, 4, 5), (0.03, 0.06, 0.09, 0.17, 0.27), strict=True):
        result = corrupted("salt_and_pepper", grey, severity)
        for value in (0, 255):
            assert (result == value).all(axis=2).mean() == pytest.approx(share / 2, abs=0.003)
        assert np.isin(result, (0, 255)).all(axis=2).sum() == (result != grey).any(axis=2).sum()
        valued = corrupted("random_valued_impulse_noise", grey, severity)
        hit = (valued != grey).any(axis=2)
        assert hit.mean() == pytest.approx(share, abs=0.003)
        assert (np.ptp(valued[hit].astype(int), axis=1) == 0).all()
        assert valued[hit].mean() == pytest.approx(127.5, abs=3)
        assert (valued[hit].min(), valued[hit].max()) == (0, 255)


def test_a_stronger_impulse_noise_hits_more_of_the_same_pixels() -> None:
    image = noise_image()
    field = value_assignment.draw_impulses(np.random.default_rng(2), 64, 96)
    noise = value_assignment.random_valued_impulse_noise
    weak, strong = (noise(image, field, amount=amount) for amount in (0.1, 0.3))
    changed = (weak != image).any(axis=2)
    assert 0 < changed.sum() < (strong != image).any(axis=2).sum()
    assert (strong[changed] == weak[changed]).all()


@given(IMAGES)
def test_inverse_greys_and_threshold_are_their_formulas(image: Pixels) -> None:
    mean = image.astype(int).sum(axis=2) // 3
    assert (corrupted("inverse", image, 3) == 255 - image).all()
    assert (corrupted("grayscale", image, 1) == mean[..., None]).all()
    assert (corrupted("grayscale_inverse", image, 5) == 255 - mean[..., None]).all()
    assert (corrupted("binary_threshold", image, 2) == (image > 127) * 255).all()
    ramp = np.arange(256, dtype=np.uint8).repeat(3).reshape(1, 256, 3)
    assert (corrupted("binary_threshold", ramp, 2) == (ramp > 127) * 255).all()
    luma = image @ np.array([0.299, 0.587, 0.114])
    assert np.abs(corrupted("grayscale_luma", image, 1) - luma[..., None]).max() <= 0.51
    assert np.abs(corrupted("grayscale_inverse_luma", image, 1) - (255 - luma[..., None])).max() <= 0.51


@pytest.mark.parametrize(("severity", "share"), [(1, 0.6), (2, 0.5), (3, 0.4), (4, 0.3), (5, 0.15)])
def test_pixelate_stays_small_and_its_variant_does_not(severity: int, share: float) -> None:
    image = noise_image(201, 323)
    small = corrupted("pixelate", image, severity)
    assert small.shape == (int(201 * share), int(323 * share), 3)
    assert corrupted("pixelate_upscaled", image, severity).shape == image.shape
    assert corrupted("pixelate", image[:1, :2], severity).shape == (1, max(1, int(2 * share)), 3)


def test_pixelate_at_one_half_is_the_mean_of_blocks() -> None:
    image = noise_image(40, 60)
    blocks = image.reshape(20, 2, 30, 2, 3).mean(axis=(1, 3))
    assert np.abs(corrupted("pixelate", image, 2) - blocks).max() <= 0.5


@pytest.mark.parametrize("name", [name for name in OWN if TYPES[name].ordered and name != "pixelate"])
def test_strength_grows(name: str) -> None:
    image = photo("coffee", 240, 320)
    errors = [np.abs(corrupted(name, image, severity) - image.astype(float)).mean() for severity in range(6)]
    assert errors == sorted(errors) and errors[5] > 1.5 * errors[1] > 0


@pytest.mark.parametrize("severity", [1, 2, 3, 4, 5])
def test_jpeg_by_pillow_matches_the_authors_opencv_code(severity: int) -> None:
    image = photo("coffee", 241, 322)
    quality = [cv2.IMWRITE_JPEG_QUALITY, int(TYPES["jpeg_compression"].at(severity)["quality"])]
    encoded = cv2.imencode(".jpg", image[..., ::-1], quality)[1]
    reference = cv2.imdecode(encoded, cv2.IMREAD_COLOR)[..., ::-1]
    assert_same_pixels(corrupted("jpeg_compression", image, severity), reference)
