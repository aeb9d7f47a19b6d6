"""What the selection says of the sizes of a run."""

from benchc.benchmarks.bench_c.planning.known import with_benchmark
from benchc.planning.known import Images, PoolItems, known_from_items


def test_the_selection_narrows_the_pool() -> None:
    items = PoolItems(
        {"a": 2, "b": 3, "c": 5}, {"a": Images(1, 0.5), "b": Images(2, 1.0), "c": Images(1, 0.25)}
    )
    before = known_from_items(items)
    # An item of an older pool, z, is no longer one that is read.
    after = with_benchmark(before, items, ["z", "c", "b"])
    assert (after.kept, sorted(after.kept_options)) == (2, [3, 5])
    assert after.kept_images == Images(3, 1.25) and after.pool_images == before.pool_images
