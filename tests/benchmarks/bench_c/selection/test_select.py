import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchc.benchmarks.bench_c.schemas.embeddings import EMBEDDINGS
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.benchmarks.bench_c.selection.select import mean_score, select

KAPPA = pl.DataFrame({"id": ["a/0", "a/1", "a/2", "a/3"], "kappa": [0.5, 0.0, 0.6, 0.3]})


def embeddings(image: list[list[float]], text: list[list[float]]) -> pl.DataFrame:
    return pl.DataFrame(
        {"id": KAPPA["id"], "image": image, "text": text, "truncated": [False] * 4},
        schema=dict(EMBEDDINGS.columns),
    )


def numbered(count: int) -> pl.DataFrame:
    return pl.DataFrame({"id": [f"n/{number}" for number in range(count)], "kappa": [0.5] * count})


VECTORS = embeddings([[1, 0], [9, 9], [1, 0], [0, 1]], [[0, 1], [9, 9], [1, 0], [0, 1]])


def test_by_hand():
    table = select(KAPPA, VECTORS)
    assert dict(table.schema) == dict(pl.Schema(SELECTED.columns))
    # As in the test of greedy by hand: picked in the order a/2, a/3, a/0 with 2.6, 2.3 and 2.5 - √2; the
    # mean is 2.0. a/1 was removed, so its vector does not matter.
    assert table["id"].to_list() == KAPPA["id"].to_list()
    assert table["rank"].to_list() == [2, None, 0, 1]
    assert table["score"].to_list() == [pytest.approx(2.5 - math.sqrt(2)), None, 2.6, 2.3]
    assert table["selected"].to_list() == [False, False, True, True]


def test_the_final_centroid():
    table = select(KAPPA, VECTORS, score="final_centroid")
    near, far = 2 / math.sqrt(5), 1 / math.sqrt(5)  # cosines with (2/3, 1/3) and (1/3, 2/3)
    expected = [0.5 + 2 - 2 * near, None, 0.6 + 2 - near - far, 0.3 + 2 - far - near]
    assert table["score"].to_list() == pytest.approx(expected)
    assert table["rank"].to_list() == [2, None, 0, 1]
    assert table["selected"].to_list() == [False, False, True, False]


def test_alpha_weights_the_score_and_embeddings_come_in_any_order():
    table = select(KAPPA, VECTORS, alpha=(1.0, 0.0))
    assert table["score"].to_list() == [0.5, None, 0.6, 0.3]
    assert table["selected"].to_list() == [True, False, True, False]
    assert select(KAPPA, VECTORS.reverse()).equals(select(KAPPA, VECTORS))


@pytest.mark.parametrize(
    ("kappa", "vectors", "settings", "message"),
    [
        (KAPPA, VECTORS.head(3), {}, "embeddings lacks 1 item that the other table has: a/3"),
        (KAPPA.head(2), VECTORS, {}, "kappa lacks 2 items that the other table has: a/2, a/3"),
        # At most five are named.
        (
            numbered(6),
            VECTORS.clear(),
            {},
            "embeddings lacks 6 items that .* has: n/0, n/1, n/2, n/3, n/4, …; ",
        ),
        (numbered(5), VECTORS.clear(), {}, "embeddings lacks 5 items that .* has: n/0, n/1, n/2, n/3, n/4; "),
        (pl.concat([numbered(6)] * 2), VECTORS, {}, "kappa: items occur twice: n/0, n/1, n/2, n/3, n/4$"),
        (pl.concat([KAPPA, KAPPA.head(1)]), VECTORS, {}, "kappa: items occur twice: a/0"),
        (KAPPA, embeddings([[1], [1], [1, 2], [1]], [[1]] * 4), {}, r"the image embeddings are incomplete"),
        (KAPPA.with_columns(kappa=pl.lit(0.0)), VECTORS, {}, "all 4 items have kappa 0"),
        (KAPPA.head(1), VECTORS.head(1), {}, r"no item scores above the mean: all items .* final score 2.5"),
        (KAPPA, VECTORS, {"score": "last"}, "at_pick, final_centroid, not 'last'"),
    ],
)
def test_what_cannot_be_selected_from_is_refused(kappa, vectors, settings, message):
    with pytest.raises(ValueError, match=message):
        select(kappa, vectors, **settings)


@given(st.floats(0, 3), st.integers(1, 50))
def test_the_mean_of_equal_scores_is_their_value(value, count):
    assert mean_score(np.full(count, value)) == value
