"""The corruptions of the Visual Robustness Benchmark for VQA: 14 of its results, and more of its taxonomy.

Most are ImageNet-C's, with its numbers, and share its kernels. Where the two implementations differ:

- Zoom blur cuts height and width by themselves there, as imagecorruptions and our kernel do.
- Snow's flakes are smeared by ImageMagick there, and here as imagecorruptions smears them.
- JPEG is written by OpenCV there and by Pillow here: the same pixels, for both use libjpeg-turbo.
- Shot noise, elastic transform and pixelate have a definition or numbers of their own.
- The authors stored corrupted images as JPEG of quality 95; here they stay without loss.
- The released generator reads images as blue, green, red, turns them once and writes them as if it had not,
  so red and blue change places in its files. The published answers to "what color is", of which up to 76 %
  are right (Table A.2), can hardly come from such images; here colours stay where they are.
"""

from dataclasses import replace

from benchc.corruptions.suite import CorruptionType, Suite, decided, published
from benchc.corruptions.suites.imagenet_c import (
    BRIGHTNESS,
    CONTRAST,
    DEFOCUS_BLUR,
    ELASTIC_TRANSFORM_AFFINE,
    GAUSSIAN_NOISE,
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
    "Adds a Poisson count to every value in [0, 1]; a count of 1 is already white.",
    f"{_KERNELS}.additive_noise.additive_shot_noise",
    {"rate": published(_CODE, 0.08, 0.2, 0.5, 0.8, 1.2)},
    noise="draw_uniform",
)
ELASTIC_TRANSFORM = replace(
    ELASTIC_TRANSFORM_AFFINE,
    name="elastic_transform",
    summary="Displaces pixels by a random affine map and a smoothed random field, in pixels: severities 1 "
    "and 2 bend the whole picture, 3 to 5 ripple its edges.",
    in_default=True,
    variant_of=None,
    ordered=False,
)
_SCALE = {"scale": published(_CODE, 0.6, 0.5, 0.4, 0.3, 0.15)}
PIXELATE = CorruptionType(
    "pixelate",
    "Shrinks by the means of areas and stays small, as the published results were made.",
    f"{_KERNELS}.downscale.pixelate_small",
    _SCALE,
    resizes=True,
)
PIXELATE_UPSCALED = CorruptionType(
    "pixelate_upscaled",
    "Shrinks and enlarges bilinearly, as the supplement says.",
    f"{_KERNELS}.downscale.pixelate_bilinear",
    _SCALE,
    in_default=False,
    variant_of="pixelate",
)

_SHARES = (0.03, 0.06, 0.09, 0.17, 0.27)
_AMOUNT = {
    "amount": decided(
        "the paper names no strength; the shares of ImageNet-C's impulse_noise, of pixels instead of values",
        *_SHARES,
    )
}
SALT_AND_PEPPER = CorruptionType(
    "salt_and_pepper",
    "Sets a share of the pixels to black or white, in all channels at once.",
    f"{_KERNELS}.value_assignment.salt_and_pepper",
    _AMOUNT,
    noise="draw_rank",
    in_default=False,
)
RANDOM_VALUED_IMPULSE_NOISE = CorruptionType(
    "random_valued_impulse_noise",
    "Sets a share of the pixels to random greys.",
    f"{_KERNELS}.value_assignment.random_valued_impulse_noise",
    _AMOUNT,
    noise="draw_impulses",
    in_default=False,
)
BINARY_THRESHOLD = CorruptionType(
    "binary_threshold",
    "Sets every value above a threshold to 255 and every other to 0, in each channel by itself.",
    f"{_KERNELS}.value_assignment.binary_threshold",
    {"threshold": decided("the paper names none; the middle of the range", *[127] * 5)},
    in_default=False,
    ordered=False,
)
INVERSE = CorruptionType(
    "inverse",
    "Turns every value v into 255 - v.",
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
    summary="Sets the three channels to their luma, as the authors' code does.",
    parameters=_LUMA,
    variant_of="grayscale",
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
    summary="Sets the three channels to 255 minus their luma, as the authors' code does.",
    parameters=_LUMA,
    variant_of="grayscale_inverse",
)

VQA_ROBUSTNESS = Suite(
    "vqa-robustness",
    "VQA robustness (VRE)",
    "Ishmam et al. (2025), Visual Robustness Benchmark for VQA: the corruptions of its Table A.1, and "
    "outside the default set those that only its taxonomy (figure A.1) has",
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
        "blur": (DEFOCUS_BLUR, ZOOM_BLUR),
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
