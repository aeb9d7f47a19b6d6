"""How many images a run makes of its items' images, and how much disk the corrupted ones take."""

from dataclasses import dataclass

from benchc.planning.amounts import UNKNOWN, Amount
from benchc.planning.known import Images, Known

# Of lossless WebP, mean over all corruptions and severities of photographs (docs/benchmarks.md). Drawings
# and screenshots take less.
BYTES_PER_MEGAPIXEL = 1.11e6


@dataclass(frozen=True)
class Pictures:
    """The images of some items: ``made`` of them are embedded or corrupted, in ``variants`` each.

    ``times`` says how many jobs' models have them made anew; ``disk`` is bytes, None where nothing is kept.
    """

    what: str
    items: Amount
    images: Amount
    variants: int
    times: int
    disk: Amount | None

    @property
    def made(self) -> Amount:
        """Return how many pictures come about."""
        return self.images.times(self.variants * self.times)


def count_of(images: Images | None) -> Amount:
    """Return how many images these are; None is unknown."""
    return UNKNOWN if images is None else Amount(images.count, "exact")


def disk_of(known: Known, images: Images | None, whole: int) -> Amount:
    """Return the bytes of images in ``whole`` variants: as written, else estimated from their megapixels."""
    if known.corrupted_bytes is not None:
        return Amount(known.corrupted_bytes, "exact")
    if images is None:
        return UNKNOWN
    return Amount(round(images.megapixels * whole * BYTES_PER_MEGAPIXEL), "assumed")
