"""MLLM-IC's 40 corruptions in nine categories on three operational levels, 19 of them ImageNet-C's.

The paper names imgaug's augmenters but publishes no severities, only that they follow "range discretization
for bounded values and human perceptual thresholding for unbounded ones" (section 3.3). Here, a parameter with
a default range in imgaug, or bounded by definition, takes about equal steps to the end of that range, and on
where the end is hardly visible; any other grows by ratios. The median SSIM with photographs falls with
severity (``speed/severity_ssim.py``), except that of channel_shuffle, which has no strength. Scaling and
gamma go one way, smaller and darker. A random direction (of shearing, rotation, rain and flakes) is drawn
once for an image and type and is the same at all severities, so that these differ in strength alone. What is
moved out of the image leaves black, and its size stays.

The authors' README lists 41 types, the paper has 40. The mean of the paper's Table 3 over the types must
equal the mean of its Table 2 over the five capabilities. With 6 geometric types it does, up to rounding, for
nine of the eleven models, and with 7 for one (GPT-4o; Gemini fits neither). shear_xy is outside the default
set because it is the one geometric type without an augmenter in imgaug. The alternative of 5 colour and 7
geometric types fits slightly worse.
"""

from dataclasses import replace

from benchc.corruptions.suite import CorruptionType, Parameter, Suite, Value, decided, library
from benchc.corruptions.suites import imagenet_c

_KERNELS = "benchc.corruptions.kernels"
_SEED = "draw_seed"


def _default(augmenter: str, value: Value) -> Parameter:
    return library(f"imgaug's {augmenter}", *[value] * 5)


def _fixed(reason: str, value: Value) -> Parameter:
    return decided(reason, *[value] * 5)


def _middle(augmenter: str, low: float, high: float) -> Parameter:
    return _fixed(f"middle of imgaug's range for {augmenter}, {low} to {high}", (low + high) / 2)


_THRESHOLDS = "equal steps to the whole range of values"
INVERT = CorruptionType(
    "invert",
    "Inverts the values above a threshold; all values at severity 5.",
    f"{_KERNELS}.colour.invert",
    {"threshold": decided(_THRESHOLDS, 205, 154, 103, 51, 0)},
)
GAMMA_CONTRAST = CorruptionType(
    "gamma_contrast",
    "Raises every value, as a share of 255, to a power above 1, which darkens.",
    f"{_KERNELS}.colour.gamma_contrast",
    {
        "gamma": decided("ratios of about 1.3; imgaug's range of 0.7 to 1.7", 1.3, 1.7, 2.2, 2.8, 3.5),
        "per_channel": _default("GammaContrast", False),
    },
)
CHANNEL_SHUFFLE = CorruptionType(
    "channel_shuffle",
    "Gives red, green and blue each other's values.",
    f"{_KERNELS}.colour.channel_shuffle",
    {"order": decided("the five orders of three channels other than RGB", "BGR", "GRB", "RBG", "GBR", "BRG")},
    ordered=False,
)

_STEPS = "equal steps to the end of imgaug's range of {}"
_AFFINE = {
    "order": _default("Affine: bilinear", 1),
    "mode": _default("Affine", "constant"),
    "cval": _default("Affine", 0),
}


def _scale(axes: str) -> CorruptionType:
    along = {"x": "horizontally", "y": "vertically", "xy": "in both directions"}[axes]
    return CorruptionType(
        f"scale_{axes}",
        f"Shrinks {along} about the centre.",
        f"{_KERNELS}.geometric.scale",
        {
            "axes": _fixed("the type's name", axes),
            "factor": decided(_STEPS.format("0.5 to 1.5"), 0.9, 0.8, 0.7, 0.6, 0.5),
        }
        | _AFFINE,
    )


def _shear(axes: str) -> CorruptionType:
    along = {"x": "horizontally", "y": "vertically", "xy": "in both directions"}[axes]
    return CorruptionType(
        f"shear_{axes}",
        f"Shears {along}, in a random direction.",
        f"{_KERNELS}.geometric.shear",
        {"axes": _fixed("the type's name", axes), "degrees": _DEGREES} | _AFFINE,
        noise=_SEED,
        one_draw=True,
    )


_DEGREES = decided(_STEPS.format("-30 to 30 degrees"), 6.0, 12.0, 18.0, 24.0, 30.0)
SCALE_X, SCALE_Y, SCALE_XY = (_scale(axes) for axes in ("x", "y", "xy"))
SHEAR_X, SHEAR_Y = (_shear(axes) for axes in ("x", "y"))
SHEAR_XY = replace(_shear("xy"), in_default=False)
ROTATE = CorruptionType(
    "rotate",
    "Rotates about the centre, in a random direction.",
    f"{_KERNELS}.geometric.rotate",
    {"degrees": _DEGREES} | _AFFINE,
    noise=_SEED,
    one_draw=True,
)

_ALPHA = "equal steps to the end of the range, 0 to 1"
CANNY_EDGE = CorruptionType(
    "canny_edge",
    "Blends with white edges on black; only edges at severity 5.",
    f"{_KERNELS}.texture.canny_edge",
    {
        "alpha": decided(_ALPHA, 0.2, 0.4, 0.6, 0.8, 1.0),
        "lower": _fixed("middle of imgaug's range for Canny, 60 to 140", 100),
        "upper": _fixed("middle of imgaug's range for Canny, 160 to 240", 200),
        "sobel_size": _fixed("lower end of imgaug's range, 3 to 7: larger filters mark texture as edges", 3),
        "background": _fixed("imgaug samples both colours; edge maps are usually white on black", 0),
        "edge": _fixed("imgaug samples both colours; edge maps are usually white on black", 255),
    },
)
SHARPEN = CorruptionType(
    "sharpen",
    "Blends with a sharpened copy.",
    f"{_KERNELS}.texture.sharpen",
    {
        "alpha": decided(_ALPHA, 0.2, 0.4, 0.6, 0.8, 1.0),
        "lightness": _middle("Sharpen", 0.8, 1.2),
    },
)
CARTOON = CorruptionType(
    "cartoon",
    "Turns the image into flat areas of saturated colour with black outlines.",
    f"{_KERNELS}.texture.cartoon",
    {
        "blur_size": decided("the odd sizes in imgaug's range; it makes even ones odd", 1, 1, 3, 3, 5),
        "segmentation_size": decided("equal steps over imgaug's range", 0.8, 0.9, 1.0, 1.1, 1.2),
        "saturation": decided("equal steps over imgaug's range", 1.5, 1.75, 2.0, 2.25, 2.5),
        "edge_prevalence": decided("equal steps over imgaug's range", 0.9, 0.95, 1.0, 1.05, 1.1),
    },
)

CUTOUT = CorruptionType(
    "cutout",
    "Covers a random square with grey.",
    f"{_KERNELS}.occlusion.cutout",
    {
        "areas": _default("Cutout", 1),
        "size": decided(
            "equal steps from imgaug's default; a square of 1 would cover everything", 0.2, 0.3, 0.4, 0.5, 0.6
        ),
        "squared": _default("Cutout", True),
        "fill": _default("Cutout", 128),
    },
    noise=_SEED,
)
COARSE_DROPOUT = CorruptionType(
    "coarse_dropout",
    "Blackens random cells of a 20 x 20 grid.",
    f"{_KERNELS}.occlusion.coarse_dropout",
    {
        "probability": decided(
            "steps that grow; imgaug's range of 0.02 to 0.1 and on to a third", 0.05, 0.1, 0.15, 0.2, 0.3
        ),
        "cells": _fixed("a cell is 5 % of each side; imgaug's 3 to 8 cells are as large as objects", 20),
        "min_size": _default("CoarseDropout", 3),
        "per_channel": _default("CoarseDropout", False),
    },
    noise=_SEED,
)

_POOL = "pixels, in ratios of about 1.4; imgaug's range ends at 5, ImageNet-C's pixelate at 4"
AVERAGE_POOLING = CorruptionType(
    "average_pooling",
    "Replaces every block of pixels by its mean.",
    f"{_KERNELS}.pooling.average_pooling",
    {"size": decided(_POOL, 2, 3, 4, 6, 8)},
)
MAX_POOLING = CorruptionType(
    "max_pooling",
    "Replaces every block of pixels by the maximum of each channel.",
    f"{_KERNELS}.pooling.max_pooling",
    {"size": decided(_POOL, 2, 3, 4, 6, 8)},
)

RAIN = CorruptionType(
    "rain",
    "Adds bright streaks of rain.",
    f"{_KERNELS}.precipitation.rain",
    {
        "layers": decided("imgaug's range for Rain", 1, 1, 2, 2, 3),
        "density": decided(
            "equal steps over imgaug's range: at one density, longer streaks are fainter, and severity 2 "
            "would be weaker than 1",
            *(0.03, 0.0575, 0.085, 0.1125, 0.14),
        ),
        "density_uniformity": _middle("Rain", 0.8, 1.0),
        "drop_size": decided("equal steps over imgaug's range", 0.01, 0.0125, 0.015, 0.0175, 0.02),
        "drop_size_uniformity": _middle("Rain", 0.2, 0.5),
        "max_angle": _default("Rain, as the limit of a random angle", 15.0),
        "speed": decided("equal steps over imgaug's range", 0.04, 0.08, 0.12, 0.16, 0.2),
        "blur": _default("Rain", 0.001),
    },
    noise=_SEED,
    one_draw=True,
)
SNOWFLAKE = CorruptionType(
    "snowflake",
    "Adds falling flakes.",
    f"{_KERNELS}.precipitation.snowflakes",
    {
        "layers": _fixed("middle of imgaug's range for Snowflakes, 1 to 3", 2),
        "density": decided("over imgaug's range", 0.0075, 0.02, 0.035, 0.055, 0.075),
        "density_uniformity": _middle("Snowflakes", 0.3, 0.9),
        "flake_size": decided("over imgaug's range", 0.2, 0.325, 0.45, 0.575, 0.7),
        "flake_size_uniformity": _middle("Snowflakes", 0.4, 0.8),
        "max_angle": _default("Snowflakes, as the limit of a random angle", 30.0),
        "speed": decided("equal steps over imgaug's range", 0.007, 0.013, 0.019, 0.024, 0.03),
        "blur": _middle("Snowflakes", 0.0001, 0.001),
    },
    noise=_SEED,
    one_draw=True,
)

JIGSAW = CorruptionType(
    "jigsaw",
    "Swaps neighbouring cells of a grid.",
    f"{_KERNELS}.shape.jigsaw",
    {
        "rows": decided("cells a side, over imgaug's range", 3, 4, 6, 8, 10),
        "columns": decided("cells a side, over imgaug's range", 3, 4, 6, 8, 10),
        "max_steps": decided(
            "more at each severity: with imgaug's default of 1, about a quarter of the cells moves at every "
            "severity, and SSIM is as low at 1 as at 5",
            *(1, 2, 3, 4, 5),
        ),
    },
    noise="draw_moving_seed",
)
_GRID = "upper end of imgaug's range, so that only displacements set the strength"
PIECEWISE_AFFINE = CorruptionType(
    "piecewise_affine",
    "Warps the triangles of a grid whose points are randomly displaced.",
    f"{_KERNELS}.shape.piecewise_affine",
    {
        "scale": decided("equal steps; imgaug's range ends at 0.04", 0.01, 0.02, 0.03, 0.04, 0.05),
        "rows": _fixed(_GRID, 4),
        "columns": _fixed(_GRID, 4),
        "order": _default("PiecewiseAffine: bilinear", 1),
        "mode": _default("PiecewiseAffine", "constant"),
        "cval": _default("PiecewiseAffine", 0),
    },
    noise=_SEED,
)

POISSON_NOISE = CorruptionType(
    "poisson_noise",
    "Adds or subtracts Poisson noise.",
    f"{_KERNELS}.poisson.poisson_noise",
    {
        "lam": decided(
            "in ratios of 1.4 to 2; within imgaug's range, 0 to 15, the noise is barely visible",
            10.0,
            20.0,
            35.0,
            50.0,
            70.0,
        ),
        "per_channel": _fixed("colour noise, as ImageNet-C's four types of noise", True),
    },
    noise=_SEED,
)

MLLM_IC = Suite(
    "mllm-ic",
    "MLLM-IC",
    "Qiu et al. (2025): 40 corruptions in nine categories on three levels; severities decided here",
    (1, 2, 3, 4, 5),
    {
        "color_channel": (
            imagenet_c.BRIGHTNESS,
            imagenet_c.CONTRAST,
            imagenet_c.SATURATE,
            INVERT,
            GAMMA_CONTRAST,
            CHANNEL_SHUFFLE,
        ),
        "geometric_transform": (SCALE_X, SCALE_Y, SCALE_XY, SHEAR_X, SHEAR_Y, SHEAR_XY, ROTATE),
        "blur": (
            imagenet_c.DEFOCUS_BLUR,
            imagenet_c.GLASS_BLUR,
            imagenet_c.ZOOM_BLUR,
            imagenet_c.MOTION_BLUR,
            imagenet_c.GAUSSIAN_BLUR,
        ),
        "texture_changing": (CANNY_EDGE, SHARPEN, CARTOON),
        "occlusion": (CUTOUT, COARSE_DROPOUT),
        "compression": (AVERAGE_POOLING, MAX_POOLING, imagenet_c.PIXELATE, imagenet_c.JPEG_COMPRESSION),
        "weather_condition": (
            imagenet_c.SNOW,
            imagenet_c.FROST,
            imagenet_c.FOG,
            RAIN,
            SNOWFLAKE,
            imagenet_c.SPATTER,
        ),
        "shape_changing": (imagenet_c.ELASTIC_TRANSFORM, JIGSAW, PIECEWISE_AFFINE),
        "noise": (
            imagenet_c.IMPULSE_NOISE,
            imagenet_c.SHOT_NOISE,
            imagenet_c.SPECKLE_NOISE,
            imagenet_c.GAUSSIAN_NOISE,
            POISSON_NOISE,
        ),
    },
    levels={
        "global": ("color_channel", "geometric_transform", "blur", "texture_changing"),
        "regional": ("occlusion", "compression", "weather_condition", "shape_changing"),
        "pixel": ("noise",),
    },
    version=2,
)
