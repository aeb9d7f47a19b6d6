"""The exact checks of the paper's published numbers; the tolerance is half of the last printed digit."""

import numpy as np

from benchc.benchmarks.vqa_robustness.metrics.severity import METRICS, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import studied_weights
from benchc.statistics.ranks import ranks
from tests.benchmarks.vqa_robustness.published import accuracies_of_notebook, errors_of_table_a1, vre_of
from tests.shared_data import needs_shared

DIGITS3 = {"atol": 0.0005 + 1e-12, "rtol": 0}

# shot, Gaussian, impulse, speckle, defocus, zoom, snow, brightness, contrast, saturation, elastic, splatter,
# pixelate, JPEG
NOTEBOOK_VRE_C = [
    *(0.692, 0.401, 0.417, 0.311, 0.379, 0.645, 0.431, 0.200, 0.413, 0.274, 0.312, 0.294, 0.275, 0.268)
]
NOTEBOOK_RANKS = [14, 9, 11, 6, 8, 13, 12, 1, 10, 3, 7, 5, 4, 2]
NOTEBOOK_MEANS = {
    "first_drop": [
        *(0.362, 0.207, 0.246, 0.199, 0.256, 0.556, 0.334, 0.167, 0.190, 0.197, 0.193, 0.179, 0.182, 0.198)
    ],
    "range": [
        *(1.254, 0.795, 0.791, 0.553, 0.651, 0.977, 0.664, 0.311, 0.892, 0.437, 0.619, 0.512, 0.554, 0.475)
    ],
    "error_rate": [
        *(0.064, 0.038, 0.037, 0.027, 0.032, 0.045, 0.033, 0.015, 0.041, 0.023, 0.027, 0.026, 0.023, 0.022)
    ],
    "average_error": [
        *(0.453, 0.374, 0.379, 0.357, 0.375, 0.446, 0.394, 0.332, 0.371, 0.351, 0.353, 0.356, 0.343, 0.346)
    ],
    "average_difference": [
        *(0.218, 0.124, 0.130, 0.102, 0.124, 0.210, 0.147, 0.072, 0.119, 0.096, 0.098, 0.101, 0.086, 0.089)
    ],
}


def notebook_errors() -> np.ndarray:
    return 1 - accuracies_of_notebook() / 100


@needs_shared
def test_vre_of_corruptions_is_that_of_the_notebook():
    of_notebook = vre_of(notebook_errors())
    np.testing.assert_allclose(of_notebook.corruption, NOTEBOOK_VRE_C, **DIGITS3)
    assert ranks(of_notebook.corruption).tolist() == NOTEBOOK_RANKS
    means = severity_metrics(notebook_errors()).mean(axis=1)
    for name, values in zip(METRICS, means, strict=True):
        np.testing.assert_allclose(values, NOTEBOOK_MEANS[name], **DIGITS3)


def test_vre_of_table_a1():
    """Computed from the printed table by two independent programs; no VRE of a model is published."""
    four, six = vre_of(errors_of_table_a1()[:4]), vre_of(errors_of_table_a1())
    tolerance = {"atol": 0.00005 + 1e-12, "rtol": 0}
    np.testing.assert_allclose(four.model, [0.2214, 0.2736, 0.3066, 0.7118], **tolerance)
    np.testing.assert_allclose(six.model, [0.2297, 0.2833, 0.3155, 0.7112, 0.2569, 0.2895], **tolerance)
    expected = [0.689, 0.37, 0.408, 0.296, 0.374, 0.615, 0.413, 0.15, 0.367, 0.24, 0.276, 0.267, 0.208, 0.197]
    np.testing.assert_allclose(six.corruption, expected, **DIGITS3)


@needs_shared
def test_vre_under_the_weights_of_the_study():
    expected = {
        "first_drop": [0.165, 0.265, 0.262, 0.810],
        "range": [0.219, 0.328, 0.366, 0.558],
        "error_rate": [0.244, 0.293, 0.344, 0.585],
        "average_error": [0.259, 0.210, 0.251, 0.815],
        "average_difference": [0.220, 0.286, 0.314, 0.793],
    }
    weights = studied_weights()
    assert list(weights) == ["equal", *METRICS]
    np.testing.assert_allclose(weights["range"], [0.1, 0.6, 0.1, 0.1, 0.1])
    for name, values in expected.items():
        np.testing.assert_allclose(vre_of(notebook_errors(), weights[name]).model, values, **DIGITS3)


def test_the_published_errors_were_sorted_but_for_the_clean_ones():
    steps = np.diff(errors_of_table_a1())
    assert (steps[:, :, 1:] >= 0).all()
    falls = np.argwhere(steps[:, :, 0] < 0)
    assert len(falls) == 3 and set(falls[:, 0]) == {0}  # ViLT


@needs_shared
def test_the_published_accuracies_are_of_two_sets_of_questions():
    vilt, blip, vle, pnp = accuracies_of_notebook()

    def multiples(accuracy: np.ndarray, questions: int) -> int:
        """Return how many printed values are a multiple of 1 / ``questions``, to their last digit."""
        of = accuracy / 100 * questions
        return int((np.abs(of - np.round(of)) < 0.0005 / 100 * questions + 1e-9).sum())

    others = np.stack([vilt, blip, pnp])[:, :, 1:]
    assert (multiples(others, 16_000), others.size) == (209, 210)
    assert multiples(vle[:, 1:], 3_000) == vle[:, 1:].size
    assert multiples(vilt[:1, :1], 16_000) == 0
    # The clean error of PNP jumps under every corruption at level 1.
    assert (pnp[:, 0] - pnp[:, 1] > 15).all()
