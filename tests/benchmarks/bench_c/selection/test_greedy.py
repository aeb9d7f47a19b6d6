import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from benchc.benchmarks.bench_c.selection.greedy import greedy, scores_against_all
from benchc.benchmarks.bench_c.selection.lazy import pick_all


def brackets(kappa, embeddings, alpha, picked):
    """Eq. 3, 12 and 13 as they are written, row by row."""
    scores = []
    for row in range(len(kappa)):
        diversity = float(len(embeddings))
        for vectors in embeddings if picked else ():
            centroid = np.mean([np.asarray(vectors[other], dtype=np.float64) for other in picked], axis=0)
            vector = np.asarray(vectors[row], dtype=np.float64)
            lengths = math.sqrt(vector @ vector) * math.sqrt(centroid @ centroid)
            diversity -= vector @ centroid / lengths if lengths > 0 else 0.0
        scores.append(alpha[0] * kappa[row] + alpha[1] * diversity)
    return scores


def assert_greedy(kappa, embeddings, alpha, found, tolerance=1e-9):
    """Every pick has, by the formula, the largest bracket, and the lowest row among equals."""
    picked = []
    for row in found.order:
        scores = brackets(kappa, embeddings, alpha, picked)
        rest = [other for other in range(len(kappa)) if other not in picked]
        assert found.score[row] == pytest.approx(scores[row], abs=tolerance)
        assert scores[row] >= max(scores[other] for other in rest) - tolerance
        picked.append(int(row))
    assert sorted(picked) == list(range(len(kappa)))


def row_dots(rows, other):
    """Dot products in the documented order: the upper half is added to the lower until one is left."""
    products = np.asarray(rows, dtype=np.float64) * other
    while products.shape[1] > 1:
        half = (products.shape[1] + 1) // 2
        lower, upper = products[:, :half].copy(), products[:, half:]
        lower[:, : upper.shape[1]] += upper
        products = lower
    return products.sum(axis=1)


def plain_scores(kappa, embeddings, alpha, totals):
    """All brackets of eq. 3, each from the row's own dot products."""
    similarity = np.zeros(len(kappa))
    for vectors, total in zip(embeddings, totals, strict=True):
        lengths = np.sqrt(row_dots(vectors, vectors.astype(np.float64)))
        size = np.sqrt(row_dots(total[np.newaxis], total)[0])
        if size > 0:
            similarity += row_dots(vectors, total / size) / np.where(lengths > 0, lengths, 1)
    return alpha[0] * kappa + alpha[1] * (len(embeddings) - similarity)


def plain_greedy(kappa, embeddings, alpha):
    """The reference: all scores at every step, and the first of the largest."""
    totals = [np.zeros(vectors.shape[1]) for vectors in embeddings]
    order, final = [], np.empty(len(kappa))
    for _ in kappa:
        scores = plain_scores(kappa, embeddings, alpha, totals)
        scores[order] = -np.inf
        best = int(scores.argmax())
        order.append(best)
        final[best] = scores[best]
        for total, vectors in zip(totals, embeddings, strict=True):
            total += vectors[best]
    return order, final


def mixed_case(seed, count):
    """A pool with clusters, duplicates, zero vectors and equal kappas."""
    random = np.random.default_rng(seed)
    kinds = random.integers(0, 4, 3)
    levels = int(random.choice([1, 3, 20, 1000]))
    embeddings = []
    for dimensions in random.integers(1, 40, 2):
        common = random.choice([0.0, 0.5, 2.0]) * random.normal(size=dimensions)
        centres = random.normal(size=(1 + count // 10, dimensions))
        own = random.choice([0.0, 0.1, 1.0]) * random.normal(size=(count, dimensions))
        vectors = common + centres[random.integers(0, len(centres), count)] + own
        if kinds[0] == 0:
            vectors[random.random(count) < 0.2] = 0
        if kinds[1] == 0:
            vectors = vectors[random.integers(0, count, count)]
        if kinds[2] > 0:
            lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors = vectors / np.where(lengths > 0, lengths, 1)
        embeddings.append(vectors.astype(random.choice([np.float32, np.float64])))
    return random.integers(0, levels, count) / levels, embeddings


def random_case(seed, count, dimensions=(5, 3)):
    random = np.random.default_rng(seed)
    vectors = [random.normal(size=(count, d)).astype(np.float32) for d in dimensions]
    return random.random(count), [v / np.linalg.norm(v, axis=1, keepdims=True) for v in vectors]


CASES = st.integers(1, 12).flatmap(
    lambda count: st.tuples(
        hnp.arrays(np.float64, count, elements=st.sampled_from([0.0, 0.125, 0.25, 0.5, 1.0])),
        hnp.arrays(np.float32, (count, 2), elements=st.sampled_from([-1.0, 0.0, 0.5, 1.0])),
        hnp.arrays(np.float32, (count, 3), elements=st.floats(-1, 1, width=32, allow_subnormal=False)),
    )
)


def test_by_hand():
    kappa = [0.5, 0.6, 0.3]
    image = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    text = np.array([[0, 1], [1, 0], [0, 1]], dtype=np.float32)
    found = greedy(kappa, [image, text])
    # First the largest kappa, 0.6 + 2. Then row 0: 0.5 + 2 - 1 - 0, and row 2: 0.3 + 2 - 0 - 0. Last row 0,
    # its cosine with (1/2, 1/2) being 1/√2 in both modalities.
    assert found.order.tolist() == [1, 2, 0]
    assert found.score.tolist() == pytest.approx([2.5 - math.sqrt(2), 2.6, 2.3], abs=1e-15)
    assert (found.order.dtype, found.score.dtype) == (np.int64, np.float64)


@settings(max_examples=500)
@given(
    st.integers(0, 2**32),
    st.integers(1, 60),
    st.sampled_from([(1.0, 1.0), (1.0, 1.0), (0.0, 1.0), (0.3, 2.0), (1.0, -1.0), (-1.0, 1e-3)]),
)
def test_pruning_changes_nothing(seed, count, alpha):
    kappa, embeddings = mixed_case(seed, count)
    order, final = plain_greedy(kappa, embeddings, alpha)
    found = greedy(kappa, embeddings, alpha)
    assert found.order.tolist() == order
    assert found.score.tolist() == final.tolist()


@pytest.mark.parametrize("common", [0.0, 0.3])
def test_pruning_changes_nothing_in_a_larger_pool(common):
    # Without a common direction nearly every step sweeps; with one, epochs grow and rows wait for long.
    random = np.random.default_rng(7)
    vectors = [random.normal(size=(1500, d)) / math.sqrt(d) + common for d in (24, 9)]
    embeddings = [(v / np.linalg.norm(v, axis=1, keepdims=True)).astype(np.float32) for v in vectors]
    kappa = random.integers(0, 300, 1500) / 300
    order, final = plain_greedy(kappa, embeddings, (1.0, 1.0))
    found = greedy(kappa, embeddings)
    assert found.order.tolist() == order
    assert found.score.tolist() == final.tolist()


def test_of_similar_vectors_few_scores_are_computed():
    random = np.random.default_rng(7)
    vectors = [random.normal(size=(1500, d)) / math.sqrt(d) + 1 for d in (24, 9)]
    kappa = random.integers(0, 300, 1500) / 300
    lengths = tuple(np.linalg.norm(rows, axis=1) for rows in vectors)
    *_, computed = pick_all(kappa, 1.0, tuple(vectors), lengths, np.array([0, 24, 33]))
    # With the tuned shares; all scores at every step would be a million.
    assert computed == pytest.approx(28_000, rel=0.1)


@settings(max_examples=100)
@given(CASES, st.sampled_from([(1.0, 1.0), (0.0, 1.0), (1.0, 0.0), (0.3, 2.0)]))
def test_against_the_formula(case, alpha):
    kappa, *embeddings = case
    assert_greedy(kappa, embeddings, alpha, greedy(kappa, embeddings, alpha))


R2, R5 = math.sqrt(2), math.sqrt(5)


@pytest.mark.parametrize(
    ("kappa", "vectors", "alpha", "order", "score"),
    [
        # Kappa alone sorts by kappa, and ties go to the lower row.
        ([0.25, 0.5, 0.25, 1], np.ones((4, 3)), (1, 0), [3, 1, 0, 2], [0.25, 0.5, 0.25, 1]),
        # Rows 0 and 1; then the cosines of both others with (1/2, 1/2) are 1/√2, and row 2 is before row 3.
        (
            [0.5] * 4,
            [[1, 0], [0, 1], [1, 0], [1, 0]],
            (1, 1),
            range(4),
            [1.5, 1.5, 1.5 - 1 / R2, 1.5 - 2 / R5],
        ),
        # Zero vectors have cosine 0, and so has a zero centroid, here of the first two.
        ([1, 0.5, 0.25], [[1, 0], [0, 0], [0, 0]], (1, 1), range(3), [2, 1.5, 1.25]),
        ([1, 0.9, 0.1], [[1, 0], [-1, 0], [1, 0]], (1, 1), range(3), [2, 2.9, 1.1]),
        ([], np.zeros((0, 3)), (1, 1), [], []),
        ([0.3], np.ones((1, 3)), (1, 1), [0], [1.3]),
        # Vectors without values are zero vectors.
        ([0.25, 0.5], np.zeros((2, 0)), (1, 1), [1, 0], [1.25, 1.5]),
    ],
)
def test_ties_zeros_none_and_one_by_hand(kappa, vectors, alpha, order, score):
    found = greedy(kappa, [np.asarray(vectors, np.float32)], alpha)
    assert found.order.tolist() == [*order]
    assert found.score.tolist() == pytest.approx(score, abs=1e-15)


def test_diversity_alone_starts_with_the_first_row():
    kappa, embeddings = random_case(4, 9)
    found = greedy(kappa, embeddings, alpha=(0.0, 1.0))
    assert found.order[0] == 0
    assert found.score[0] == 2.0
    assert found.order.tolist() == greedy(kappa[::-1], embeddings, alpha=(0.0, 1.0)).order.tolist()
    # Without vectors, kappa alone decides.
    found = greedy([0.25, 0.5, 0.5], [])
    assert (found.order.tolist(), found.score.tolist()) == ([1, 2, 0], [0.25, 0.5, 0.5])
    kappa, embeddings = random_case(1, 6, (4, 3, 2))
    for count in (1, 3):
        found = greedy(kappa, embeddings[:count])
        assert found.score[found.order[0]] == pytest.approx(count + kappa.max())


def test_the_largest_and_smallest_values_are_taken():
    found = greedy([1e100, 0.0], [np.array([[1e100, 0.0], [0.0, 1e-100]])] * 2)
    assert (found.order.tolist(), found.score.tolist()) == ([0, 1], [1e100, 2.0])


def test_arguments_are_left_as_they_were():
    kappa, embeddings = random_case(5, 20)
    before = kappa.copy(), [vectors.copy() for vectors in embeddings]
    greedy(kappa, embeddings)
    np.testing.assert_array_equal(kappa, before[0])
    for vectors, copy in zip(embeddings, before[1], strict=True):
        np.testing.assert_array_equal(vectors, copy)


def test_scores_against_the_centroid_of_all():
    kappa, embeddings = random_case(6, 10)
    found = scores_against_all(kappa, embeddings, (0.5, 2.0))
    assert found.tolist() == pytest.approx(brackets(kappa, embeddings, (0.5, 2.0), range(10)), abs=1e-12)
    turned = scores_against_all(kappa[::-1], [vectors[::-1] for vectors in embeddings], (0.5, 2.0))
    assert turned.tolist()[::-1] == found.tolist()
    plain = scores_against_all(kappa, embeddings)
    assert plain.tolist() == pytest.approx(brackets(kappa, embeddings, (1, 1), range(10)), abs=1e-12)


@pytest.mark.parametrize(
    ("kappa", "embeddings", "alpha", "message"),
    [
        ([0.1, np.nan], [np.ones((2, 3))], (1, 1), "kappa must be finite"),
        ([[0.1, 0.2]], [np.ones((2, 3))], (1, 1), "kappa must be finite numbers, one per item"),
        ([0.1, 0.2], [np.ones((2, 3)), np.ones((3, 3))], (1, 1), r"embeddings\[1\].*each of the 2 items"),
        ([0.1, 0.2], [np.ones((1, 3))], (1, 1), r"embeddings\[0\].*its shape is \(1, 3\)"),
        ([0.1, 0.2], [np.ones(2)], (1, 1), r"embeddings\[0\].*shape is \(2,\)"),
        ([0.1, 0.2], [np.ones((2, 3, 4))], (1, 1), r"embeddings\[0\].*shape is \(2, 3, 4\)"),
        ([0.1, 0.2], [np.array([[np.nan], [1.0]])], (1, 1), r"embeddings\[0\] contains NaN or infin.*row 0"),
        ([0.1, 0.2], [np.array([[1.0], [np.inf]])], (1, 1), r"embeddings\[0\] contains NaN or infin.*row 1"),
        ([0.1, 0.2], [np.array([[1.0], [1e-200]])], (1, 1), r"embeddings\[0\].*length 0.0 in row 1: scale"),
        ([0.1, 0.2], [np.array([[1e200], [1.0]])], (1, 1), r"embeddings\[0\].*length inf in row 0: scale"),
        ([0.1, 0.2], [np.ones((2, 3))], (1, np.inf), "alpha must be two finite numbers"),
        ([0.1, 0.2], [np.array([[1e120], [1.0]])], (1, 1), r"embeddings\[0\].*length 1e\+120 in row 0"),
        ([0.1, 1e60], [np.ones((2, 3))], (1e50, 1), "kappa must not exceed 1e.100"),
        ([0.1, 1e99], [np.ones((2, 3))], (-20, 1), "kappa must not exceed 1e.100"),
        ([0.1, 0.2], [np.ones((2, 3))], (1, 1e101), "must not exceed 1e.100"),
    ],
)
def test_invalid_arguments_are_refused(kappa, embeddings, alpha, message):
    with pytest.raises(ValueError, match=message):
        greedy(kappa, embeddings, alpha)
