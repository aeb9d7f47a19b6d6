"""How many images a run embeds and corrupts, and how much disk the corrupted ones take."""

from dataclasses import dataclass

from benchc.config.settings import Settings
from benchc.planning.known import Images, Known
from benchc.planning.reads import UNKNOWN, Amount, joined, stages, variants

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


def pictures(settings: Settings, known: Known) -> list[Pictures]:
    """Return what the image encoder embeds and what is corrupted.

    With corruptions.corrupted: files, all images of the pool are corrupted once and written. On the fly, each
    selector makes those of the pool anew, for every item, and only the benchmark's are written; those of a
    random subset, which each target makes anew, are not counted here. The disk is estimated from the images'
    own megapixels until all are written.
    """
    pool, kept = stages(settings, known)[:2]
    whole = variants(settings)
    pool_images = _count(known.pool_images)
    embedded = Pictures("embedded", pool.items, pool_images, 1, 1, None)
    if settings.corruptions.corrupted == "files":
        disk = _disk(known, known.pool_distinct, whole)
        once = _count(known.pool_distinct)
        return [embedded, Pictures("corrupted, written: pool", pool.items, once, whole, 1, disk)]
    unwritten = Pictures(
        "corrupted by each selector: pool", pool.items, pool_images, whole, len(pool.models), None
    )
    kept_images = _count(known.kept_distinct)
    disk = _disk(known, known.kept_distinct, whole)
    if known.kept is None and known.pool_distinct is not None:
        kept_images = Amount(known.pool_distinct.count, "at most")
        most = _disk(known, known.pool_distinct, whole)
        disk = Amount(most.value, joined([most.kind, "at most"]))
    written = Pictures("corrupted, written: benchmark", kept.items, kept_images, whole, 1, disk)
    return [embedded, unwritten, written]


def _count(images: Images | None) -> Amount:
    return UNKNOWN if images is None else Amount(images.count, "exact")


def _disk(known: Known, images: Images | None, whole: int) -> Amount:
    if known.corrupted_bytes is not None:
        return Amount(known.corrupted_bytes, "exact")
    if images is None:
        return UNKNOWN
    return Amount(round(images.megapixels * whole * BYTES_PER_MEGAPIXEL), "assumed")
