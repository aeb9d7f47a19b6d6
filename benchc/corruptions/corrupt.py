"""One image under one corruption of a suite: the function that others import."""

from benchc.corruptions.apply import apply
from benchc.corruptions.registry import Engine, recipe_of
from benchc.images import Pixels


def corrupt(
    image: Pixels,
    name: str,
    severity: int,
    *,
    seed: int,
    suite: str = "imagenet-c",
    engine: Engine = "benchc",
) -> Pixels:
    """Return ``image`` under the corruption ``name`` of ``suite``, as a new array.

    Args:
        image: uint8[H, W, 3], RGB, H and W at least 1. Grey images have three equal channels.
        name: a corruption of the suite, in its default set or not, or ``clean``.
        severity: a severity of the suite, or 0, which gives the pixels back unchanged; ``clean`` has
            severity 0 only.
        seed: at least 0; the pixels are a pure function of the image, the name, the severity and the seed.
        suite: a key of ``registry.SUITES``.
        engine: ``benchc`` for our kernels; ``imgaug`` for its ``imgcorruptlike``, which has the 19
            corruptions of ImageNet-C and no other, and sets numpy's global random state for the length of the
            call, so that it is not safe under threads.

    The result has the shape of ``image``, except for the few types whose definition changes it (their
    ``resizes`` says so). A side under 32 pixels is mirrored out to 32 around the image and cut back
    afterwards.

    Raises TypeError for what is no array of uint8 and no whole number as a seed, ValueError for another shape
    and for what is not in the registry, and ImageError for sides that a corruption's format does not hold.
    """
    return apply(recipe_of(name, suite, engine), image, severity, seed)
