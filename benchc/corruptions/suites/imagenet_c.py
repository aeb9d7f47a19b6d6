"""ImageNet-C's 19 corruptions in Bench-C's five groups, as in the imagecorruptions package."""

from benchc.corruptions.suite import CorruptionType, Suite, decided, published

_KERNELS = "benchc.corruptions.kernels"
_CODE = "Hendrycks and Dietterich (2019), create_c, and imagecorruptions"
_PACKAGE = "imagecorruptions (Michaelis et al., 2019)"
_HENDRYCKS = "Hendrycks and Dietterich (2019), create_c"

BRIGHTNESS = CorruptionType(
    "brightness",
    "Increases the value of HSV.",
    f"{_KERNELS}.photometric.brightness",
    {"shift": published(_CODE, 0.1, 0.2, 0.3, 0.4, 0.5)},
)
CONTRAST = CorruptionType(
    "contrast",
    "Moves every channel towards its mean.",
    f"{_KERNELS}.photometric.contrast",
    {"factor": published(_CODE, 0.4, 0.3, 0.2, 0.1, 0.05)},
)
SATURATE = CorruptionType(
    "saturate",
    "Scales the saturation of HSV: severities 1 and 2 reduce it, 3 to 5 increase it.",
    f"{_KERNELS}.photometric.saturate",
    {
        "factor": published(_CODE, 0.3, 0.1, 2.0, 5.0, 20.0),
        "shift": published(_CODE, 0.0, 0.0, 0.0, 0.1, 0.2),
    },
    ordered=False,
)
DEFOCUS_BLUR = CorruptionType(
    "defocus_blur",
    "Convolves with a smoothed disk.",
    f"{_KERNELS}.defocus_blur.defocus_blur",
    {
        "radius": published(_CODE, 3, 4, 6, 8, 10),
        "alias_blur": published(_CODE, 0.1, 0.5, 0.5, 0.5, 0.5),
    },
)
GAUSSIAN_BLUR = CorruptionType(
    "gaussian_blur",
    "Convolves with a Gaussian (pixels).",
    f"{_KERNELS}.gaussian_blur.gaussian_blur",
    {"sigma": published(_CODE, 1.0, 2.0, 3.0, 4.0, 6.0)},
)
_GLASS = {
    "sigma": published(_CODE, 0.7, 0.9, 1.0, 1.1, 1.5),
    "max_delta": published(_CODE, 1, 2, 2, 3, 4),
    "iterations": published(_CODE, 2, 1, 3, 2, 2),
}
GLASS_BLUR = CorruptionType(
    "glass_blur",
    "Blurs, copies random nearby pixels, blurs again.",
    f"{_KERNELS}.glass_blur.glass_blur",
    _GLASS
    | {
        "swap": published(
            "the published code and images: its swap is a copy, because of numpy's views", *[False] * 5
        )
    },
    noise="draw_glass_offsets",
)
GLASS_BLUR_SWAP = CorruptionType(
    "glass_blur_swap",
    "Blurs, swaps random nearby pixels, blurs again, as the published code intends.",
    f"{_KERNELS}.glass_blur.glass_blur",
    _GLASS | {"swap": decided("the code as written", *[True] * 5)},
    noise="draw_glass_offsets",
    in_default=False,
    alternative_to="glass_blur",
)
MOTION_BLUR = CorruptionType(
    "motion_blur",
    "Averages along a random direction within 45 degrees of the horizontal.",
    f"{_KERNELS}.motion_blur.motion_blur",
    {
        "radius": published(_CODE, 10, 15, 15, 15, 20),
        "sigma": published(_CODE, 3.0, 5.0, 8.0, 12.0, 15.0),
    },
    noise="draw_motion_angle",
)
ZOOM_BLUR = CorruptionType(
    "zoom_blur",
    "Averages the image and its enlargements.",
    f"{_KERNELS}.zoom_blur.zoom_blur",
    {
        "stop": published(_CODE, 1.11, 1.16, 1.21, 1.26, 1.31),
        "step": published(_CODE, 0.01, 0.01, 0.02, 0.02, 0.03),
    },
)
GAUSSIAN_NOISE = CorruptionType(
    "gaussian_noise",
    "Adds normal noise to every value.",
    f"{_KERNELS}.noise.gaussian_noise",
    {"std": published(_CODE, 0.08, 0.12, 0.18, 0.26, 0.38)},
    noise="draw_normal",
)
IMPULSE_NOISE = CorruptionType(
    "impulse_noise",
    "Sets a fraction of the values to 0 or 255.",
    f"{_KERNELS}.noise.impulse_noise",
    {"amount": published(_CODE, 0.03, 0.06, 0.09, 0.17, 0.27)},
    noise="draw_uniform",
)
SHOT_NOISE = CorruptionType(
    "shot_noise",
    "Samples every value from a Poisson distribution; white has the mean `photons`.",
    f"{_KERNELS}.noise.shot_noise",
    {"photons": published(_CODE, 60, 25, 12, 5, 3)},
    noise="draw_uniform",
)
SPECKLE_NOISE = CorruptionType(
    "speckle_noise",
    "Adds normal noise proportional to the value.",
    f"{_KERNELS}.noise.speckle_noise",
    {"std": published(_CODE, 0.15, 0.2, 0.35, 0.45, 0.6)},
    noise="draw_normal",
)
FOG = CorruptionType(
    "fog",
    "Blends with a plasma fractal.",
    f"{_KERNELS}.fog.fog",
    {
        "mix": published(_CODE, 1.5, 2.0, 2.5, 2.5, 3.0),
        "wibble_decay": published(_CODE, 2.0, 2.0, 1.7, 1.5, 1.4),
    },
    noise="draw_plasma",
)
_FROST = {
    "image_weight": published(_CODE, 1.0, 0.8, 0.7, 0.65, 0.6),
    "frost_weight": published(_CODE, 0.4, 0.6, 0.7, 0.7, 0.75),
}
FROST = CorruptionType(
    "frost",
    "Blends with a random crop of one of five photographs of frost.",
    f"{_KERNELS}.frost.frost",
    _FROST | {"textures": published("both public implementations never use the sixth file", *[5] * 5)},
    noise="draw_frost",
)
FROST_SIX = CorruptionType(
    "frost_six",
    "Blends with a random crop of one of six photographs of frost.",
    f"{_KERNELS}.frost.frost",
    _FROST | {"textures": decided("all files in the packages, as in imagecorruptions-imaug", *[6] * 5)},
    noise="draw_frost",
    in_default=False,
    alternative_to="frost",
)
SNOW = CorruptionType(
    "snow",
    "Whitens, and adds flakes with motion blur.",
    f"{_KERNELS}.snow.snow",
    {
        "mean": published(_CODE, 0.1, 0.2, 0.55, 0.55, 0.55),
        "std": published(_CODE, 0.3, 0.3, 0.3, 0.3, 0.3),
        "zoom": published(_CODE, 3.0, 2.0, 4.0, 4.5, 2.5),
        "threshold": published(_CODE, 0.5, 0.5, 0.9, 0.85, 0.85),
        "radius": published(_CODE, 10, 12, 12, 12, 12),
        "sigma": published(_CODE, 4.0, 4.0, 8.0, 8.0, 12.0),
        "mix": published(_CODE, 0.8, 0.7, 0.7, 0.65, 0.55),
    },
    noise="draw_snow",
)
SPATTER = CorruptionType(
    "spatter",
    "Adds drops of water (severities 1 to 3) or mud (4 and 5).",
    f"{_KERNELS}.spatter.spatter",
    {
        "mean": published(_CODE, 0.65, 0.65, 0.65, 0.65, 0.67),
        "std": published(_CODE, 0.3, 0.3, 0.3, 0.3, 0.4),
        "sigma": published(_CODE, 4.0, 3.0, 2.0, 1.0, 1.0),
        "threshold": published(_CODE, 0.69, 0.68, 0.68, 0.65, 0.65),
        "intensity": published(_CODE, 0.6, 0.6, 0.5, 1.5, 1.5),
        "mud": published(_CODE, False, False, False, True, True),
    },
    noise="draw_spatter",
)
JPEG_COMPRESSION = CorruptionType(
    "jpeg_compression",
    "Compresses as JPEG.",
    f"{_KERNELS}.digital.jpeg_compression",
    {"quality": published(_CODE, 25, 18, 15, 10, 7)},
)
_PIXELATE = {"scale": published(_CODE, 0.6, 0.5, 0.4, 0.3, 0.25)}
PIXELATE = CorruptionType(
    "pixelate",
    "Downscales by box averages and upscales to blocks.",
    f"{_KERNELS}.digital.pixelate",
    _PIXELATE | {"enlarge": published(_PACKAGE, *["nearest"] * 5)},
)
PIXELATE_BOX = CorruptionType(
    "pixelate_box",
    "Downscales and upscales by box averages, as in ImageNet-C's code.",
    f"{_KERNELS}.digital.pixelate",
    _PIXELATE | {"enlarge": published(_HENDRYCKS, *["box"] * 5)},
    in_default=False,
    alternative_to="pixelate",
)
ELASTIC_TRANSFORM = CorruptionType(
    "elastic_transform",
    "Displaces pixels by a smoothed random field, relative to the image size.",
    f"{_KERNELS}.elastic.elastic_transform",
    {
        "alpha": published(_PACKAGE, 12.5, 16.25, 21.25, 25.0, 30.0),
        "sigma": published(f"{_PACKAGE}, fraction of each side", *[0.01] * 5),
        "max_shift": published(f"{_PACKAGE}, fraction of the height", *[0.005] * 5),
    },
    noise="draw_elastic",
)
ELASTIC_TRANSFORM_AFFINE = CorruptionType(
    "elastic_transform_affine",
    "Applies a random affine map and a smoothed random displacement (pixels), as in ImageNet-C's code.",
    f"{_KERNELS}.elastic.elastic_transform_affine",
    {
        "alpha": published(_HENDRYCKS, 488.0, 488.0, 12.2, 17.08, 29.28),
        "sigma": published(_HENDRYCKS, 170.8, 19.52, 2.44, 2.44, 2.44),
        "affine": published(f"{_HENDRYCKS}, in pixels", 24.4, 48.8, 4.88, 4.88, 4.88),
    },
    noise="draw_elastic_affine",
    # Severities 1 and 2 are the strongest with the published numbers.
    ordered=False,
    in_default=False,
    alternative_to="elastic_transform",
)

IMAGENET_C = Suite(
    "imagenet-c",
    "ImageNet-C",
    "Hendrycks and Dietterich (2019): 15 corruptions and 4 for validation, in the groups of Bench-C",
    (1, 2, 3, 4, 5),
    {
        "photometric": (BRIGHTNESS, CONTRAST, SATURATE),
        "blur": (DEFOCUS_BLUR, GAUSSIAN_BLUR, GLASS_BLUR, GLASS_BLUR_SWAP, MOTION_BLUR, ZOOM_BLUR),
        "noise": (GAUSSIAN_NOISE, IMPULSE_NOISE, SHOT_NOISE, SPECKLE_NOISE),
        "weather": (FOG, FROST, FROST_SIX, SNOW, SPATTER),
        "digital": (
            JPEG_COMPRESSION,
            PIXELATE,
            PIXELATE_BOX,
            ELASTIC_TRANSFORM,
            ELASTIC_TRANSFORM_AFFINE,
        ),
    },
)
