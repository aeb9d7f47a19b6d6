import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.r_bench.metrics.bootstrap import TAILS_90, Draws, order
from benchc.benchmarks.r_bench.metrics.means import Part, part_means, parts_of
from benchc.statistics.resampling import item_counts, percentile_interval
from tests.benchmarks.r_bench.scored import rows_of, scored, scores


def test_rows_of_one_item_are_drawn_together():
    noise = np.random.default_rng(3)
    rows = rows_of(["jpeg", "white_noise", "lens_blur"], repeats=2)
    items = noise.integers(7, size=rows.height)  # several rows an item, not in order
    items[:7] = np.arange(7)
    values = noise.random((2, rows.height))
    parts = parts_of(*(rows[name].to_list() for name in ("task", "dimension", "severity")))
    counts = item_counts(7, 20, 1)
    found = part_means(values, parts, items, counts)
    for draw, drawn in enumerate(counts):
        weights = drawn[items]
        for place, part in enumerate(parts):
            chosen = weights * part.rows
            expected = values @ chosen / chosen.sum() if chosen.sum() else [np.nan] * 2
            np.testing.assert_allclose(found[draw, :, place], expected)


def test_the_order_of_items_with_many_rows_changes_no_bit():
    noise = np.random.default_rng(3)
    items, values = np.repeat(np.arange(64), 64), 1 - noise.random((1, 64 * 64)) / 9
    counts, whole = item_counts(64, 5, 1), [Part("overall", "overall", np.ones(64 * 64, np.bool_))]
    places = noise.permutation(64)
    moved = part_means(values, whole, places[items], counts[:, np.argsort(places)])
    np.testing.assert_array_equal(moved, part_means(values, whole, items, counts))


def test_a_part_without_rows_has_no_mean():
    rows = rows_of(["jpeg"], [1]).filter(pl.col("task") != "cap")
    found = scored({"A": scores(rows)})
    parts = found.parts(["task", "strength", "step"])
    means = dict(zip((p.name for p in parts), found.draws(parts, 0, 0).absolute[0, 0], strict=True))
    known = {name for name, value in means.items() if not np.isnan(value)}
    assert known == {"mcq", "vqa", "low", "source_encoding"}


def test_stand_ins_are_in_no_step_and_group():
    for name, number in (("lens_obstacle_stand_in", 0), ("lens_obstacle", 1)):
        rows = rows_of([name, "lens_blur"], [2])
        parts = {p.name: p.rows.sum() for p in scored({"A": scores(rows)}).parts()}
        assert [parts[part] for part in ("overall", name)] == [6, 3]
        assert (parts["camera_interference"], parts["wild"]) == (3 * (1 + number), 3 * number)
    # Dimensions are in the order of the paper.
    rows = rows_of(["white_noise", "contrast_change", "motion_blur"])
    names = [p.name for p in scored({"A": scores(rows)}).parts(["dimension"])]
    assert names == ["motion_blur", "white_noise", "contrast_change"]


def test_models_are_ranked_by_the_mean_of_both_measures():
    absolute = np.array([[[0.5], [0.7], [np.nan], [0.6]]])
    relative = np.array([[[0.4], [0.3], [np.nan], [0.3]]])
    draws = Draws(absolute.repeat(5, 0), absolute.repeat(5, 0), relative.repeat(5, 0))
    draws.absolute[1, 1] = 0.0  # last in one of four resamples
    ranks, stable = order(draws.ranking[:, :, 0])
    assert ranks == [2, 1, None, 2]
    assert stable == [0.75, 0.75, None, 0.75]
    # Nine of ten resamples are within a 90 % interval.
    low, high = percentile_interval(np.arange(100.0)[:, None], tails=TAILS_90)
    assert sum(low < value < high for value in range(100)) == 90
    # Nothing is kept of no score.
    of = {"absolute": 0.3, "ref": 0.6, "relative": 0.4}
    drawn = Draws(**{name: np.array([[[value, value]]]) for name, value in of.items()})
    drawn.ref[..., 1] = 0
    np.testing.assert_allclose(drawn.kept, [[[0.5, np.nan]]])
    assert drawn.effect.ravel().tolist() == pytest.approx([0.3, -0.3])
    assert drawn.ranking.ravel().tolist() == pytest.approx([0.35, 0.35])


@given(st.lists(st.integers(0, 35), min_size=1, max_size=60), st.integers(0, 2**32 - 1))
def test_overall_is_the_weighted_mean_of_every_partition_and_no_order_of_rows_changes_a_bit(chosen, seed):
    noise = np.random.default_rng(seed)
    rows = rows_of(["jpeg", "white_noise", "lens_blur", "color_shift"])[chosen]
    items, values = noise.integers(5, size=rows.height), noise.random((2, rows.height))
    items[0] = 4

    def found(order: np.ndarray) -> np.ndarray:
        named = (rows[order][name].to_list() for name in ("task", "dimension", "severity"))
        return part_means(values[:, order], parts_of(*named), items[order], item_counts(5, 4, 1))

    own = found(np.arange(rows.height))
    np.testing.assert_array_equal(own, found(noise.permutation(rows.height)))
    parts = parts_of(*(rows[name].to_list() for name in ("task", "dimension", "severity")))
    for axis in ("task", "strength", "cell", "step", "group", "dimension"):
        means = {p.name: own[0, 0, n] for n, p in enumerate(parts) if p.axis == axis and p.rows.any()}
        sizes = {p.name: p.rows.sum() for p in parts if p.axis == axis}
        total = sum(sizes[name] * mean for name, mean in means.items())
        assert total / rows.height == pytest.approx(own[0, 0, 0])
