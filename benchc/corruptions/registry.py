"""Which corruptions there are: suites as data.

Modules are named here and never imported, so that reading the registry costs nothing and an edit of one
kernel module concerns only the corruptions it holds.
"""

import difflib
from collections.abc import Mapping

# Severity 0 of every corruption, and the only severity of this one, is the image itself.
CLEAN = "clean"
SEVERITIES = (1, 2, 3, 4, 5)

SUITES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    # Hendrycks and Dietterich (2019): its 15 corruptions and 4 more for validation, in Bench-C's families.
    "imagenet-c": {
        "photometric": ("brightness", "contrast", "saturate"),
        "blur": ("defocus_blur", "gaussian_blur", "glass_blur", "motion_blur", "zoom_blur"),
        "noise": ("gaussian_noise", "impulse_noise", "shot_noise", "speckle_noise"),
        "weather": ("fog", "frost", "snow", "spatter"),
        "digital": ("jpeg_compression", "pixelate", "elastic_transform"),
    },
}

# The module that holds a family's kernels: a function `name(image, severity, seed)` for every corruption.
KERNEL_MODULES: Mapping[str, Mapping[str, str]] = {
    "imagenet-c": {
        "photometric": "benchc.corruptions.photometric",
        "blur": "benchc.corruptions.blur",
        "noise": "benchc.corruptions.noise",
        "weather": "benchc.corruptions.weather",
        "digital": "benchc.corruptions.digital",
    },
}


def corruptions_of(suite: str) -> tuple[str, ...]:
    """Return the names of a suite's corruptions, family by family. Raises ValueError for an unknown suite."""
    return tuple(name for names in _families(suite).values() for name in names)


def family_of(name: str, suite: str = "imagenet-c") -> str:
    """Return the family of a corruption. Raises ValueError for a name or a suite that is not known."""
    for family, names in _families(suite).items():
        if name in names:
            return family
    known = corruptions_of(suite)
    nearest = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {nearest[0]!r}?" if nearest else f"there are {', '.join(known)}"
    raise ValueError(f"suite {suite!r} has no corruption {name!r}; {hint}")


def kernel_module(name: str, suite: str = "imagenet-c") -> str:
    """Return the dotted path of the module that holds a corruption's kernel.

    Raises ValueError for a name or a suite that is not known.
    """
    return KERNEL_MODULES[suite][family_of(name, suite)]


def _families(suite: str) -> Mapping[str, tuple[str, ...]]:
    if suite not in SUITES:
        raise ValueError(f"there is no suite {suite!r}; there are {', '.join(SUITES)}")
    return SUITES[suite]
