from math import factorial

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection, QhullError

from benchc.benchmarks.vqa_robustness.metrics.regions import winning_shares
from benchc.randomness import generator_of
from tests.benchmarks.vqa_robustness.published import errors_of_table_a1, vre_of


def exact_share(parts: np.ndarray, model: int) -> float:
    """Return the volume of the part of the simplex in which a model wins, relative to the simplex.

    In the first four weights, that part is an intersection of half spaces.
    """
    others = np.delete(parts, model, axis=1)
    difference = (parts[:, [model]] - others).T  # its product with the weights is at most 0
    halves = np.column_stack([difference[:, :4] - difference[:, 4:], difference[:, 4]])
    positive = np.column_stack([-np.eye(4), np.zeros(4)])
    halves = np.vstack([halves, positive, [1, 1, 1, 1, -1]])
    norms = np.linalg.norm(halves[:, :4], axis=1)
    # The centre of the largest ball in it.
    ball = linprog([0, 0, 0, 0, -1], np.column_stack([halves[:, :4], norms]), -halves[:, 4], bounds=(0, None))
    if not ball.success or ball.x[4] < 1e-9:
        return 0.0
    try:
        corners = HalfspaceIntersection(halves, ball.x[:4]).intersections
    except QhullError:
        return 0.0
    return factorial(4) * ConvexHull(corners, qhull_options="QJ").volume


def check(parts: np.ndarray) -> None:
    exact = [exact_share(parts, model) for model in range(parts.shape[1])]
    assert sum(exact) == pytest.approx(1, abs=1e-6)
    np.testing.assert_allclose(winning_shares(parts), exact, atol=0.006)


@pytest.mark.parametrize("seed", range(6))
def test_shares_are_volumes(seed):
    check(np.random.default_rng(seed).random((5, 4)))


def test_shares_of_table_a1_are_volumes():
    parts = vre_of(errors_of_table_a1()).model_parts
    check(parts)
    # ViLT, then both of LLaVA; the others have the lowest VRE with no weights.
    np.testing.assert_allclose(winning_shares(parts), [0.751, 0, 0, 0, 0.238, 0.011], atol=0.004)


def test_equal_models_share_and_models_without_vre_have_no_share():
    parts = np.array([[0.2, 0.5, np.nan, 0.2]] * 5)
    np.testing.assert_array_equal(winning_shares(parts), [0.5, 0, np.nan, 0.5])
    assert np.isnan(winning_shares(np.full((5, 2), np.nan))).all()
    # The shares of a report do not depend on when it is made: they are of 100,000 weights with the seed 0.
    parts = np.random.default_rng(0).random((5, 4))
    weights = generator_of(0, "weights").dirichlet(np.ones(5), size=100_000)
    wins = np.bincount((weights @ parts).argmin(axis=1), minlength=4)
    np.testing.assert_allclose(winning_shares(parts), wins / 100_000, rtol=1e-9)
