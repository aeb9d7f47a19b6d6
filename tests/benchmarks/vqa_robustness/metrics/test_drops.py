import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchc.benchmarks.vqa_robustness.metrics.drops import drops
from tests.benchmarks.vqa_robustness.published import accuracies_of_notebook, errors_of_table_a1
from tests.shared_data import needs_shared

ERRORS = arrays(float, (3, 4, 6), elements=st.integers(0, 99).map(lambda value: value / 100))


@given(ERRORS)
def test_drops_are_those_of_loops(errors):
    errors[:, :, 0] = errors[:, :1, 0]  # clean answers are of no corruption
    found = drops(errors)
    for model in range(3):
        clean = 1 - errors[model, 0, 0]
        every = [1 - value for curve in errors[model] for value in curve]
        assert found.clean[model] == pytest.approx(clean)
        assert found.model[model] == pytest.approx(sum(every) / 24)
        assert found.model_drop[model] == pytest.approx((clean - sum(every) / 24) / clean)
        for corruption in range(4):
            mean = sum(1 - errors[model, corruption]) / 6
            assert found.cell_drop[model, corruption] == pytest.approx((clean - mean) / clean)
    clean = sum(1 - errors[:, 0, 0]) / 3
    for corruption in range(4):
        mean = sum(1 - value for model in errors for value in model[corruption]) / 18
        assert found.corruption[corruption] == pytest.approx(mean)
        assert found.corruption_drop[corruption] == pytest.approx((clean - mean) / clean)


def test_without_clean_accuracy_there_is_no_drop():
    errors = np.full((2, 3, 6), 0.5)
    errors[1] = 1, 1, 1, 1, 0.5, 1  # right under corruption alone
    found = drops(errors)
    assert np.isnan(found.model_drop).tolist() == [False, True] and np.isnan(found.cell_drop[1]).all()
    # The mean over models still has clean accuracy.
    np.testing.assert_allclose(found.corruption_drop, -1 / 6)


@needs_shared
def test_the_printed_drops():
    notebook = drops(1 - accuracies_of_notebook() / 100)
    np.testing.assert_allclose(notebook.model, [0.657, 0.710, 0.693, 0.446], atol=0.0005)
    accuracies = [0.547, 0.626, 0.621, 0.643, 0.625, 0.554, 0.606, 0.668, 0.629, 0.649, 0.647, 0.644, 0.657]
    np.testing.assert_allclose(notebook.corruption, [*accuracies, 0.654], atol=0.0005)
    np.testing.assert_allclose(100 * notebook.model_drop, [7.76, 9.29, 10.17, 31.19], atol=0.005)
    # The printed drops, 7.85, 9.21, 10.21 and 31.17, are of rounded accuracies; 10.21 has swapped digits.
    clean = 1 - errors_of_table_a1()[:4, 0, 0]
    from_rounded = 100 * (clean - np.round(notebook.model, 3)) / clean
    np.testing.assert_allclose(from_rounded, [7.85, 9.21, 10.12, 31.17], atol=0.005)
    # The printed row rotates these three: splatter, pixelate, JPEG.
    np.testing.assert_allclose(100 * notebook.corruption_drop[-3:], [11.59, 9.80, 10.16], atol=0.03)
    table_a1 = drops(errors_of_table_a1()[:4])
    np.testing.assert_allclose(table_a1.cell_drop, notebook.cell_drop, atol=0.003)
