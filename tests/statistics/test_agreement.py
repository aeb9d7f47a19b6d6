import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from benchc.statistics.agreement import agreement
from benchc.statistics.resampling import item_counts

# Fleiss' kappa of 10 subjects, 14 raters and 5 categories (Wikipedia, "Fleiss' kappa"): 0.210.
VOTES = [*((0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1))]
VOTES += [*((7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7))]


def once(ratings, categories):
    rows = len(ratings)
    return agreement(np.asarray(ratings), categories, np.arange(rows), np.ones((1, rows)))


def test_fleiss_kappa_of_the_published_example():
    ratings = [np.repeat(np.arange(5), votes) for votes in VOTES]
    found = once(ratings, 5)
    assert round(found.kappa[0], 3) == 0.210 and found.share[0] == 0.1


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=2, max_size=30))
def test_cohens_kappa_is_that_of_scikit_learn(pairs):
    first, second = np.array(pairs).T
    found = once(pairs, 3)
    assert found.share[0] == pytest.approx(np.mean(first == second))
    if len(set(first) | set(second)) == 1:
        assert np.isnan(found.kappa[0])
    else:
        assert found.kappa[0] == pytest.approx(cohen_kappa_score(first, second, labels=[0, 1, 2]), abs=1e-9)


def test_raters_by_hand():
    rows = [(0, 1)] * 3 + [(1, 1)] * 3
    assert once(rows, 2).kappa[0] == pytest.approx(0)  # Cohen; Fleiss' would be negative
    tripled = [(0, 1, 1)] * 3 + [(1, 1, 1)] * 3
    assert once(tripled, 2).kappa[0] < -0.1
    for raters in (2, 3, 5):
        found = once([[category] * raters for category in (0, 1, 2, 1)], 3)
        assert found.share[0] == 1 and found.kappa[0] == pytest.approx(1)
    with pytest.raises(ValueError, match="agreement needs two raters, not 1"):
        once([[0], [1]], 2)


def test_a_resample_is_the_agreement_of_its_rows():
    ratings = np.random.default_rng(2).integers(0, 3, (40, 2))
    clusters = np.repeat(np.arange(10), 4)
    counts = item_counts(10, 20, 1)
    found = agreement(ratings, 3, clusters, counts)
    for draw, times in enumerate(counts.astype(int)):
        rows = [row for own in np.repeat(np.arange(10), times) for row in np.flatnonzero(clusters == own)]
        first, second = ratings[rows].T
        assert found.share[draw] == pytest.approx(np.mean(first == second))
        assert found.kappa[draw] == pytest.approx(cohen_kappa_score(first, second))
    # Sums are exact in any order, also those of thirds.
    ratings = np.random.default_rng(3).integers(0, 3, (1000, 3))
    clusters, counts = np.repeat(np.arange(50), 20), item_counts(50, 100, 1)
    turned = agreement(ratings[::-1], 3, 49 - clusters[::-1], counts[:, ::-1])
    assert (turned.kappa == agreement(ratings, 3, clusters, counts).kappa).all()
    # A resample without rows is not defined.
    found = agreement(np.array([[0, 0], [1, 1]]), 2, np.array([0, 0]), np.array([[1.0, 0], [0, 1]]))
    assert found.share[0] == 1 and np.isnan(found.share[1]) and np.isnan(found.kappa[1])
    found = agreement(np.zeros((0, 2), int), 2, np.zeros(0, int), np.ones((3, 1)))
    assert found.share.shape == (3,) and np.isnan(found).all()
