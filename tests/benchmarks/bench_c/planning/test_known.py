"""What the selection says of the sizes of a run."""

from benchc.benchmarks.bench_c.planning.known import with_benchmark
from benchc.planning.known import Images, PoolItems, known_from_items


def test_the_selection_narrows_the_pool() -> None:
    # b and c show one image, and b another one twice.
    images = {"a": [("s://x", 500_000)], "b": [("y", 250_000)] * 2 + [("z", 10**6)], "c": [("z", 10**6)]}
    items = PoolItems({"a": 2, "b": 3, "c": 5}, images)
    before = known_from_items(items)
    # An item of an older pool, z, is no longer one that is read.
    after = with_benchmark(before, items, ["z", "c", "b"])
    assert (after.kept, sorted(after.kept_options)) == (2, [3, 5])
    assert after.kept_images == Images(4, 2.5) and after.pool_images == before.pool_images
    assert after.kept_distinct == Images(2, 1.25) and after.pool_distinct == before.pool_distinct
