"""The suite equals the paper's table, its strengths grow, and each kernel does what its name promises."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image
from scipy.ndimage import gaussian_filter as scipy_gaussian
from skimage.color import hsv2rgb, rgb2hsv, rgb2lab, rgb2ycbcr
from skimage.metrics import structural_similarity

from benchc.corruptions import lab
from benchc.corruptions.apply import apply
from benchc.corruptions.kernels import (
    blocks,
    captured,
    codecs,
    denoising,
    kadid_blur,
    kadid_colour,
    kadid_contrast,
    kadid_luminance,
    kadid_noise,
    quantization,
    resampling,
)
from benchc.corruptions.registry import recipe_of
from benchc.corruptions.suite import Origin, Value
from benchc.corruptions.suites.r_bench import R_BENCH, R_BENCH_INDEX
from benchc.images import ImageError
from benchc.pixels import Pixels
from tests.corruptions.photos import PHOTOS, photo

TYPES = {type_.name: type_ for type_ in R_BENCH.types() if type_.kernel is not None}
# Table 2 of the paper, by the numbers of its dimensions.
GROUPS = {
    "blur": {1, 5, 28},
    "luminance": {25, 26, 27},
    "chrominance": {14, 23, 24, 29, 30, 32, 33},
    "spatial": {6, 13, 18, 19, 20, 21, 22},
    "noise": {9, 10, 11, 12, 31},
    "compression": {15, 16, 17},
    "wild": {2, 3, 4, 7, 8},
}
STEPS = [range(1, 5), range(5, 9), range(9, 14), range(14, 19), range(19, 23), range(23, 28), range(28, 34)]
# The levels 1 to 5 of KADID-10k's distortions, as its generator has them.
KADID_LEVELS = {
    "1 (Gaussian blur)": (0.1, 0.5, 1, 2, 5),
    "2 (lens blur)": (1, 2, 4, 6, 8),
    "3 (motion blur)": (1, 2, 4, 6, 10),
    "4 (colour diffusion)": (1, 3, 6, 8, 12),
    "5 (colour shift)": (1, 3, 6, 8, 12),
    "6 (colour quantization)": (64, 48, 32, 16, 8),
    "7 (saturation in HSV)": (0.4, 0.2, 0.1, 0, -0.4),
    "8 (saturation in Lab)": (1, 2, 3, 6, 9),
    "9 (JPEG2000)": (16, 32, 45, 120, 400),
    "10 (JPEG)": (43, 36, 24, 7, 4),
    "11 (white noise)": (0.001, 0.002, 0.003, 0.005, 0.01),
    "12 (white noise in colour components)": (0.0001, 0.0005, 0.001, 0.002, 0.003),
    "13 (impulse noise)": (0.001, 0.005, 0.01, 0.02, 0.03),
    "14 (multiplicative noise)": (0.001, 0.005, 0.01, 0.02, 0.05),
    "15 (denoise)": (0.01, 0.03, 0.05, 0.1, 0.15),
    "16 (brighten)": (0.1, 0.2, 0.4, 0.7, 1.1),
    "17 (darken)": (0.05, 0.1, 0.2, 0.4, 0.8),
    "18 (mean shift)": (0.15, 0.08, 0, -0.08, -0.15),
    "19 (jitter)": (0.05, 0.1, 0.2, 0.5, 1),
    "22 (quantization)": (20, 16, 13, 10, 7),
    "24 (sharpen)": (1, 2, 3, 6, 12),
    "25 (contrast)": (0.3, 0.15, 0, -0.4, -0.6),
}
IMAGES = arrays(np.uint8, st.tuples(st.integers(32, 50), st.integers(32, 50), st.just(3)))
COUNTS = st.integers(1, 40)


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.Generator(np.random.SFC64(seed))


def flat(level: int = 128, side: int = 128) -> Pixels:
    return np.full((side, side, 3), level, np.uint8)


def point(side: int = 65) -> Pixels:
    image = np.zeros((side, side, 3), np.uint8)
    image[side // 2, side // 2] = 255
    return image


def random_image(height: int = 64, width: int = 96) -> Pixels:
    return np.random.default_rng(5).integers(0, 256, (height, width, 3), dtype=np.uint8)


@cache
def small_photos() -> list[Pixels]:
    return [photo(name, 96, 128) for name in PHOTOS]


def test_strengths_are_the_levels_of_kadid_10k_that_their_source_names() -> None:
    named = {}
    for type_ in TYPES.values():
        for parameter in type_.parameters.values():
            if found := re.match(
                r"levels (\d), (\d) and (\d) of KADID-10k's distortion (.*?\))", parameter.source
            ):
                *levels, distortion = found.groups()
                named[distortion] = type_.name
                passes, rounding = (5**0.5, 0.02) if type_.name == "clock_jitter" else (1, 0)
                expected = [KADID_LEVELS[distortion][int(level) - 1] * passes for level in levels]
                assert parameter.values == pytest.approx(expected, rel=rounding), type_.name
    assert KADID_LEVELS.keys() - named.keys() == {"18 (mean shift)", "25 (contrast)"}


def test_strengths_that_are_decided_here_follow_their_reason() -> None:
    def values(name: str, parameter: str) -> tuple[Value, ...]:
        return TYPES[name].parameters[parameter].values

    stops = np.log2(values("bright_illumination_stand_in", "gain"))
    assert stops == pytest.approx([0.5, 1, 1.5], abs=0.02)
    stops = -np.log2(values("dark_illumination_stand_in", "gain"))
    assert stops == pytest.approx([1.5, 3, 5], abs=0.06)
    assert values("resolution_limit", "scale") == (1 / 2, 1 / 4, 1 / 8)
    assert values("lens_shaking_stand_in", "extent") == tuple(
        2 * each for each in values("motion_blur", "length")
    )
    for name in ("exchange", "repeat", "loss", "interpolation"):
        assert values(f"block_{name}", "count") == (2, 8, 24)
    assert values("mean_shift", "shift") == (*KADID_LEVELS["18 (mean shift)"][1::-1], 0.25)
    levels = sorted(abs(level) for level in KADID_LEVELS["25 (contrast)"] if level)
    assert values("contrast_change", "amount") == (levels[0], levels[1], levels[-1])
    amounts = values("color_diffusion", "amount")
    assert values("color_diffusion", "sigma") == tuple(1.5 * amount + 2 for amount in amounts)
    assert values("sharpness", "sigma") == (3, 3, 3)
    # With other values the suite needs another version.
    assert R_BENCH.version == 2
    assert values("webp", "quality") == (40, 15, 3)
    assert values("bright_illumination_stand_in", "glare") == (0.2, 0.6, 1.5)
    assert values("blocking_obstacle_stand_in", "cover") == (0.05, 0.15, 0.35)
    assert values("lens_obstacle_stand_in", "cover") == (0.08, 0.2, 0.4)


def test_groups_and_steps_are_those_of_the_papers_table_and_photographed_corruptions_have_stand_ins() -> None:
    found = {group: {R_BENCH_INDEX[type_.name] for type_ in types} for group, types in R_BENCH.groups.items()}
    assert found == GROUPS
    steps = [sorted({R_BENCH_INDEX[name] for name in names}) for names in R_BENCH.steps.values()]
    assert steps == list(map(list, STEPS))
    photographed = {type_.name for type_ in R_BENCH.types() if type_.kernel is None}
    assert {R_BENCH_INDEX[name] for name in photographed} == GROUPS["wild"]
    others = [type_ for type_ in TYPES.values() if type_.stand_in]
    assert {type_.alternative_to for type_ in others} == photographed and len(others) == len(photographed)
    for type_ in others:
        assert type_.name == f"{type_.alternative_to}_stand_in"
        assert R_BENCH_INDEX[type_.name] == R_BENCH_INDEX[str(type_.alternative_to)]
    assert [type_ for type_ in R_BENCH.types() if not type_.in_default] == [*R_BENCH.groups["wild"]]


@pytest.mark.parametrize("name", TYPES)
def test_strength_grows_and_is_decided_here_with_a_reason(name: str) -> None:
    fixed = recipe_of(name, R_BENCH, scale_with_image=False)

    def distance(image: Pixels, severity: int, seed: int) -> float:
        return 1 - float(structural_similarity(image, apply(fixed, image, severity, seed), channel_axis=2))

    photos = enumerate(small_photos())
    distances = [[distance(image, severity, seed) for severity in (1, 2, 3)] for seed, image in photos]
    low, middle, high = np.median(distances, axis=0)
    assert 0.01 < low < middle < high
    assert high >= 1.5 * low
    for parameter in TYPES[name].parameters.values():
        assert parameter.origin is Origin.DECIDED and len(parameter.source) > 20


PIXELS = {name: recipe_of(name, R_BENCH).pixels for name in TYPES if recipe_of(name, R_BENCH).pixels}


def test_sizes_in_pixels_are_those_that_grow_with_the_image() -> None:
    assert PIXELS == {
        **{"motion_blur": ("length",), "lens_blur": ("radius",), "gaussian_filter": ("sigma",)},
        **{"clock_jitter": ("std",), "color_diffusion": ("sigma",), "color_shift": ("amount",)},
        **{"sharpness": ("sigma",), "lens_shaking_stand_in": ("extent",)},
    }


@pytest.mark.parametrize("name", PIXELS)
def test_a_size_is_that_of_a_short_side_of_384_pixels(name: str) -> None:
    whole = recipe_of(name, R_BENCH)
    fixed = recipe_of(name, R_BENCH, scale_with_image=False)
    image = photo(PHOTOS[0], 96, 128)
    quarter = {key: fixed.parameters[2][key] / 4 for key in PIXELS[name]}  # type: ignore[operator]
    smaller = replace(fixed, parameters={2: {**fixed.parameters[2], **quarter}})
    assert np.array_equal(apply(whole, image, 2, 5), apply(smaller, image, 2, 5))
    large = photo(PHOTOS[0], 384, 400)
    assert np.array_equal(apply(whole, large, 3, 5), apply(fixed, large, 3, 5))
    assert not np.array_equal(apply(whole, image, 3, 5), apply(fixed, image, 3, 5))


def test_lab_agrees_with_scikit_image_and_round_trips() -> None:
    levels = np.arange(256, dtype=np.uint8)
    greys = levels.repeat(3).reshape(1, 256, 3)
    for image in (greys, random_image(), random_image() // 12):
        planes = lab.to_lab(image)
        assert np.abs(np.moveaxis(planes, 0, 2) - rgb2lab(image)).max() < 0.05
        assert np.array_equal(lab.from_lab(planes), image)
    assert np.array_equal(lab.from_linear(lab.to_linear(levels)), levels)
    # Beyond black and white.
    assert lab.from_linear(np.float32([-0.5, 1.5])).tolist() == [0, 255]
    assert lab.from_lab(np.float32([[[-20, 150]], [[0, 0]], [[0, 0]]])).tolist() == [[[0] * 3, [255] * 3]]
    # On the edge between the two formulas.
    edge = lab.from_lab(np.float32([[[8]], [[38.592864990234375]], [[-56.239810943603516]]]))
    assert edge.tolist() == [[[0, 3, 102]]]


@pytest.mark.parametrize("sigma", (0.5, 2.0, 5.0))
def test_the_gaussian_filter_matches_scipy(sigma: float) -> None:
    image = random_image()
    expected = scipy_gaussian(image.astype(float), (sigma, sigma, 0), mode="nearest")
    assert np.abs(kadid_blur.gaussian_filter(image, sigma=sigma) - expected).max() <= 0.51


@pytest.mark.parametrize("radius", (1, 4, 8))
def test_lens_blur_spreads_a_point_over_a_disc(radius: int) -> None:
    disc = kadid_blur.lens_blur(255 - point(), radius=radius)[..., 0] < 255
    y, x = np.mgrid[-32:33, -32:33]
    distance = np.hypot(y, x)
    assert disc[distance < radius - 0.5].all() and not disc[distance > radius + 0.75].any()


@given(st.floats(0, math.pi), st.floats(2, 10))
def test_motion_blur_spreads_a_point_along_its_direction(direction: float, length: float) -> None:
    spread = kadid_blur.motion_blur(point(), direction, length=length)[..., 0].astype(float)
    y, x = np.mgrid[-32:33, -32:33]
    sine, cosine = math.sin(direction), math.cos(direction)
    along, across = y * sine + x * cosine, y * cosine - x * sine
    # The variances of a line of this length and of one pixel across, within the error of discrete pixels.
    assert (spread * along**2).sum() / spread.sum() == pytest.approx(length**2 / 12, rel=0.12, abs=0.3)
    assert (spread * across**2).sum() / spread.sum() < 0.4


def test_motion_blur_weighs_pixels_by_what_the_line_covers() -> None:
    row = kadid_blur.motion_blur(point(), 0.0, length=4)[32, 29:36, 0]
    assert row.tolist() == [0, 32, 64, 64, 64, 32, 0]


@pytest.mark.parametrize(("kernel", "sign"), ((kadid_luminance.brighten, 1), (kadid_luminance.darken, -1)))
def test_brighten_and_darken_bend_the_tones(kernel: Callable[..., Pixels], sign: int) -> None:
    ramp = np.arange(256, dtype=np.uint8).repeat(3).reshape(1, 256, 3)
    bent = kernel(ramp, amount=0.4)[0, :, 0].astype(int)
    assert bent[0] == 0 and bent[255] == 255 and (np.diff(bent) >= 0).all()
    middle = 127.5 + sign * 0.2 * 255
    assert abs(int(kernel(ramp, amount=0.4)[0, 127, 0]) - middle) < 8  # L's middle is not quite RGB's
    # Beyond half the range the parabola would turn back; clipped, it does not.
    assert (np.diff(kernel(ramp, amount=1.1)[0, :, 0].astype(int)) >= 0).all()


@given(st.sampled_from((-1, 1)), st.floats(0, 0.2))
def test_mean_shift_moves_the_mean(sign: int, shift: float) -> None:
    image = random_image() // 3 + 80
    moved = kadid_luminance.mean_shift(image, sign, shift=shift).astype(float) - image
    assert np.abs(moved - sign * 255 * shift).max() <= 0.51


@given(st.sampled_from((-1, 1)), st.floats(0, 0.9))
def test_contrast_change_keeps_the_middle_and_moves_the_quarters(sign: int, amount: float) -> None:
    levels = np.array([0, 64, 191, 255], np.uint8).repeat(3).reshape(1, 4, 3)
    found = kadid_contrast.contrast_change(levels, sign, amount=amount)[0, :, 0]
    expected = [0, 63.75 * (1 - sign * amount), 255 - 63.75 * (1 - sign * amount), 255]
    assert np.abs(found - np.array(expected)).max() < 1.5


def test_sharpness_exaggerates_an_edge_and_nothing_else() -> None:
    image = flat(100)
    image[:, 64:] = 150
    sharp = kadid_contrast.sharpness(image, amount=1.0, sigma=3.0)
    assert np.array_equal(sharp[:, :50], image[:, :50]) and np.array_equal(sharp[:, 80:], image[:, 80:])
    assert (sharp[:, 63] < 85).all() and (sharp[:, 64] > 165).all()


@given(IMAGES, st.floats(0, 1))
def test_hsv_saturation_scales_the_saturation_of_hsv(image: Pixels, factor: float) -> None:
    hsv = rgb2hsv(image)
    hsv[..., 1] *= factor
    found = kadid_colour.hsv_saturation(image, factor=factor)
    assert np.abs(found - 255 * hsv2rgb(hsv)).max() <= 0.51


def test_lab_saturation_scales_a_and_b_and_a_negative_hsv_saturation_gives_the_opposite_hue() -> None:
    image = random_image() // 12 + np.uint8(110)  # mild colours, within sRGB when three times as strong
    planes, found = rgb2lab(image), rgb2lab(kadid_colour.lab_saturation(image, factor=3.0))
    assert np.abs(found[..., 0] - planes[..., 0]).max() < 1
    assert np.abs(found[..., 1:] - 3 * planes[..., 1:]).max() < 1.5
    red = np.array([[[150, 50, 50]]], np.uint8)
    assert kadid_colour.hsv_saturation(red, factor=-0.4).tolist() == [[[150, 190, 190]]]


def test_color_diffusion_spreads_colour_and_keeps_lightness() -> None:
    image = flat(120)
    image[:, 64:] = (135, 115, 115)
    planes, found = rgb2lab(image), rgb2lab(kadid_colour.color_diffusion(image, amount=3.0, sigma=6.5))
    assert np.abs(found[..., 0] - planes[..., 0]).max() < 1
    a = found[64, :, 1]
    assert abs(a[0]) < 1 and a[64] == pytest.approx(1.5 * planes[64, 127, 1], rel=0.2)
    assert a[127] == pytest.approx(3 * planes[64, 127, 1], rel=0.1) and (np.diff(a[::8]) > -1).all()


def test_color_shift_moves_green_at_edges_only() -> None:
    image = flat(50)
    image[:, 64:] = 200
    right = kadid_colour.Direction(0.0, 1.0)
    shifted = kadid_colour.color_shift(image, right, amount=6.0)
    assert np.array_equal(shifted[..., ::2], image[..., ::2])
    assert (shifted[:, 64:66, 1] == 50).all() and (shifted[:, 66:70, 1] < 150).all()
    assert np.array_equal(shifted[:, 70:], image[:, 70:]) and np.array_equal(shifted[:, :64], image[:, :64])
    assert np.array_equal(kadid_colour.color_shift(flat(), right, amount=6.0), flat())


def test_noise_has_its_variance() -> None:
    field = kadid_noise.draw_bits(generator(), 128, 128)
    change = kadid_noise.white_noise(flat(), field, variance=0.01) / 255 - 128 / 255
    assert change.var() == pytest.approx(0.01, rel=0.03) and abs(change.mean()) < 2e-3
    noisy = rgb2ycbcr(kadid_noise.color_noise(flat(), field, variance=0.003)) / 255
    covariance = np.cov(noisy.reshape(-1, 3).T)
    assert np.diag(covariance) == pytest.approx([0.003] * 3, rel=0.05)
    assert np.abs(covariance - np.diag(np.diag(covariance))).max() < 2e-4
    for level in (40, 120):  # multiplicative noise grows with the value
        noisy = kadid_noise.multiplicative_noise(flat(level), field, variance=0.05).astype(float)
        change = noisy / level - 1
        assert change.var() == pytest.approx(0.05, rel=0.03)
        assert np.abs(change).max() < math.sqrt(0.15) + 0.02


def test_impulse_noise_hits_its_share_with_black_and_white() -> None:
    field = kadid_noise.draw_bits(generator(), 256, 256)
    hit = kadid_noise.impulse_noise(flat(side=256), field, density=0.03)
    assert set(np.unique(hit)) == {0, 128, 255}
    assert [(hit == value).mean() for value in (0, 255)] == pytest.approx([0.015] * 2, rel=0.05)


def test_the_denoiser_removes_most_of_the_noise() -> None:
    field = denoising.draw_bits(generator(), 128, 128)
    for variance in (0.01, 0.05):
        left = denoising.cnn_denoise(flat(), field, variance=variance) / 255.0
        assert 0 < left.std() < 0.4 * math.sqrt(variance)


@given(IMAGES, st.integers(2, 64))
@settings(max_examples=30)
def test_color_quantization_leaves_at_most_so_many_colours(image: Pixels, colors: int) -> None:
    left = quantization.color_quantization(image, colors=colors)
    assert len(np.unique(left.reshape(-1, 3), axis=0)) <= colors


def test_color_quantization_keeps_colours_that_are_few() -> None:
    few = np.array([[10, 20, 30], [200, 20, 30], [10, 200, 90], [250, 250, 250]], np.uint8)
    image = few[np.random.default_rng(0).integers(0, 4, (40, 40))]
    assert np.array_equal(quantization.color_quantization(image, colors=4), image)


@pytest.mark.parametrize("colors", (8, 64))
def test_color_quantization_has_less_variance_than_median_cut(colors: int) -> None:
    def error(image: Pixels, other: Pixels) -> float:
        return float(((image.astype(float) - other) ** 2).mean())

    for image in small_photos()[:6]:
        cut = Image.fromarray(image).quantize(colors, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        ours = quantization.color_quantization(image, colors=colors)
        assert error(image, ours) < error(image, np.array(cut.convert("RGB")))


@given(st.integers(2, 60))
def test_grayscale_quantization_gives_the_nearest_of_its_levels(levels: int) -> None:
    ramp = np.arange(256, dtype=np.uint8).repeat(3).reshape(1, 256, 3)
    left = quantization.grayscale_quantization(ramp, levels=levels)
    assert len(np.unique(left)) == levels
    assert np.abs(left.astype(int) - ramp).max() <= 255 / (levels - 1) / 2 + 1


def test_resolution_limit_removes_detail_and_keeps_the_shape() -> None:
    stripes = flat(0)
    stripes[:, ::2] = 255
    assert resampling.resolution_limit(stripes, scale=1 / 4).std() < 40
    halves = flat(0)
    halves[:, 64:] = 255
    limited = resampling.resolution_limit(halves, scale=1 / 4)
    assert np.array_equal(limited[:, :56], halves[:, :56]) and np.array_equal(limited[:, 72:], halves[:, 72:])


def test_clock_jitter_samples_at_the_shifts_of_its_field() -> None:
    image = random_image()
    still = np.zeros((2, *image.shape[:2]), np.float32)
    assert np.array_equal(resampling.clock_jitter(image, still, std=1.0), image)
    down_and_right = np.stack([still[0] + 1, still[1] + 2])
    moved = resampling.clock_jitter(image, down_and_right, std=0.5)
    expected = (image[:-1, 1:].astype(float) + image[1:, 1:]) / 2  # half a pixel down, one to the right
    assert np.abs(moved[:-1, :-1] - expected).max() <= 0.51


@pytest.mark.parametrize("ratio", (16, 45, 400))
def test_jpeg2000_meets_its_ratio(ratio: int, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    decoded = codecs._decoded
    monkeypatch.setattr(codecs, "_decoded", lambda data: sizes.append(len(data)) or decoded(data))
    image = photo("coffee", 480, 640)
    codecs.jpeg2000(image, ratio=ratio)
    assert sizes[0] == pytest.approx(image.size / ratio, rel=0.1)


@pytest.mark.parametrize("kernel", (codecs.jpeg, codecs.webp))
def test_codecs_are_close_to_the_image_at_high_quality(kernel: Callable[..., Pixels]) -> None:
    image = photo("coffee", 96, 128)
    gaps = [np.abs(kernel(image, quality=quality).astype(int) - image).mean() for quality in (95, 5)]
    assert 0 < gaps[0] < 4 < gaps[1]


@pytest.mark.parametrize(("kernel", "limit"), [(codecs.webp, "16,383"), (codecs.jpeg, "65,500")])
def test_codecs_name_their_limit(kernel: Callable[..., Pixels], limit: str) -> None:
    longest = int(limit.replace(",", ""))
    assert kernel(np.zeros((longest, 1, 3), np.uint8), quality=10).shape == (longest, 1, 3)
    message = rf"at most {limit} pixels a side, and the image has {longest + 1:,} × 32: scale it down"
    with pytest.raises(ImageError, match=message):
        kernel(np.zeros((32, longest + 1, 3), np.uint8), quality=10)


def blocks_of(image: Pixels) -> Pixels:
    """Return the blocks, [n, side, side, 3]."""
    side = blocks.side_of(*image.shape[:2])
    return blocks._grid(image).reshape(-1, side, side, 3)


def assert_the_rest_is_untouched(result: Pixels, image: Pixels, chosen: np.ndarray) -> None:
    block = blocks.side_of(*image.shape[:2])
    rows, columns = (side // block * block for side in image.shape[:2])
    assert np.array_equal(result[rows:], image[rows:])
    assert np.array_equal(result[:, columns:], image[:, columns:])
    others = np.setdiff1d(np.arange(len(blocks_of(image))), chosen)
    assert np.array_equal(blocks_of(result)[others], blocks_of(image)[others])


@given(COUNTS, st.integers(0, 99))
def test_as_many_blocks_are_drawn_once_each_but_at_most_half_of_a_small_image(count: int, seed: int) -> None:
    chosen = blocks.draw_blocks(generator(seed), 160, 199, count=count)
    pairs = blocks.draw_pairs(generator(seed), 160, 199, count=count)
    for drawn in (chosen, pairs.reshape(-1)):
        assert len(set(drawn.tolist())) == len(drawn) and drawn.min() >= 0 and drawn.max() < 120
    assert len(chosen) == min(count, 60) and len(pairs) == max(1, count // 2)
    assert len(blocks.draw_blocks(generator(), 48, 50, count=24)) == 4
    assert blocks.draw_pairs(generator(), 48, 50, count=24).shape == (2, 2)


@pytest.mark.parametrize(("height", "width", "side"), [(100, 90, 16), (480, 640, 30), (1000, 272, 17)])
def test_blocks_are_a_sixteenth_of_the_short_side_but_not_smaller_than_16(
    height: int, width: int, side: int
) -> None:
    assert blocks.side_of(height, width) == side
    image = random_image(height, width)
    assert blocks_of(image).shape[1:] == (side, side, 3)
    result = blocks.block_loss(image, blocks.draw_losses(generator(), height, width, count=8), count=8)
    changed = (result != image).any(axis=2).sum()
    assert 0.99 * 8 * side**2 < changed <= 8 * side**2


@given(COUNTS, st.integers(0, 99))
def test_block_exchange_exchanges_the_pairs(count: int, seed: int) -> None:
    image = random_image(70, 100)
    pairs = blocks.draw_pairs(generator(seed), 70, 100, count=count)
    result = blocks.block_exchange(image, pairs, count=count)
    assert_the_rest_is_untouched(result, image, pairs)
    assert np.array_equal(blocks_of(result)[pairs], blocks_of(image)[pairs[:, ::-1]])


@given(COUNTS, st.integers(0, 99))
def test_block_repeat_shows_the_block_before(count: int, seed: int) -> None:
    image = random_image(70, 100)
    chosen = blocks.draw_blocks(generator(seed), 70, 100, count=count)
    result = blocks.block_repeat(image, chosen, count=count)
    assert_the_rest_is_untouched(result, image, chosen)
    assert np.array_equal(blocks_of(result)[chosen], blocks_of(image)[chosen - 1])


@given(COUNTS, st.integers(0, 99))
def test_block_loss_shows_random_pixels(count: int, seed: int) -> None:
    image = flat(128, 70)
    losses = blocks.draw_losses(generator(seed), 70, 70, count=count)
    result = blocks.block_loss(image, losses, count=count)
    assert_the_rest_is_untouched(result, image, losses.blocks)
    assert np.array_equal(blocks_of(result)[losses.blocks], losses.pixels)
    assert losses.pixels.std() == pytest.approx(math.sqrt((256**2 - 1) / 12), rel=0.1)


@given(COUNTS, st.integers(0, 99))
def test_block_interpolation_uses_what_is_around(count: int, seed: int) -> None:
    image = flat(90, 71)
    image[..., 1] = np.arange(71)
    chosen = blocks.draw_blocks(generator(seed), 71, 71, count=count)
    lost = image.copy()
    blocks_of_lost = blocks._grid(lost)
    for block in chosen:
        blocks_of_lost[divmod(int(block), 4)] = 255  # what is lost must not show
    result = blocks.block_interpolation(lost, chosen, count=count)
    assert_the_rest_is_untouched(result, image, chosen)
    assert (result[..., 0] == 90).all()
    assert result[..., 1].max() <= 70


def test_a_single_lost_block_of_a_ramp_is_restored() -> None:
    image = np.zeros((48, 48, 3), np.uint8) + np.arange(0, 96, 2, dtype=np.uint8)[:, np.newaxis, np.newaxis]
    result = blocks.block_interpolation(image, np.array([4]), count=1)
    # Left and right give the very ramp, above and below straight lines towards it.
    assert np.abs(result.astype(int) - image).max() <= 8
    with pytest.raises(ValueError, match="all 9 blocks are lost"):
        blocks.block_interpolation(image, np.arange(9), count=9)


def test_light_is_added_and_removed() -> None:
    image = photo("coffee", 96, 128)
    light = captured.draw_light(generator(), 96, 128)
    bright = captured.bright_illumination(image, light, gain=2.0, glare=0.6)
    assert (bright >= image).all()
    field = captured.draw_bits(generator(), 96, 128)
    dark = captured.dark_illumination(image, field, gain=0.125)
    assert lab.to_linear(dark).mean() == pytest.approx(0.125 * lab.to_linear(image).mean(), rel=0.05)


@given(st.integers(0, 99), st.floats(0.05, 0.5))
@settings(max_examples=30)
def test_obstacles_cover_their_share(seed: int, cover: float) -> None:
    white = flat(255)
    obstacle = captured.draw_obstacle(generator(seed), 128, 128)
    hidden = captured.blocking_obstacle(white, obstacle, cover=cover)
    color = lab.from_linear(obstacle.color)
    assert (np.abs(hidden.astype(int) - color).max(axis=2) <= 1).mean() == pytest.approx(cover, abs=0.03)
    field = captured.draw_lens_obstacle(generator(seed), 128, 128)
    behind = captured.lens_obstacle(white, field, cover=cover)
    assert (lab.to_linear(behind).max(axis=2) < 0.55).mean() == pytest.approx(cover, abs=0.05)


@given(st.integers(0, 99), st.floats(2, 20))
@settings(max_examples=30)
def test_lens_shaking_smears_a_point_by_its_length(seed: int, extent: float) -> None:
    shaken = captured.lens_shaking(255 - point(), captured.draw_shake(generator(seed), 65, 65), extent=extent)
    rows, columns = np.nonzero(shaken[..., 0] < 255)
    assert max(np.ptp(rows), np.ptp(columns)) == pytest.approx(extent, abs=2)
