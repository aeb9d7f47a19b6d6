import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.vqa_robustness.metrics.shares import drawn_shares, estimates
from benchc.randomness import generator_of


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5), st.sampled_from("xyz")), min_size=1, max_size=8),
    st.integers(0, 9),
)
def test_items_of_one_image_are_drawn_together(rows, seed):
    parts = np.array([[part, more] for part, more, _ in rows], dtype=float)
    wholes = parts + np.array([1.0, 0.0])
    drawn = drawn_shares(parts, wholes, [image for *_, image in rows], 4, seed)
    images = sorted({image for *_, image in rows})
    for draw, found in enumerate(drawn):
        chosen = range(len(images))
        if draw:
            chosen = generator_of(seed, "bootstrap", draw).integers(len(images), size=len(images))
        items = [item for image in chosen for item, row in enumerate(rows) if row[2] == images[image]]
        for column in range(2):
            whole = sum(wholes[item, column] for item in items)
            expected = sum(parts[item, column] for item in items) / whole if whole else np.nan
            np.testing.assert_allclose(found[column], expected)


def test_no_interval_where_resamples_agree_or_there_is_no_value():
    drawn = np.array([[0.5, 1.0, np.nan], [0.4, 1.0, 0.3], [0.6, 1.0, np.nan], [0.6, 1.0, 0.5]])
    found = estimates(drawn)
    np.testing.assert_array_equal(found.value, drawn[0])
    assert np.isnan(found.low).tolist() == np.isnan(found.high).tolist() == [False, True, True]
    assert (found.low[0], found.high[0]) == pytest.approx(np.quantile([0.4, 0.6, 0.6], [0.025, 0.975]))
