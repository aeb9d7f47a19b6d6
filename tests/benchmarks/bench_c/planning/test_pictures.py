"""Pictures and disk are counts of images."""

from benchc.benchmarks.bench_c.planning.known import Known
from benchc.benchmarks.bench_c.planning.pictures import pictures
from benchc.planning.amounts import UNKNOWN, Amount
from benchc.planning.known import Images
from tests.benchmarks.bench_c.planning.plans import settings_of

# The pool's items show 2 of 12 images twice, the benchmark's one of 5.
POOL_IMAGES = {"pool_images": Images(14, 3.5), "pool_distinct": Images(12, 3.0)}
IMAGES = {**POOL_IMAGES, "kept_images": Images(6, 1.2), "kept_distinct": Images(5, 1.0)}


def test_files_hold_the_pool_in_all_variants() -> None:
    known = Known(10, True, kept=4, **IMAGES)
    embedded, corrupted = pictures(settings_of("demo"), known)
    assert (embedded.made, embedded.disk) == (Amount(14, "exact"), None)
    assert corrupted.made == Amount(12 * 96, "exact")
    assert corrupted.disk == Amount(round(3.0 * 96 * 1.11e6), "assumed")


def test_on_the_fly_only_the_benchmark_is_written() -> None:
    settings = settings_of("config")
    known = Known(10, True, kept=4, **IMAGES)
    _, made, written = pictures(settings, known)
    assert (made.made, made.disk) == (Amount(3 * 14 * 96, "exact"), None)
    assert (written.made, written.disk) == (Amount(5 * 96, "exact"), Amount(106_560_000, "assumed"))
    _, _, before = pictures(settings, Known(10, True, **POOL_IMAGES))
    assert before.items == Amount(10, "at most")
    assert (before.made, before.disk) == (Amount(12 * 96, "at most"), Amount(319_680_000, "assumed bound"))


def test_written_files_are_measured_and_missing_pools_unknown() -> None:
    known = Known(10, True, kept=4, **IMAGES, corrupted_bytes=77)
    assert pictures(settings_of("demo"), known)[-1].disk == Amount(77, "exact")
    assert pictures(settings_of("config"), known)[-1].disk == Amount(77, "exact")
    embedded, corrupted = pictures(settings_of("demo"), Known())
    assert embedded.made == corrupted.made == corrupted.disk == UNKNOWN
