"""R-Bench's 33 dimensions of corruption in seven groups and seven steps from the scene to the model.

The authors published neither their generator nor its strengths, only that the groups follow KADID-10k. Where
KADID-10k has the corruption, the three strengths are its levels 1, 3 and 5; where level 1 is hardly visible
(median 1 - SSIM below 0.01 on 24 photographs of 256 x 192), they are 2, 4 and 5. Sizes in pixels are those of
an image whose short side is 384 pixels, as in KADID-10k, and grow with the image.

KADID-10k also stretches every image to the full range before and after. This is omitted here, as it would
change the contrast of many images in addition to the corruption.
"""

from dataclasses import replace

from benchc.corruptions.suite import CorruptionType, Parameter, Suite, Value, decided

_KERNELS = "benchc.corruptions.kernels"


def _kadid(row: str, levels: str, *values: Value, because: str = "") -> Parameter:
    reason = f"levels {levels} of KADID-10k's distortion {row}"
    return decided(f"{reason}; {because}" if because else reason, *values)


def _pixels(parameter: Parameter) -> Parameter:
    """Return a size in pixels that grows with the image."""
    return replace(parameter, pixels=True)


_HARDLY_VISIBLE = "level 1 is hardly visible"


def _captured(name: str, summary: str) -> CorruptionType:
    return CorruptionType(name, summary, None, {}, in_default=False)


BRIGHT_ILLUMINATION = _captured("bright_illumination", "R-Bench 2: the scene in bright light.")
DARK_ILLUMINATION = _captured("dark_illumination", "R-Bench 3: the scene with little light.")
BLOCKING_OBSTACLE = _captured("blocking_obstacle", "R-Bench 4: the scene behind an obstacle.")
LENS_OBSTACLE = _captured("lens_obstacle", "R-Bench 7: the scene with something on the lens.")
LENS_SHAKING = _captured("lens_shaking", "R-Bench 8: the scene from a camera that shakes.")

MOTION_BLUR = CorruptionType(
    "motion_blur",
    "R-Bench 1: averages along a line in a random direction (pixels).",
    f"{_KERNELS}.kadid_blur.motion_blur",
    {"length": _pixels(_kadid("3 (motion blur)", "2, 4 and 5", 2, 6, 10, because=_HARDLY_VISIBLE))},
    noise="draw_direction",
)
BRIGHT_ILLUMINATION_STAND_IN = CorruptionType(
    "bright_illumination_stand_in",
    "R-Bench 2: overexposes, with veiling glare around a random point in the upper half.",
    f"{_KERNELS}.captured.bright_illumination",
    {
        "gain": decided("0.5, 1 and 1.5 stops of exposure", 1.4, 2.0, 2.8),
        "glare": decided(
            "glare that tints, hides half of, and hides nearly all of the surroundings", 0.2, 0.6, 1.5
        ),
    },
    noise="draw_light",
    in_default=False,
    alternative_to="bright_illumination",
    stand_in=True,
)
DARK_ILLUMINATION_STAND_IN = CorruptionType(
    "dark_illumination_stand_in",
    "R-Bench 3: underexposes, with sensor noise.",
    f"{_KERNELS}.captured.dark_illumination",
    {"gain": decided("1.5, 3 and 5 stops less light", 0.35, 0.125, 0.03)},
    noise="draw_bits",
    in_default=False,
    alternative_to="dark_illumination",
    stand_in=True,
)
BLOCKING_OBSTACLE_STAND_IN = CorruptionType(
    "blocking_obstacle_stand_in",
    "R-Bench 4: hides a fraction of the image behind an object of random outline and colour.",
    f"{_KERNELS}.captured.blocking_obstacle",
    {"cover": decided("from a small part to a third of the image", 0.05, 0.15, 0.35)},
    noise="draw_obstacle",
    in_default=False,
    alternative_to="blocking_obstacle",
    stand_in=True,
)
LENS_BLUR = CorruptionType(
    "lens_blur",
    "R-Bench 5: averages over a disc (pixels).",
    f"{_KERNELS}.kadid_blur.lens_blur",
    {"radius": _pixels(_kadid("2 (lens blur)", "1, 3 and 5", 1, 4, 8))},
)
RESOLUTION_LIMIT = CorruptionType(
    "resolution_limit",
    "R-Bench 6: downscales and upscales smoothly.",
    f"{_KERNELS}.resampling.resolution_limit",
    {
        "scale": decided(
            "a half, a quarter and an eighth of the sides, as R-Bench mentions upsampling, which KADID-10k's "
            "pixelate (21) does not have",
            1 / 2,
            1 / 4,
            1 / 8,
        )
    },
)
LENS_OBSTACLE_STAND_IN = CorruptionType(
    "lens_obstacle_stand_in",
    "R-Bench 7: hides a fraction of the image behind a dark, defocused object on the lens.",
    f"{_KERNELS}.captured.lens_obstacle",
    {"cover": decided("somewhat more than the blocking obstacle, as its edge is soft", 0.08, 0.2, 0.4)},
    noise="draw_lens_obstacle",
    in_default=False,
    alternative_to="lens_obstacle",
    stand_in=True,
)
LENS_SHAKING_STAND_IN = CorruptionType(
    "lens_shaking_stand_in",
    "R-Bench 8: averages along a random curved path (pixels).",
    f"{_KERNELS}.captured.lens_shaking",
    {"extent": _pixels(decided("twice the lengths of motion_blur, as the path is curved", 4.0, 12.0, 20.0))},
    noise="draw_shake",
    in_default=False,
    alternative_to="lens_shaking",
    stand_in=True,
)
WHITE_NOISE = CorruptionType(
    "white_noise",
    "R-Bench 9: adds normal noise to every value.",
    f"{_KERNELS}.kadid_noise.white_noise",
    {"variance": _kadid("11 (white noise)", "1, 3 and 5", 0.001, 0.003, 0.01)},
    noise="draw_bits",
)
COLOR_NOISE = CorruptionType(
    "color_noise",
    "R-Bench 10: adds normal noise to Y, Cb and Cr.",
    f"{_KERNELS}.kadid_noise.color_noise",
    {"variance": _kadid("12 (white noise in colour components)", "1, 3 and 5", 0.0001, 0.001, 0.003)},
    noise="draw_bits",
)
IMPULSE_NOISE = CorruptionType(
    "impulse_noise",
    "R-Bench 11: sets a fraction of the values to 0 or 255.",
    f"{_KERNELS}.kadid_noise.impulse_noise",
    {"density": _kadid("13 (impulse noise)", "1, 3 and 5", 0.001, 0.01, 0.03)},
    noise="draw_bits",
)
MULTIPLICATIVE_NOISE = CorruptionType(
    "multiplicative_noise",
    "R-Bench 12: adds uniform noise proportional to the value.",
    f"{_KERNELS}.kadid_noise.multiplicative_noise",
    {"variance": _kadid("14 (multiplicative noise)", "1, 3 and 5", 0.001, 0.01, 0.05)},
    noise="draw_bits",
)
CLOCK_JITTER = CorruptionType(
    "clock_jitter",
    "R-Bench 13: samples every pixel at a random displacement (pixels).",
    f"{_KERNELS}.resampling.clock_jitter",
    {
        "std": _pixels(
            _kadid(
                "19 (jitter)",
                "2, 4 and 5",
                0.22,
                1.12,
                2.24,
                because=f"{_HARDLY_VISIBLE}; times the root of 5, to replace its five passes by one",
            )
        )
    },
    noise="draw_displacement",
)
COLOR_QUANTIZATION = CorruptionType(
    "color_quantization",
    "R-Bench 14: keeps a few colours (minimum variance), without dithering.",
    f"{_KERNELS}.quantization.color_quantization",
    {"colors": _kadid("6 (colour quantization)", "1, 3 and 5", 64, 32, 8)},
)
JPEG2000 = CorruptionType(
    "jpeg2000",
    "R-Bench 15: compresses as JPEG2000.",
    f"{_KERNELS}.codecs.jpeg2000",
    {"ratio": _kadid("9 (JPEG2000)", "1, 3 and 5", 16, 45, 400)},
)
JPEG = CorruptionType(
    "jpeg",
    "R-Bench 16: compresses as JPEG.",
    f"{_KERNELS}.codecs.jpeg",
    {"quality": _kadid("10 (JPEG)", "1, 3 and 5", 43, 24, 4)},
)
WEBP = CorruptionType(
    "webp",
    "R-Bench 17: compresses as lossy WebP.",
    f"{_KERNELS}.codecs.webp",
    {
        "quality": decided(
            "as visible as jpeg of this suite at each strength; KADID-10k has no WebP", 40, 15, 3
        )
    },
)
GRAYSCALE_QUANTIZATION = CorruptionType(
    "grayscale_quantization",
    "R-Bench 18: quantizes every channel to a few even levels.",
    f"{_KERNELS}.quantization.grayscale_quantization",
    {
        "levels": _kadid(
            "22 (quantization)", "1, 3 and 5", 20, 13, 7, because="even levels, as R-Bench defines"
        )
    },
)


def _count() -> Parameter:
    return decided(
        "equal for the four transmission errors; KADID-10k's nearest distortion (23, blocks of colour) has 2 "
        "to 10 larger blocks",
        2,
        8,
        24,
    )


BLOCK_EXCHANGE = CorruptionType(
    "block_exchange",
    "R-Bench 19: exchanges macroblocks (a sixteenth of the short side, at least 16 pixels) in pairs.",
    f"{_KERNELS}.blocks.block_exchange",
    {"count": _count()},
    noise="draw_pairs",
)
BLOCK_REPEAT = CorruptionType(
    "block_repeat",
    "R-Bench 20: replaces macroblocks by the preceding one.",
    f"{_KERNELS}.blocks.block_repeat",
    {"count": _count()},
    noise="draw_blocks",
)
BLOCK_LOSS = CorruptionType(
    "block_loss",
    "R-Bench 21: replaces macroblocks by random pixels.",
    f"{_KERNELS}.blocks.block_loss",
    {"count": _count()},
    noise="draw_losses",
)
BLOCK_INTERPOLATION = CorruptionType(
    "block_interpolation",
    "R-Bench 22: replaces macroblocks by interpolation of the surrounding pixels.",
    f"{_KERNELS}.blocks.block_interpolation",
    {"count": _count()},
    noise="draw_blocks",
)
HSV_SATURATION = CorruptionType(
    "hsv_saturation",
    "R-Bench 23: reduces the saturation of HSV, until the image is grey.",
    f"{_KERNELS}.kadid_colour.hsv_saturation",
    {
        "factor": _kadid(
            "7 (saturation in HSV)", "1, 3 and 4", 0.4, 0.1, 0.0, because="level 5 has the opposite hues"
        )
    },
)
LAB_SATURATION = CorruptionType(
    "lab_saturation",
    "R-Bench 24: amplifies a and b of Lab.",
    f"{_KERNELS}.kadid_colour.lab_saturation",
    {"factor": _kadid("8 (saturation in Lab)", "2, 4 and 5", 2.0, 6.0, 9.0, because=_HARDLY_VISIBLE)},
)
BRIGHTEN = CorruptionType(
    "brighten",
    "R-Bench 25: brightens the midtones.",
    f"{_KERNELS}.kadid_luminance.brighten",
    {"amount": _kadid("16 (brighten)", "2, 4 and 5", 0.2, 0.7, 1.1, because=_HARDLY_VISIBLE)},
)
DARKEN = CorruptionType(
    "darken",
    "R-Bench 26: darkens the midtones.",
    f"{_KERNELS}.kadid_luminance.darken",
    {"amount": _kadid("17 (darken)", "2, 4 and 5", 0.1, 0.4, 0.8, because=_HARDLY_VISIBLE)},
)
MEAN_SHIFT = CorruptionType(
    "mean_shift",
    "R-Bench 27: randomly adds or subtracts a constant.",
    f"{_KERNELS}.kadid_luminance.mean_shift",
    {
        "shift": decided(
            "the nonzero levels of KADID-10k's distortion 18 (mean shift: 0.15, 0.08, 0, -0.08, -0.15), and "
            "a stronger one",
            0.08,
            0.15,
            0.25,
        )
    },
    noise="draw_sign",
)
GAUSSIAN_FILTER = CorruptionType(
    "gaussian_filter",
    "R-Bench 28: convolves with a Gaussian (pixels).",
    f"{_KERNELS}.kadid_blur.gaussian_filter",
    {"sigma": _pixels(_kadid("1 (Gaussian blur)", "2, 4 and 5", 0.5, 2.0, 5.0, because=_HARDLY_VISIBLE))},
)
COLOR_DIFFUSION = CorruptionType(
    "color_diffusion",
    "R-Bench 29: blurs and amplifies a and b of Lab.",
    f"{_KERNELS}.kadid_colour.color_diffusion",
    {
        "amount": _kadid("4 (colour diffusion)", "1, 3 and 5", 1.0, 6.0, 12.0),
        "sigma": _pixels(
            decided("1.5 times the amount, and 2, as in KADID-10k's generator", 3.5, 11.0, 20.0)
        ),
    },
)
COLOR_SHIFT = CorruptionType(
    "color_shift",
    "R-Bench 30: shifts green in a random direction at edges (pixels).",
    f"{_KERNELS}.kadid_colour.color_shift",
    {"amount": _pixels(_kadid("5 (colour shift)", "1, 3 and 5", 1.0, 6.0, 12.0))},
    noise="draw_direction",
)
CNN_DENOISE = CorruptionType(
    "cnn_denoise",
    "R-Bench 31: adds normal noise and removes it by non-local means instead of a network.",
    f"{_KERNELS}.denoising.cnn_denoise",
    {"variance": _kadid("15 (denoise)", "1, 3 and 5", 0.01, 0.05, 0.15)},
    noise="draw_bits",
)
SHARPNESS = CorruptionType(
    "sharpness",
    "R-Bench 32: sharpens L of Lab.",
    f"{_KERNELS}.kadid_contrast.sharpness",
    {
        "amount": _kadid("24 (sharpen)", "1, 3 and 5", 1.0, 3.0, 12.0),
        "sigma": _pixels(decided("as in KADID-10k's generator", *[3.0] * 3)),
    },
)
CONTRAST_CHANGE = CorruptionType(
    "contrast_change",
    "R-Bench 33: randomly increases or reduces the contrast around middle grey.",
    f"{_KERNELS}.kadid_contrast.contrast_change",
    {
        "amount": decided(
            "the smallest two and the largest absolute level of KADID-10k's distortion 25 (contrast: 0.3, "
            "0.15, 0, -0.4, -0.6), of which level 3 is the identity",
            0.15,
            0.3,
            0.6,
        )
    },
    noise="draw_sign",
)

_STEPS: dict[str, tuple[CorruptionType, ...]] = {
    "environment_interference": (
        MOTION_BLUR,
        BRIGHT_ILLUMINATION,
        BRIGHT_ILLUMINATION_STAND_IN,
        DARK_ILLUMINATION,
        DARK_ILLUMINATION_STAND_IN,
        BLOCKING_OBSTACLE,
        BLOCKING_OBSTACLE_STAND_IN,
    ),
    "camera_interference": (
        LENS_BLUR,
        RESOLUTION_LIMIT,
        LENS_OBSTACLE,
        LENS_OBSTACLE_STAND_IN,
        LENS_SHAKING,
        LENS_SHAKING_STAND_IN,
    ),
    "analog_to_digital": (WHITE_NOISE, COLOR_NOISE, IMPULSE_NOISE, MULTIPLICATIVE_NOISE, CLOCK_JITTER),
    "source_encoding": (COLOR_QUANTIZATION, JPEG2000, JPEG, WEBP, GRAYSCALE_QUANTIZATION),
    "channel_transmission": (BLOCK_EXCHANGE, BLOCK_REPEAT, BLOCK_LOSS, BLOCK_INTERPOLATION),
    "receiver_decoding": (HSV_SATURATION, LAB_SATURATION, BRIGHTEN, DARKEN, MEAN_SHIFT),
    "enhancement_postprocess": (
        GAUSSIAN_FILTER,
        COLOR_DIFFUSION,
        COLOR_SHIFT,
        CNN_DENOISE,
        SHARPNESS,
        CONTRAST_CHANGE,
    ),
}

# The paper numbers its dimensions from 1, step by step; a stand-in has the number of what it stands in for.
R_BENCH_INDEX: dict[str, int] = {}
for _type in (type_ for types in _STEPS.values() for type_ in types):
    _of = _type.alternative_to
    R_BENCH_INDEX[_type.name] = len(set(R_BENCH_INDEX.values())) + 1 if _of is None else R_BENCH_INDEX[_of]

R_BENCH = Suite(
    "r-bench",
    "R-Bench",
    "R-Bench (2024): 33 corruptions from the scene to the model, of which five are photographed",
    (1, 2, 3),
    {
        "blur": (MOTION_BLUR, LENS_BLUR, GAUSSIAN_FILTER),
        "luminance": (BRIGHTEN, DARKEN, MEAN_SHIFT),
        "chrominance": (
            COLOR_QUANTIZATION,
            HSV_SATURATION,
            LAB_SATURATION,
            COLOR_DIFFUSION,
            COLOR_SHIFT,
            SHARPNESS,
            CONTRAST_CHANGE,
        ),
        "spatial": (
            RESOLUTION_LIMIT,
            CLOCK_JITTER,
            GRAYSCALE_QUANTIZATION,
            BLOCK_EXCHANGE,
            BLOCK_REPEAT,
            BLOCK_LOSS,
            BLOCK_INTERPOLATION,
        ),
        "noise": (WHITE_NOISE, COLOR_NOISE, IMPULSE_NOISE, MULTIPLICATIVE_NOISE, CNN_DENOISE),
        "compression": (JPEG2000, JPEG, WEBP),
        "wild": (
            BRIGHT_ILLUMINATION,
            BRIGHT_ILLUMINATION_STAND_IN,
            DARK_ILLUMINATION,
            DARK_ILLUMINATION_STAND_IN,
            BLOCKING_OBSTACLE,
            BLOCKING_OBSTACLE_STAND_IN,
            LENS_OBSTACLE,
            LENS_OBSTACLE_STAND_IN,
            LENS_SHAKING,
            LENS_SHAKING_STAND_IN,
        ),
    },
    steps={step: tuple(type_.name for type_ in types) for step, types in _STEPS.items()},
    version=2,
)
