"""Corrupt one image in memory: the function for use from Python."""

from benchc.corruptions.apply import apply
from benchc.corruptions.registry import Engine, recipe_of
from benchc.corruptions.suite import Suite
from benchc.pixels import Pixels


def corrupt(
    image: Pixels,
    name: str,
    severity: int,
    *,
    seed: int,
    suite: str | Suite = "imagenet-c",
    engine: Engine = "benchc",
) -> Pixels:
    """Return ``image`` under the corruption ``name`` of ``suite``, as a new array::

        from benchc.corruptions import corrupt
        foggy = corrupt(pixels, "fog", 3, seed=1)

    Args:
        image: uint8[H, W, 3], RGB, H and W at least 1. Grey images have three equal channels.
        name: any corruption of the suite, also outside its default set, or ``clean``.
        severity: a severity of the suite, or 0, which returns the pixels unchanged; ``clean`` has only
            severity 0.
        seed: at least 0; the pixels are a pure function of all arguments.
        suite: a key of ``registry.SUITES``, or a suite, such as that of ``own_suite.suite_with``.
        engine: ``benchc`` for this package's kernels; ``imgaug`` for imgaug's ``imgcorruptlike``, which has
            only the 19 corruptions of ImageNet-C and is not thread-safe, as it sets numpy's global random
            state during the call.

    The result has the shape of ``image``, except for types that change it by definition (``resizes``). Sides
    below 32 pixels are padded by mirroring to 32 and cropped afterwards.

    Raises TypeError for anything but an array of uint8 and an integer seed, ValueError for another shape and
    for unknown names, and ImageError for sides above the limit of a corruption's file format.
    """
    return apply(recipe_of(name, suite, engine), image, severity, seed)
