"""The read store and the reader in front of a scorer."""

import hashlib

import numpy as np
import pytest
import torch

from benchc.models.protocol import OptionScores
from benchc.models.question import Question
from benchc.models.read_store import ReadStore
from benchc.models.reading import Reader

IDENTITY = {"model": "owner/name", "revision": "1"}
SCORES = OptionScores(
    np.array([[0.1, -2.5e-7], [1 / 3, 3e30]], dtype=np.float32), np.array([0.1, 1], dtype=np.float32)
)


class PixelScorer:
    """Scores by pixels, and holds at most ``capacity`` variants at once."""

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
    with ReadStore(tmp_path, IDENTITY, "a") as store:
        store.put("p", ["i", "j"], SCORES, False)
    with ReadStore(tmp_path, IDENTITY, "b") as store:
        scores, halved = store.get("p", ["i", "j"])
        assert same(scores, SCORES)
        assert not halved
        assert store.get("p", ["j", "i"]) is None
        assert store.get("q", ["i", "j"]) is None


def test_another_identity_shares_nothing(tmp_path):
    with ReadStore(tmp_path, IDENTITY, "a") as store:
        store.put("p", ["i", "j"], SCORES, False)
    with ReadStore(tmp_path, {**IDENTITY, "revision": "2"}, "a") as store:
        assert store.get("p", ["i", "j"]) is None


def test_a_line_torn_by_a_kill_is_passed_over_and_written_again(tmp_path):
    with ReadStore(tmp_path, IDENTITY, "a") as store:
        store.put("p", ["i", "j"], SCORES, False)
        store.put("q", ["i", "j"], SCORES, False)
        folder = store.folder
    path = folder / "a.jsonl"
    path.write_bytes(path.read_bytes()[:-9])
    with ReadStore(tmp_path, IDENTITY, "a") as store:
        assert store.get("p", ["i", "j"]) is not None
        assert store.get("q", ["i", "j"]) is None
        store.put("q", ["i", "j"], SCORES, False)
    with ReadStore(tmp_path, IDENTITY, "a") as store:
        assert same(store.get("q", ["i", "j"])[0], SCORES)


def test_the_reader_computes_what_is_new_and_counts_it(tmp_path):
    question = Question("Which?", ("a", "b"))
    with ReadStore(tmp_path, IDENTITY, "a") as store:
        reader = Reader(PixelScorer(), store)
        first, prompt_hash, image_hashes = reader.read(question, variants(1, 2, 3))
        again, *hashes = reader.read(question, variants(1, 2, 3))
        assert same(first, again)
        assert hashes == [prompt_hash, image_hashes]
        assert (reader.new, reader.stored) == (3, 3)
        reader.read(question, variants(1, 2, 4))
        reader.read(Question("Which?", ("a", "c")), variants(1, 2, 3))
        assert (reader.new, reader.stored) == (9, 3)
    assert len(set(image_hashes)) == 3
    assert prompt_hash == hashlib.blake2b(b"<image>Which?\x1fa\x1fb", digest_size=16).hexdigest()


def test_what_does_not_fit_is_halved_until_it_does(tmp_path):
    scorer = PixelScorer(capacity=2)
    with ReadStore(tmp_path, IDENTITY, "a") as store:
        reader = Reader(scorer, store)
        scores, *_ = reader.read(Question("Which?", ("a", "b")), variants(1, 2, 3, 4, 5))
    np.testing.assert_array_equal(scores.logits[:, 0], [18, 36, 54, 72, 90])
    assert scorer.calls == [5, 2, 3, 1, 2]
    assert reader.halved == 1
    with ReadStore(tmp_path, IDENTITY, "b") as store:
        resumed = Reader(scorer, store)
        resumed.read(Question("Which?", ("a", "b")), variants(1, 2, 3, 4, 5))
    # A resumed run says of a unit what the run that read it said.
    assert (resumed.new, resumed.halved) == (0, 1)


def test_a_single_variant_that_does_not_fit_is_an_error(tmp_path):
    with ReadStore(tmp_path, IDENTITY, "a") as store, pytest.raises(torch.OutOfMemoryError):
        Reader(PixelScorer(capacity=0), store).read(Question("Which?", ("a", "b")), variants(1))


def test_variants_of_other_sizes_are_scored_apart_and_come_back_in_order(tmp_path):
    scorer = PixelScorer()
    images = [np.full((2 + k % 2, 3, 3), k, dtype=np.uint8) for k in range(5)]
    question = Question("?", ("a", "b"), None)
    with ReadStore(tmp_path, IDENTITY, "a") as store:
        scores, _, _ = Reader(scorer, store).read(question, [[image] for image in images])
    assert scorer.calls == [3, 2]
    assert scores.logits[:, 0].tolist() == [image.sum() for image in images]
