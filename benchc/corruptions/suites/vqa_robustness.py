"""Corruptions of the Visual Robustness Benchmark for VQA: the 14 with results, and others of its taxonomy.

Most are ImageNet-C's, with the same numbers and kernels. The authors' implementation (theirs) differs:

- Theirs smears the flakes of snow with ImageMagick, ours as imagecorruptions does.
- Theirs writes JPEG with OpenCV, ours with Pillow: the same pixels, as both use libjpeg-turbo.
- Shot noise, elastic transform and pixelate have their own definitions or numbers.
- Theirs stores corrupted images as JPEG of quality 95, ours losslessly.
- The released generator swaps red and blue. The published accuracy on "what color is", up to 76 %
  (Table A.2), can hardly come from such images; ours does not swap.
"""

from dataclasses import replace

from benchc.corruptions.suite import CorruptionType, Suite, decided, published
from benchc.corruptions.suites.imagenet_c import (
    BRIGHTNESS,
    CONTRAST,
    DEFOCUS_BLUR,
    ELASTIC_TRANSFORM_AFFINE,
    GAUSSIAN_NOISE,
    GLASS_BLUR,
    IMPULSE_NOISE,
    JPEG_COMPRESSION,
    SATURATE,
    SNOW,
    SPATTER,
    SPECKLE_NOISE,
    ZOOM_BLUR,
)

_KERNELS = "benchc.corruptions.kernels"
_CODE = "Ishmam et al. (2025), generator.py"
_SUPPLEMENT = "Ishmam et al. (2025), supplement"

SHOT_NOISE = CorruptionType(
    "shot_noise",
    "Adds a Poisson count to every value in [0, 1]; a count of 1 gives white.",
    f"{_KERNELS}.additive_noise.additive_shot_noise",
    {"rate": published(_CODE, 0.08, 0.2, 0.5, 0.8, 1.2)},
    noise="draw_uniform",
)
ELASTIC_TRANSFORM = replace(
    ELASTIC_TRANSFORM_AFFINE,
    name="elastic_transform",
    summary="Applies a random affine map and a smoothed random displacement (pixels): severities 1 and 2 "
    "bend the whole image, 3 to 5 make edges wavy.",
    in_default=True,
    alternative_to=None,
    ordered=False,
)
_SCALE = {"scale": published(_CODE, 0.6, 0.5, 0.4, 0.3, 0.15)}
PIXELATE = CorruptionType(
    "pixelate",
    "Downscales by area averages and stays small, as for the published results.",
    f"{_KERNELS}.downscale.pixelate_small",
    _SCALE,
    resizes=True,
)
PIXELATE_UPSCALED = CorruptionType(
    "pixelate_upscaled",
    "Downscales and upscales bilinearly, as in the supplement.",
    f"{_KERNELS}.downscale.pixelate_bilinear",
    _SCALE,
    in_default=False,
    alternative_to="pixelate",
)

_SHARES = (0.03, 0.06, 0.09, 0.17, 0.27)
_AMOUNT = {
    "amount": decided(
        "not in the paper; the fractions of ImageNet-C's impulse_noise, of pixels instead of values",
        *_SHARES,
    )
}
SALT_AND_PEPPER = CorruptionType(
    "salt_and_pepper",
    "Sets a fraction of the pixels to black or white.",
    f"{_KERNELS}.value_assignment.salt_and_pepper",
    _AMOUNT,
    noise="draw_rank",
    in_default=False,
)
RANDOM_VALUED_IMPULSE_NOISE = CorruptionType(
    "random_valued_impulse_noise",
    "Sets a fraction of the pixels to random greys.",
    f"{_KERNELS}.value_assignment.random_valued_impulse_noise",
    _AMOUNT,
    noise="draw_impulses",
    in_default=False,
)
BINARY_THRESHOLD = CorruptionType(
    "binary_threshold",
    "Sets every value above a threshold to 255 and every other to 0.",
    f"{_KERNELS}.value_assignment.binary_threshold",
    {"threshold": decided("not in the paper; the middle of the range", *[127] * 5)},
    in_default=False,
    ordered=False,
)
INVERSE = CorruptionType(
    "inverse",
    "Inverts every value.",
    f"{_KERNELS}.colour_property.inverse",
    {},
    in_default=False,
    ordered=False,
)
_MEAN = {"grey": published(f"{_SUPPLEMENT}, A.3", *["mean"] * 5)}
_LUMA = {"grey": published(_CODE, *["luma"] * 5)}
GRAYSCALE = CorruptionType(
    "grayscale",
    "Sets the three channels to their mean.",
    f"{_KERNELS}.colour_property.grayscale",
    _MEAN,
    in_default=False,
    ordered=False,
)
GRAYSCALE_LUMA = replace(
    GRAYSCALE,
    name="grayscale_luma",
    summary="Sets the three channels to their luma, as in the authors' code.",
    parameters=_LUMA,
    alternative_to="grayscale",
)
GRAYSCALE_INVERSE = CorruptionType(
    "grayscale_inverse",
    "Sets the three channels to 255 minus their mean.",
    f"{_KERNELS}.colour_property.grayscale_inverse",
    _MEAN,
    in_default=False,
    ordered=False,
)
GRAYSCALE_INVERSE_LUMA = replace(
    GRAYSCALE_INVERSE,
    name="grayscale_inverse_luma",
    summary="Sets the three channels to 255 minus their luma, as in the authors' code.",
    parameters=_LUMA,
    alternative_to="grayscale_inverse",
)

VQA_ROBUSTNESS = Suite(
    "vqa-robustness",
    "VQA robustness (VRE)",
    "Ishmam et al. (2025), Visual Robustness Benchmark for VQA: the corruptions of Table A.1, and, outside "
    "the default set, those that are only in its taxonomy (Figure A.1)",
    (1, 2, 3, 4, 5),
    {
        "noise": (
            SHOT_NOISE,
            GAUSSIAN_NOISE,
            IMPULSE_NOISE,
            SPECKLE_NOISE,
            SALT_AND_PEPPER,
            RANDOM_VALUED_IMPULSE_NOISE,
            BINARY_THRESHOLD,
        ),
        "blur": (DEFOCUS_BLUR, ZOOM_BLUR, replace(GLASS_BLUR, in_default=False)),
        "weather": (SNOW,),
        "image_attribute": (
            BRIGHTNESS,
            CONTRAST,
            SATURATE,
            INVERSE,
            GRAYSCALE,
            GRAYSCALE_LUMA,
            GRAYSCALE_INVERSE,
            GRAYSCALE_INVERSE_LUMA,
        ),
        "physical": (ELASTIC_TRANSFORM, SPATTER),
        "digital": (PIXELATE, PIXELATE_UPSCALED, JPEG_COMPRESSION),
    },
)
