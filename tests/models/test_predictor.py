"""The prediction cache and the predictor in front of a scorer."""

import hashlib

import numpy as np
import pytest
import torch

from benchc.models.prediction_cache import PredictionCache
from benchc.models.predictor import Predictor
from benchc.models.protocol import OptionScores
from benchc.models.question import Question

IDENTITY = {"model": "owner/name", "revision": "1"}
SCORES = OptionScores(
    np.array([[0.1, -2.5e-7], [1 / 3, 3e30]], dtype=np.float32), np.array([0.1, 1], dtype=np.float32)
)


class PixelScorer:
    """Scores by pixels, with memory for ``capacity`` variants."""

    def __init__(self, capacity: int = 100) -> None:
        self.capacity = capacity
        self.calls: list[int] = []

    def identity(self):
        return IDENTITY

    def prompt(self, question, images):
        return f"{'<image>' * images}{question.question}"

    def score(self, question, variants):
        self.calls.append(len(variants))
        if len(variants) > self.capacity:
            raise torch.OutOfMemoryError
        sums = np.array([next(image.sum() for image in images) for images in variants], dtype=np.float32)
        logits = np.stack([sums * (k + 1) for k in range(len(question.options))], axis=1)
        return OptionScores(logits, np.ones(len(variants), dtype=np.float32))


def variants(*values: int):
    return [[np.full((2, 3, 3), value, dtype=np.uint8)] for value in values]


def same(a: OptionScores, b: OptionScores) -> bool:
    return a.logits.tobytes() == b.logits.tobytes() and a.label_mass.tobytes() == b.label_mass.tobytes()


def test_scores_come_back_bit_for_bit(tmp_path):
    with PredictionCache(tmp_path, IDENTITY, "a") as cache:
        cache.put("p", ["i", "j"], SCORES, False)
    with PredictionCache(tmp_path, IDENTITY, "b") as cache:
        scores, split = cache.get("p", ["i", "j"])
        assert same(scores, SCORES)
        assert not split
        assert cache.get("p", ["j", "i"]) is None
        assert cache.get("q", ["i", "j"]) is None


def test_another_identity_shares_nothing(tmp_path):
    with PredictionCache(tmp_path, IDENTITY, "a") as cache:
        cache.put("p", ["i", "j"], SCORES, False)
    with PredictionCache(tmp_path, {**IDENTITY, "revision": "2"}, "a") as cache:
        assert cache.get("p", ["i", "j"]) is None


def test_the_order_of_the_facts_of_an_identity_is_not_part_of_it(tmp_path):
    with PredictionCache(tmp_path, IDENTITY, "a") as cache:
        cache.put("p", ["i", "j"], SCORES, False)
    with PredictionCache(tmp_path, dict(reversed(IDENTITY.items())), "a") as cache:
        assert cache.get("p", ["i", "j"]) is not None


def test_an_incomplete_line_is_skipped_and_written_again(tmp_path):
    with PredictionCache(tmp_path, IDENTITY, "a") as cache:
        cache.put("p", ["i", "j"], SCORES, False)
        cache.put("q", ["i", "j"], SCORES, False)
        folder = cache.folder
    path = folder / "a.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    with PredictionCache(tmp_path, IDENTITY, "a") as cache:
        assert cache.get("p", ["i", "j"]) is not None
        assert cache.get("q", ["i", "j"]) is None
        cache.put("q", ["i", "j"], SCORES, False)
    with PredictionCache(tmp_path, IDENTITY, "a") as cache:
        assert same(cache.get("q", ["i", "j"])[0], SCORES)


def test_new_predictions_are_computed_and_counted(tmp_path):
    question = Question("Which?", ("a", "b"))
    with PredictionCache(tmp_path, IDENTITY, "a") as cache:
        predictor = Predictor(PixelScorer(), cache)
        first, prompt_hash, image_hashes = predictor.predict(question, variants(1, 2, 3))
        again, *hashes = predictor.predict(question, variants(1, 2, 3))
        assert same(first, again)
        assert hashes == [prompt_hash, image_hashes]
        assert (predictor.computed, predictor.cached) == (3, 3)
        predictor.predict(question, variants(1, 2, 4))
        predictor.predict(Question("Which?", ("a", "c")), variants(1, 2, 3))
        assert (predictor.computed, predictor.cached) == (9, 3)
    assert len(set(image_hashes)) == 3
    assert prompt_hash == hashlib.blake2b(b"<image>Which?\x1fa\x1fb", digest_size=16).hexdigest()


def test_a_unit_is_split_until_it_fits_into_memory(tmp_path):
    scorer = PixelScorer(capacity=2)
    with PredictionCache(tmp_path, IDENTITY, "a") as cache:
        predictor = Predictor(scorer, cache)
        scores, *_ = predictor.predict(Question("Which?", ("a", "b")), variants(1, 2, 3, 4, 5))
    np.testing.assert_array_equal(scores.logits[:, 0], [18, 36, 54, 72, 90])
    assert scorer.calls == [5, 2, 3, 1, 2]
    assert predictor.oom_splits == 1
    with PredictionCache(tmp_path, IDENTITY, "b") as cache:
        resumed = Predictor(scorer, cache)
        resumed.predict(Question("Which?", ("a", "b")), variants(1, 2, 3, 4, 5))
    # A resumed run counts the splits of the run that computed the unit.
    assert (resumed.computed, resumed.oom_splits) == (0, 1)


def test_a_single_variant_that_does_not_fit_is_an_error(tmp_path):
    with PredictionCache(tmp_path, IDENTITY, "a") as cache, pytest.raises(torch.OutOfMemoryError):
        Predictor(PixelScorer(capacity=0), cache).predict(Question("Which?", ("a", "b")), variants(1))


def test_variants_of_different_sizes_are_scored_separately_and_returned_in_order(tmp_path):
    scorer = PixelScorer()
    images = [np.full((2 + k % 2, 3, 3), k, dtype=np.uint8) for k in range(5)]
    question = Question("?", ("a", "b"), None)
    with PredictionCache(tmp_path, IDENTITY, "a") as cache:
        scores, _, _ = Predictor(scorer, cache).predict(question, [[image] for image in images])
    assert scorer.calls == [3, 2]
    assert scores.logits[:, 0].tolist() == [image.sum() for image in images]


def test_a_unit_of_which_one_size_was_split_counts_as_split(tmp_path):
    scorer = PixelScorer(capacity=2)
    images = [np.full((2 + k % 2, 3, 3), k, dtype=np.uint8) for k in range(5)]
    with PredictionCache(tmp_path, IDENTITY, "a") as cache:
        predictor = Predictor(scorer, cache)
        predictor.predict(Question("?", ("a", "b")), [[image] for image in images])
    assert scorer.calls == [3, 1, 2, 2]
    assert predictor.oom_splits == 1
