"""MLLM-IC's hierarchy, and the kernels of its own types."""

import inspect
from typing import Any

import cv2
import imgaug.augmenters as iaa
import numpy as np
import pytest

from benchc.corruptions.apply import apply
from benchc.corruptions.kernels import colour, precipitation, shape, texture
from benchc.corruptions.mean_shift import mean_shift
from benchc.corruptions.recipe import Recipe
from benchc.corruptions.registry import recipe_of
from benchc.corruptions.suites.imagenet_c import IMAGENET_C
from benchc.corruptions.suites.mllm_ic import MLLM_IC
from benchc.corruptions.variants import variants_of_image
from benchc.images import encode
from benchc.pixels import Pixels
from tests.corruptions.photos import photo

SHARED = [type_ for type_ in IMAGENET_C.types() if type_.in_default]
OWN = [type_ for type_ in MLLM_IC.types() if type_ not in SHARED]
DEFAULT_COUNTS = {
    **dict.fromkeys(["color_channel", "geometric_transform", "weather_condition"], 6),
    **dict.fromkeys(["blur", "noise"], 5),
    **dict.fromkeys(["texture_changing", "shape_changing"], 3),
    **{"occlusion": 2, "compression": 4},
}


def own(name: str) -> Recipe:
    assert name in {type_.name for type_ in OWN}
    return recipe_of(name, MLLM_IC)


def sample_image(height: int = 90, width: int = 121) -> Pixels:
    """Slopes in red and green, squares in blue, and some noise: no two rows or columns are equal."""
    y, x = np.mgrid[:height, :width]
    planes = np.stack([x * 255 // (width - 1), y * 255 // (height - 1), (x // 8 + y // 8) % 2 * 200], axis=-1)
    noise = np.random.default_rng(0).integers(-9, 10, planes.shape)
    return np.clip(planes + noise, 0, 255).astype(np.uint8)


def test_the_default_set_has_40_types_of_which_19_are_shared_with_imagenet_c() -> None:
    counts = {group: sum(type_.in_default for type_ in types) for group, types in MLLM_IC.groups.items()}
    assert counts == DEFAULT_COUNTS
    per_level = {level: sum(counts[group] for group in groups) for level, groups in MLLM_IC.levels.items()}
    # Figure 9 of the paper counts them.
    assert per_level == {"global": 20, "regional": 15, "pixel": 5}
    assert [type_.name for type_ in MLLM_IC.types() if not type_.in_default] == ["shear_xy"]
    assert sum(any(type_ is shared for shared in SHARED) for type_ in MLLM_IC.types()) == len(SHARED) == 19
    assert len([type_ for type_ in OWN if type_.in_default]) == 21
    assert [type_.name for type_ in OWN if not type_.ordered] == ["channel_shuffle"]


def default(augmenter: str, name: str) -> Any:
    """Return imgaug's default, of a random parameter its range."""
    return inspect.signature(getattr(iaa, augmenter).__init__).parameters[name].default


def strengths(name: str, keyword: str) -> tuple[Any, ...]:
    (type_,) = (type_ for type_ in OWN if type_.name == name)
    return type_.parameters[keyword].values


@pytest.mark.parametrize(
    ("name", "keyword", "ends"),
    [
        ("sharpen", "alpha", (0.2, 1.0)),
        ("canny_edge", "alpha", (0.2, 1.0)),
        ("canny_edge", "lower", (100, 100)),
        ("canny_edge", "upper", (200, 200)),
        ("cartoon", "segmentation_size", default("Cartoon", "segmentation_size")),
        ("cartoon", "saturation", default("Cartoon", "saturation")),
        ("cartoon", "edge_prevalence", default("Cartoon", "edge_prevalence")),
        ("cutout", "size", (default("Cutout", "size"), 0.6)),
        ("rain", "drop_size", default("Rain", "drop_size")),
        ("rain", "speed", default("Rain", "speed")),
        ("rain", "density", (0.03, 0.14)),
        ("snowflake", "flake_size", default("Snowflakes", "flake_size")),
        ("piecewise_affine", "scale", (0.01, 0.05)),
        ("rotate", "degrees", (6, 30)),
        ("shear_x", "degrees", (6, 30)),
        *((f"scale_{axes}", "factor", (0.9, 0.5)) for axes in ("x", "y", "xy")),
        # Half a unit or less from equal steps: thresholds are whole numbers, a speed has three decimals.
        ("invert", "threshold", (256 * 0.8, 0)),
        ("snowflake", "speed", default("Snowflakes", "speed")),
    ],
)
def test_strengths_of_equal_steps_reach_the_end_of_their_range(name: str, keyword: str, ends: Any) -> None:
    rounding = {"threshold": 0.65, "speed": 5.1e-4}.get(keyword, 1e-9)
    assert strengths(name, keyword) == pytest.approx(np.linspace(*ends, 5).tolist(), abs=rounding)


def test_strengths_without_equal_steps_reach_the_end_of_their_range() -> None:
    ends = {("cartoon", "blur_size"): (1, 5), ("rain", "layers"): default("Rain", "nb_iterations")}
    ends |= dict.fromkeys((("jigsaw", name) for name in ("rows", "columns")), default("Jigsaw", "nb_rows"))
    for key, (low, high) in ends.items():
        values = strengths(*key)
        assert (values[0], values[-1]) == (low, high) and [*values] == sorted(values), key
    assert all(size % 2 for size in strengths("cartoon", "blur_size"))
    assert strengths("jigsaw", "rows") == strengths("jigsaw", "columns")
    assert strengths("snowflake", "density")[-1] == default("Snowflakes", "density")[1]
    # Ratios of about 1.3 and 1.4, and of 1.4 to 2.
    for key, least, most in (
        (("gamma_contrast", "gamma"), 1.25, 1.31),
        (("average_pooling", "size"), 1.3, 1.5),
        (("max_pooling", "size"), 1.3, 1.5),
        (("poisson_noise", "lam"), 1.4, 2.0),
    ):
        values = np.array(strengths(*key), float)
        assert ((values[1:] / values[:-1] >= least) & (values[1:] / values[:-1] <= most)).all(), key
    assert strengths("gamma_contrast", "gamma")[1] == default("GammaContrast", "gamma")[1]


@pytest.mark.parametrize(
    ("name", "keyword", "value"),
    [
        ("gamma_contrast", "per_channel", default("GammaContrast", "per_channel")),
        ("cutout", "areas", default("Cutout", "nb_iterations")),
        ("cutout", "squared", default("Cutout", "squared")),
        ("cutout", "fill", default("Cutout", "cval")),
        ("coarse_dropout", "min_size", default("CoarseDropout", "min_size")),
        ("coarse_dropout", "per_channel", default("CoarseDropout", "per_channel")),
        ("canny_edge", "sobel_size", default("Canny", "sobel_kernel_size")[0]),
        ("sharpen", "lightness", np.mean(default("Sharpen", "lightness"))),
        ("piecewise_affine", "rows", default("PiecewiseAffine", "nb_rows")[1]),
        ("piecewise_affine", "columns", default("PiecewiseAffine", "nb_cols")[1]),
        ("snowflake", "density_uniformity", np.mean(default("Snowflakes", "density_uniformity"))),
        ("snowflake", "flake_size_uniformity", np.mean(default("Snowflakes", "flake_size_uniformity"))),
        ("snowflake", "max_angle", default("Snowflakes", "angle")[1]),
        *(
            (name, keyword, default(augmenter, keyword))
            for keyword in ("order", "mode", "cval")
            for name, augmenter in (
                *((type_.name, "Affine") for type_ in MLLM_IC.groups["geometric_transform"]),
                ("piecewise_affine", "PiecewiseAffine"),
            )
        ),
        # In the body of imgaug's function.
        ("rain", "density_uniformity", (0.8 + 1.0) / 2),
        ("rain", "drop_size_uniformity", (0.2 + 0.5) / 2),
        ("rain", "max_angle", 15),
        ("rain", "blur", 0.001),
        ("snowflake", "blur", (0.0001 + 0.001) / 2),
        ("snowflake", "layers", (1 + 3) / 2),
    ],
)
def test_what_does_not_grow_is_imgaugs_default_or_the_middle_of_its_range(
    name: str, keyword: str, value: Any
) -> None:
    assert strengths(name, keyword) == (value,) * 5


def test_strengths_that_no_range_gives_are_those_of_this_version() -> None:
    # With others the suite needs another one.
    assert MLLM_IC.version == 2
    for key, values in {
        ("invert", "threshold"): (205, 154, 103, 51, 0),
        ("cartoon", "blur_size"): (1, 1, 3, 3, 5),
        ("coarse_dropout", "cells"): (20,) * 5,
        ("coarse_dropout", "probability"): (0.05, 0.1, 0.15, 0.2, 0.3),
        ("average_pooling", "size"): (2, 3, 4, 6, 8),
        ("max_pooling", "size"): (2, 3, 4, 6, 8),
        ("rain", "layers"): (1, 1, 2, 2, 3),
        ("snowflake", "density"): (0.0075, 0.02, 0.035, 0.055, 0.075),
        ("jigsaw", "rows"): (3, 4, 6, 8, 10),
        ("jigsaw", "max_steps"): (1, 2, 3, 4, 5),
        ("poisson_noise", "lam"): (10, 20, 35, 50, 70),
    }.items():
        assert strengths(*key) == values, key


def test_a_large_flat_image_becomes_a_cartoon_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    image = np.full((410, 40, 3), 77, np.uint8)
    assert np.array_equal(apply(own("cartoon"), image, 1, seed=0), image)
    assert not recwarn.list


def test_inversion_gamma_channels_and_edges_are_their_formulas() -> None:
    image = sample_image()
    assert np.array_equal(apply(own("invert"), image, 5, seed=0), 255 - image)
    expected = np.where(image >= 100, 255 - image, image)
    assert np.array_equal(colour.invert(image, threshold=100), expected)
    expected = 255 * (image / 255) ** 1.7
    assert np.abs(apply(own("gamma_contrast"), image, 2, seed=0) - expected).max() <= 1
    red, green, blue = np.moveaxis(image, 2, 0)
    orders = [(blue, green, red), (green, red, blue), (red, blue, green)]
    orders += [(green, blue, red), (blue, red, green)]
    for severity, planes in enumerate(orders, 1):
        assert np.array_equal(apply(own("channel_shuffle"), image, severity, seed=0), np.dstack(planes))
    assert set(np.unique(apply(own("canny_edge"), image, 5, seed=0))) == {0, 255}


DIRECTIONS = {"shear_x": 2, "shear_y": 2, "shear_xy": 4, "rotate": 2}


def crossed_lines() -> Pixels:
    """A horizontal line in red and a vertical one in green that cross in the centre."""
    image = np.zeros((81, 81, 3), np.uint8)
    image[40, :, 0] = image[:, 40, 1] = 255
    return image


@pytest.mark.parametrize("name", [type_.name for type_ in MLLM_IC.groups["geometric_transform"]])
def test_geometry_keeps_the_centre_and_takes_every_direction(name: str) -> None:
    results = [apply(own(name), crossed_lines(), 3, seed) for seed in range(16)]
    assert len({result.tobytes() for result in results}) == DIRECTIONS.get(name, 1)
    for result in results:
        assert result[40, 40, :2].min() > 200
        # A map along one axis leaves the line along that axis where it is, and moves others.
        if name.endswith("_x"):
            assert (result[40, 14:67, 0] > 250).all()
        if name.endswith("_y"):
            assert (result[14:67, 40, 1] > 250).all()


def test_scaling_shrinks_to_its_factor_with_a_black_border() -> None:
    image = np.full((100, 200, 3), 200, np.uint8)
    for severity, factor in enumerate((0.9, 0.8, 0.7, 0.6, 0.5), 1):
        for name, x, y in (("scale_x", factor, 1), ("scale_y", 1, factor), ("scale_xy", factor, factor)):
            result = apply(own(name), image, severity, seed=0)
            assert (result > 100).sum() / 3 == pytest.approx(200 * x * 100 * y, rel=0.05)
            assert result[50, 100, 0] == 200
            assert (x == 1 or (result[:, 0] == 0).all()) and (y == 1 or (result[0] == 0).all())


def signs(name: str, image: Pixels) -> tuple[bool, bool]:
    """Whether the red line goes down to the right, and the green line left to the bottom."""
    red, green = (image[..., channel].astype(float) for channel in (0, 1))
    rows, columns = np.arange(81)[:, None], np.arange(81)
    low, high = columns < 30, columns > 50

    def middle(plane: np.ndarray, positions: np.ndarray, part: np.ndarray) -> float:
        return float(np.average(np.broadcast_to(positions, plane.shape), weights=plane * part))

    down = middle(red, rows, high) > middle(red, rows, low)
    return down, middle(green, columns, low[:, None]) > middle(green, columns, high[:, None])


@pytest.mark.parametrize("name", DIRECTIONS)
def test_a_direction_is_that_of_the_image_at_all_severities(name: str) -> None:
    data, whole = encode(crossed_lines()), recipe_of(name, MLLM_IC)
    found = set()
    for number in range(16):
        images = variants_of_image(f"source/{number}#0", data, whole, MLLM_IC.severities, 5)
        directions = {signs(name, image) for image in images.values()}
        assert len(directions) == 1, number
        found |= directions
    assert len(found) == DIRECTIONS[name]


@pytest.mark.parametrize("name", ["rain", "snowflake"])
def test_what_falls_keeps_its_angle(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    angles: list[float] = []
    layer = precipitation.iaa.SnowflakesLayer
    blur = layer._motion_blur.__func__

    def record(cls: type, noise: Pixels, angle: float, speed: float, random_state: object) -> Pixels:
        angles.append(float(angle))
        return blur(cls, noise, angle, speed, random_state)

    monkeypatch.setattr(layer, "_motion_blur", classmethod(record))
    firsts = [set[float]() for _ in range(4)]
    for number, found in enumerate(firsts):
        for severity in MLLM_IC.severities:
            angles.clear()
            variants_of_image(f"source/{number}#0", encode(sample_image()), own(name), [severity], 5)
            found.add(angles[0])
    assert [len(found) for found in firsts] == [1] * 4
    assert len(set.union(*firsts)) == 4


def test_types_without_a_direction_draw_anew_at_each_severity() -> None:
    once = {type_.name for type_ in MLLM_IC.types() if type_.one_draw}
    assert once == {*DIRECTIONS, "rain", "snowflake"}
    shuffled = recipe_of("cutout", MLLM_IC)
    image = np.full((200, 200, 3), 7, np.uint8)
    squares = variants_of_image("source/1#0", encode(image), shuffled, (1, 2), 5)
    centres = [np.argwhere((pixels == 128).all(axis=2)).mean(axis=0) for pixels in squares.values()]
    assert np.abs(centres[0] - centres[1]).max() > 5


def test_occlusions_hide_their_share() -> None:
    image = np.full((160, 160, 3), 200, np.uint8)
    sides = [np.sqrt((apply(own("cutout"), image, 3, seed) == 128).all(axis=2).sum()) for seed in range(30)]
    assert max(sides) == pytest.approx(0.4 * 160, abs=1)
    shares = [(apply(own("coarse_dropout"), image, 3, seed) == 0).mean() for seed in range(30)]
    assert np.mean(shares) == pytest.approx(0.15, abs=0.02)


def test_pooling_takes_each_blocks_mean_or_maximum() -> None:
    image = sample_image(96, 120)
    blocks = image.reshape(24, 4, 30, 4, 3)
    mean, most = (
        part.repeat(4, 0).repeat(4, 1) for part in (blocks.mean(axis=(1, 3)), blocks.max(axis=(1, 3)))
    )
    assert np.abs(apply(own("average_pooling"), image, 3, seed=0) - mean).max() <= 1
    assert np.array_equal(apply(own("max_pooling"), image, 3, seed=0), most)


def test_a_jigsaw_moves_cells_and_leaves_the_remainder_in_place() -> None:
    image = sample_image(94, 129)
    result = shape.jigsaw(image, 3, rows=10, columns=10, max_steps=1)
    assert np.array_equal(result[90:], image[90:])
    assert np.array_equal(result[:, 120:], image[:, 120:])

    def cells(pixels: Pixels) -> list[bytes]:
        return [pixels[y : y + 9, x : x + 12].tobytes() for y in range(0, 90, 9) for x in range(0, 120, 12)]

    before, after = cells(image), cells(result)
    assert sorted(before) == sorted(after)
    assert 10 < sum(a != b for a, b in zip(before, after, strict=True)) < 90
    for seed in range(60):
        assert (apply(own("jigsaw"), image, 1, seed) != image).any()


def test_every_layer_of_rain_has_its_own_drops() -> None:
    image = np.full((80, 100, 3), 60, np.uint8)
    parameters = own("rain").parameters[1]
    one = precipitation.rain(image, 5, **(dict(parameters) | {"layers": 1}))
    two = precipitation.rain(image, 5, **(dict(parameters) | {"layers": 2}))
    wet_once, wet_twice = ((pixels != image).any(axis=2) for pixels in (one, two))
    assert (wet_twice & ~wet_once).sum() > 0.2 * wet_once.sum()


def test_poisson_noise_has_the_given_mean_magnitude() -> None:
    image = np.full((200, 200, 3), 128, np.uint8)
    for severity in (1, 3):
        change = apply(own("poisson_noise"), image, severity, seed=1).astype(int) - 128
        lam = own("poisson_noise").parameters[severity]["lam"]
        assert np.abs(change).mean() == pytest.approx(lam, rel=0.02)
        assert abs(change.mean()) < 0.03 * lam
        assert (change != change[..., :1]).mean() > 0.5


@pytest.mark.parametrize(("radius", "colour_radius"), [(0, 4), (1, 3), (2, 5), (3, 10), (9, 25)])
def test_mean_shift_has_the_pixels_of_opencv(radius: int, colour_radius: int) -> None:
    # Also of colours that hardly differ, from each other and from black.
    similar = np.random.default_rng(0).integers(0, 13, (31, 40, 3), np.uint8).repeat(2, 0).repeat(2, 1)
    for image in (photo("cat", 61, 80), similar):
        expected = cv2.pyrMeanShiftFiltering(image, radius, colour_radius)
        assert np.array_equal(mean_shift(image, radius, colour_radius), expected)


def test_cartoons_have_the_pixels_of_imgaug() -> None:
    cartoon = own("cartoon")
    for height, width in ((97, 131), (30, 410)):  # of small and of large windows
        image = photo("cat", height, width)
        for severity in (1, 4, 5):
            call = cartoon.parameters[severity]
            names = {"blur_ksize" if name == "blur_size" else name: value for name, value in call.items()}
            expected = iaa.Cartoon(**names, seed=0).augment_image(image)
            assert np.array_equal(texture.cartoon(image, **call), expected)
