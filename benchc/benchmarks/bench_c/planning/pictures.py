"""The images that a run of Bench-C embeds and corrupts."""

from benchc.benchmarks.bench_c.planning.known import Known
from benchc.benchmarks.bench_c.planning.predictions import stages
from benchc.benchmarks.bench_c.settings import Settings
from benchc.planning.amounts import Amount, joined
from benchc.planning.pictures import Pictures, count_of, disk_of
from benchc.planning.stages import variants


def pictures(settings: Settings, known: Known) -> list[Pictures]:
    """Return what the image encoder embeds and what is corrupted.

    With corruptions.corrupted: files, all images of the pool are corrupted once and written. On the fly, each
    selector makes those of the pool anew, for every item, and only the benchmark's are written; those of a
    random subset, which each target makes anew, are not counted here. The disk is estimated from the images'
    own megapixels until all are written.
    """
    pool, kept = stages(settings, known)[:2]
    whole = variants(settings.corruptions)
    pool_images = count_of(known.pool_images)
    embedded = Pictures("embedded", pool.items, pool_images, 1, 1, None)
    if settings.corruptions.corrupted == "files":
        disk = disk_of(known, known.pool_distinct, whole)
        once = count_of(known.pool_distinct)
        return [embedded, Pictures("corrupted, written: pool", pool.items, once, whole, 1, disk)]
    unwritten = Pictures(
        "corrupted by each selector: pool", pool.items, pool_images, whole, len(pool.models), None
    )
    kept_images = count_of(known.kept_distinct)
    disk = disk_of(known, known.kept_distinct, whole)
    if known.kept is None and known.pool_distinct is not None:
        kept_images = Amount(known.pool_distinct.count, "at most")
        most = disk_of(known, known.pool_distinct, whole)
        disk = Amount(most.value, joined([most.kind, "at most"]))
    written = Pictures("corrupted, written: benchmark", kept.items, kept_images, whole, 1, disk)
    return [embedded, unwritten, written]
