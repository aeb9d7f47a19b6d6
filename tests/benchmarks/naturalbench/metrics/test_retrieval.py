import itertools

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.naturalbench.curation.mismatch import EncoderVectors
from benchc.benchmarks.naturalbench.metrics.retrieval import CHANCE, SCORES, retrieved, retrieved_by, scores
from benchc.benchmarks.naturalbench.published.retrieval import published_table7
from benchc.statistics.resampling import item_counts


def one(s00: float, s11: float, s01: float, s10: float) -> list[bool]:
    found: list[bool] = retrieved(*(np.array([value]) for value in (s00, s11, s01, s10)))[0].tolist()
    return found


def test_the_scores_compare_captions_or_images() -> None:
    assert one(0.9, 0.8, 0.1, 0.2) == [True, True, True]
    # Image 1 is closer to caption 0, so one text is wrong; and caption 0 to image 1.
    assert one(0.5, 0.6, 0.1, 0.7) == [False, False, False]
    # Image 0 is closer to caption 1, which is closer to its own image.
    assert one(0.3, 0.9, 0.4, 0.1) == [False, True, False]
    # Caption 0 is closer to image 1, which is closer to its own caption.
    assert one(0.3, 0.9, 0.1, 0.4) == [True, False, False]
    # A tie is wrong.
    assert one(0.5, 0.5, 0.5, 0.1) == [False, False, False]
    assert one(0.5, 0.6, 0.5, 0.1) == [False, True, False]
    assert one(0.5, 0.6, 0.1, 0.5) == [True, False, False]
    assert one(0.6, 0.5, 0.1, 0.5) == [False, True, False]
    # Chance is the share of all rankings.
    rankings = np.array([*itertools.permutations(range(4))], dtype=float)
    shares = retrieved(*rankings.T).mean(axis=0)
    assert dict(zip(SCORES, shares.tolist(), strict=True)) == pytest.approx(CHANCE)
    row = published_table7().row(0, named=True)
    assert {name: row[name] for name in SCORES} == {name: round(100 * x, 2) for name, x in CHANCE.items()}


def test_an_encoder_is_read_as_rows_of_images_and_texts() -> None:
    axes = np.eye(4, dtype=np.float32)
    # The captions of rows 2 and 3 are exchanged.
    encoder = EncoderVectors("e", axes[:, None], axes[[0, 1, 3, 2]])
    found = retrieved_by(encoder, np.array([0, 2]), np.array([1, 3]))
    assert found.tolist() == [[True, True, True], [False, False, False]]
    # s01 is of image 0 and caption 1: image 0 is close to both captions, image 1 to none.
    images, texts = np.array([[[1, 0]], [[0, 1]]], np.float32), np.array([[0.6, 0.8], [0.8, 0.6]], np.float32)
    (row,) = retrieved_by(EncoderVectors("e", images, texts), np.array([0]), np.array([1])).tolist()
    assert row == one(0.6, 0.6, 0.8, 0.8)
    # Both images are closest to caption 1, and each caption to its own image.
    images, texts = np.array([[[3, 4]], [[0, 9]]], np.float32), np.array([[1, 0], [0, 1]], np.float32)
    (row,) = retrieved_by(EncoderVectors("e", images, texts), np.array([0]), np.array([1])).tolist()
    assert row == one(3, 9, 4, 0) == [False, True, False]


def test_intervals_contain_the_share_and_repeat() -> None:
    right = np.random.default_rng(0).random((200, 3)) < [0.5, 0.3, 1.0]
    share, low, high = scores(right, 300, 7)
    np.testing.assert_allclose(share, right.mean(axis=0))
    assert (low <= share).all() and (share <= high).all()
    assert low[0] < share[0] < high[0] and low[2] == high[2] == 1
    # About two standard errors to each side.
    assert 0.1 < high[0] - low[0] < 0.18
    np.testing.assert_array_equal(scores(right, 300, 7)[1], low)
    drawn = item_counts(200, 4, 7)[1:] @ right / 200
    np.testing.assert_allclose(scores(right, 4, 7)[1:], np.quantile(drawn, [0.025, 0.975], axis=0))
    assert (scores(right, 300, 8)[1] != low).any()


def test_published_scores_are_shares_of_1227_pairs() -> None:
    """The caption has 1,200 pairs: 56 of 59 scores are k / 1,227, and 4 are k / 1,200."""
    table = published_table7()[1:]
    values = [value for name in SCORES for value in table[name] if value is not None]
    assert (table.height, len(values)) == (20, 59)

    def fitting(pairs: int) -> list[float]:
        return [value for value in values if round(100 * round(value * pairs / 100) / pairs, 2) == value]

    assert (len(fitting(1227)), len(fitting(1200))) == (56, 4)
    others = table.filter(pl.col("model") == "ViT-bigG-14").select(SCORES).row(0)
    assert sorted(set(values) - set(fitting(1227))) == sorted(others)
    table = published_table7()
    lost = table.filter(pl.col("text").is_null())
    assert lost["label"].to_list() == ["SigLIP WebLI (English portion) ViT-B"]
    for row in table.iter_rows(named=True):
        # Both scores are right where the group is: G <= min(I, T), G >= I + T - 100.
        known = [row[name] for name in ("image", "text") if row[name] is not None]
        assert row["group"] <= min(known)
    assert table["label"].n_unique() == 21
    assert table.filter(pl.col("model") == "ViT-g-14")["data_size"].to_list() == ["2B"]
