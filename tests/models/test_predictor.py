"""The predictor in front of a scorer: counts, splits, and scores that are refused."""

import gc
import hashlib
import time
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from benchc.models.cache.unit_cache import AnswerCache, PredictionCache
from benchc.models.encoding import Encoded, VariantGroup, sizes_of
from benchc.models.inference import MAX_BYTES_TOGETHER, groups_of, infer
from benchc.models.items import Item
from benchc.models.predict import Passes, answer_units, predict_units
from benchc.models.predictor import Answerer, Predictor
from benchc.models.protocol import ModelError, NoTextOnlyError, OptionScores, Reply, UnitInput
from benchc.models.question import Question
from benchc.models.units import Unit

IDENTITY = {"model": "owner/name", "revision": "1", "dtype": "float32"}
QUESTION = Question("Which?", ("a", "b"))
PREDICT = partial(predict_units, passes=Passes())
ANSWER = partial(answer_units, passes=Passes())


class PixelScorer:
    """Scores by pixels, with memory for ``capacity`` variants."""

    one_by_one = False
    encodes_on_host = True

    def __init__(self, capacity: int = 100) -> None:
        self.capacity = capacity
        self.calls: list[int] = []

    def identity(self):
        return IDENTITY

    def prompt(self, question, images):
        return f"{'<image>' * images}{question.question}"

    def encode(self, question, variants):
        inputs = {"variants": variants}
        return Encoded("", sizes_of(variants[0]), len(variants), inputs, independent=False)

    def ask(self, question, encoded):
        return self.score(question, encoded.inputs["variants"])

    def score(self, question, variants):
        self.calls.append(len(variants))
        if len(variants) > self.capacity:
            raise torch.OutOfMemoryError
        sums = np.array([next(image.sum() for image in images) for images in variants], dtype=np.float32)
        logits = np.stack([sums * (k + 1) for k in range(len(question.options))], axis=1)
        return OptionScores(logits, np.ones(len(variants), dtype=np.float32))


def unit(*values: int) -> Unit:
    images = [[np.full((2, 3, 3), value, dtype=np.uint8)] for value in values]
    return Unit("s/1", "fog", list(range(1, len(values) + 1)), images, 1)


@pytest.fixture
def predicting(tmp_path) -> Iterator[Callable[..., Predictor]]:
    """Make predictors with one folder of cached predictions."""
    with ExitStack() as stack:

        def made(scorer: PixelScorer | None = None, compute: Any = PREDICT, name: str = "a") -> Predictor:
            cache = stack.enter_context(PredictionCache(tmp_path, IDENTITY, name))
            return Predictor(scorer or PixelScorer(), cache, compute)

        yield made


def unit_of_two_sizes() -> Unit:
    images = [[np.full((2 + k % 2, 3, 3), k, dtype=np.uint8)] for k in range(5)]
    return Unit("s/1", "fog", [1, 2, 3, 4, 5], images, 1)


def same(a: OptionScores, b: OptionScores) -> bool:
    return a.logits.tobytes() == b.logits.tobytes() and a.label_mass.tobytes() == b.label_mass.tobytes()


def test_new_predictions_are_computed_and_counted(predicting):
    predictor = predicting()
    [(first, prompt_hash, image_hashes)] = predictor.ask(QUESTION, [unit(1, 2, 3)])
    [(again, *hashes)] = predictor.ask(QUESTION, [unit(1, 2, 3)])
    assert same(first, again)
    assert hashes == [prompt_hash, image_hashes]
    assert (predictor.computed, predictor.cached) == (3, 3)
    predictor.ask(QUESTION, [unit(1, 2, 4)])
    predictor.ask(Question("Which?", ("a", "c")), [unit(1, 2, 3)])
    assert (predictor.computed, predictor.cached) == (9, 3)
    assert len(set(image_hashes)) == 3
    assert prompt_hash == hashlib.blake2b(b"<image>Which?\x1fa\x1fb", digest_size=16).hexdigest()
    # A unit that occurs twice is computed once.
    twice = predicting(scorer := PixelScorer())
    one, other = twice.ask(QUESTION, [unit(7, 8), unit(7, 8)])
    assert same(one[0], other[0]) and scorer.calls == [2]
    assert (twice.computed, twice.cached) == (2, 2)


def test_equal_units_at_the_same_time_are_computed_once(predicting):
    computed = []

    def compute(scorer, question, units):
        computed.append(len(units[0].variants))
        time.sleep(0.3)  # longer than the other threads need to start
        return PREDICT(scorer, question, units)

    predictor = predicting(compute=compute)
    with ThreadPoolExecutor(3) as threads:
        equal = [threads.submit(predictor.ask, QUESTION, [unit(1, 2)]) for _ in range(3)]
        results = [future.result()[0][0] for future in equal]
    assert computed == [2] and (predictor.computed, predictor.cached) == (2, 4)
    assert all(same(results[0], other) for other in results)


def test_what_was_encoded_for_another_prompt_is_not_used(predicting):
    given: list[object] = []

    def compute(scorer, question, units):
        given.extend(each.groups for each in units)
        return PREDICT(scorer, question, [UnitInput(each.variants) for each in units])

    own = hashlib.blake2b(b"<image>Which?\x1fa\x1fb", digest_size=16).hexdigest()
    predictor = predicting(compute=compute)
    for number, prompt_hash in enumerate(("0" * 32, own, "f" * 32)):
        predictor.ask(QUESTION, [replace(unit(number), prompt_hash=prompt_hash, groups=["encoded"])])
    assert given == [None, ["encoded"], None]


def test_an_error_in_a_forward_pass_is_one_line_with_the_item(predicting):
    class Failing(PixelScorer):
        def ask(self, question, encoded):
            raise IndexError("index 7 is out\nof bounds")

    with pytest.raises(ModelError) as caught:
        predicting(Failing()).ask(QUESTION, [unit(1, 2)])
    message = str(caught.value)
    assert message.startswith("item s/1 under fog: owner/name: fails on a prompt of 0 tokens with 1 image")
    assert "(IndexError: index 7 is out of bounds, test_predictor.py line " in message
    with pytest.raises(NoTextOnlyError, match=r"takes no prompt without an image \(IndexError: index 7"):
        predict_units(Failing(), QUESTION, [UnitInput([[]])], Passes())
    # Which says enough without the item, as it is so for all.
    with pytest.raises(NoTextOnlyError, match=r"^the model takes no prompt without an image"):
        predicting(Failing()).ask(QUESTION, [replace(unit(1), variants=[[]])])

    class Refusing(PixelScorer):
        def ask(self, question, encoded):
            raise ModelError("a logit is NaN")

    with pytest.raises(ModelError, match=r"^item s/1 under fog: a logit is NaN$"):
        predicting(Refusing()).ask(QUESTION, [unit(1, 2)])


def test_a_unit_is_split_until_it_fits_into_memory(predicting):
    scorer = PixelScorer(capacity=2)
    predictor = predicting(scorer)
    [(scores, *_)] = predictor.ask(QUESTION, [unit(1, 2, 3, 4, 5)])
    np.testing.assert_array_equal(scores.logits[:, 0], [18, 36, 54, 72, 90])
    assert scorer.calls == [5, 2, 3, 1, 2]
    assert predictor.oom_splits == 1
    resumed = predicting(scorer, name="b")
    resumed.ask(QUESTION, [unit(1, 2, 3, 4, 5)])
    # A resumed run counts the splits of the run that computed the unit.
    assert (resumed.computed, resumed.oom_splits) == (0, 1)


def test_nothing_of_a_pass_that_did_not_fit_is_left_at_the_next(predicting):
    """Also where activations refer to each other, as those of hooks and graphs do."""

    class Activations:
        def __init__(self) -> None:
            self.itself = self

    class Kept(PixelScorer):
        def score(self, question, variants):
            assert all(each() is None for each in left)
            if len(variants) > self.capacity:
                left.append(weakref.ref(Activations()))
            return super().score(question, variants)

    left: list[weakref.ref[Activations]] = []
    scorer = Kept(capacity=1)
    gc.disable()
    try:
        predicting(scorer).ask(QUESTION, [unit(1, 2, 3, 4)])
    finally:
        gc.enable()
    assert scorer.calls == [4, 2, 1, 1, 2, 1, 1] and len(left) == 3


@pytest.mark.parametrize(("dtype", "lower"), [("float32", True), ("bfloat16", False)])
def test_a_single_variant_that_does_not_fit_is_an_error(predicting, monkeypatch, dtype, lower):
    monkeypatch.setitem(IDENTITY, "dtype", dtype)
    sentence = "item s/1 under fog: owner/name: a single variant of its images does not fit"
    with pytest.raises(ModelError, match=sentence) as error:
        predicting(PixelScorer(capacity=0)).ask(QUESTION, [unit(1)])
    assert ("set `dtype: bfloat16`" in str(error.value)) == lower


@pytest.mark.parametrize(
    ("capacity", "calls", "splits"), [(100, [3, 2], 0), (2, [3, 1, 2, 2], 1)], ids=["whole", "one size split"]
)
def test_variants_of_different_sizes_are_scored_separately(predicting, capacity, calls, splits):
    scorer, mixed = PixelScorer(capacity), unit_of_two_sizes()
    predictor = predicting(scorer)
    [(scores, _, _)] = predictor.ask(QUESTION, [mixed])
    assert scorer.calls == calls and predictor.oom_splits == splits
    assert scores.logits[:, 0].tolist() == [image.sum() for [image] in mixed.variants]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("field", ["logits", "label_mass"])
def test_scores_that_are_not_finite_are_refused_and_not_cached(predicting, field, value):
    class Overflowing(PixelScorer):
        def score(self, question, variants):
            scores = super().score(question, variants)
            getattr(scores, field)[1:] = value  # the first is named
            return scores

    predictor = predicting(Overflowing())
    with pytest.raises(ModelError, match=r"owner/name: item s/1 under fog at severity 2 has .*(nan|inf)"):
        predictor.ask(QUESTION, [unit(1, 2, 3)])
    assert predictor.computed == 0
    assert [path.name for path in predictor.cache.folder.iterdir()] == ["identity.json"]


class PixelSpeaker(PixelScorer):
    """Answers with its pixels, with memory for ``capacity`` variants."""

    def ask(self, question, encoded):
        scores = self.score(question, encoded.inputs["variants"])
        return [Reply(f"größer als\n{value:.0f}", "length", int(value)) for value in scores.logits[:, 0]]


def test_answers_are_cached_as_predictions_are(tmp_path):
    speaker, mixed = PixelSpeaker(capacity=2), unit_of_two_sizes()
    expected = [Reply(f"größer als\n{image.sum()}", "length", image.sum()) for [image] in mixed.variants]
    with AnswerCache(tmp_path, IDENTITY, "a") as cache:
        answerer = Answerer(speaker, cache, ANSWER)
        assert answerer.ask(QUESTION, [mixed])[0][0] == expected
    assert (answerer.computed, answerer.cached, answerer.oom_splits) == (5, 0, 1)
    assert speaker.calls == [3, 1, 2, 2]
    with AnswerCache(tmp_path, IDENTITY, "b") as cache:
        resumed = Answerer(speaker, cache, ANSWER)
        [(replies, *_)] = resumed.ask(QUESTION, [mixed])
    assert replies == expected and all(type(reply) is Reply for reply in replies)
    assert (resumed.computed, resumed.cached, resumed.oom_splits) == (0, 5, 1)


def test_an_error_names_its_unit_and_keeps_the_others(predicting):
    def compute(scorer, question, units):
        if any(image.max() == 9 for unit in units for [image] in unit.variants):
            raise ModelError("no nines")
        return PREDICT(scorer, question, units)

    predictor = predicting(compute=compute)
    good, bad = unit(1, 2), replace(unit(9), corruption="snow")
    with pytest.raises(ModelError, match="item s/1 under snow: no nines"):
        predictor.ask(QUESTION, [good, bad])
    predictor.ask(QUESTION, [good])
    assert (predictor.computed, predictor.cached) == (0, 2)


def test_units_that_fail_together_are_computed_one_by_one(predicting):
    def compute(scorer, question, units):
        if len(units) > 1:
            raise ModelError("of other shapes")
        return PREDICT(scorer, question, units)

    units = [unit(1, 2), unit(3), unit(4)]
    predictor = predicting(compute=compute)
    predictor.ask(QUESTION, units[:1])
    found = predictor.ask(QUESTION, units)
    assert (predictor.computed, predictor.cached) == (4, 2)
    for (scores, *_), each in zip(found, units, strict=True):
        assert same(scores, PixelScorer().score(QUESTION, each.variants))


def test_another_number_of_values_than_of_units_is_an_error(predicting):
    predictor = predicting(compute=lambda scorer, question, units: PREDICT(scorer, question, [*units] * 2))
    with pytest.raises(ValueError, match="zip"):
        predictor.ask(QUESTION, [unit(1)])


def test_predictions_that_other_code_computed_are_counted_by_it(predicting, monkeypatch):
    units = [unit(1, 2), unit(3)]
    predicting().ask(QUESTION, units)
    predictor = predicting(name="b")
    get = predictor.cache.get

    def adopted(prompt, images):
        cached = get(prompt, images)
        return cached._replace(adopted="code1") if len(images) == 2 else cached

    monkeypatch.setattr(predictor.cache, "get", adopted)
    predictor.ask(QUESTION, units)
    assert (predictor.computed, predictor.cached, dict(predictor.adopted)) == (0, 3, {"code1": 2})


def test_consecutive_units_of_an_item_are_asked_about_together_within_a_number_of_bytes():
    units = [unit(1), unit(2, 3), unit(4), replace(unit(5), item="s/2")]  # of 18 bytes a variant
    units += [unit(6), unit(7, 8)]

    def grouped(most: int) -> list[int]:
        groups = list(groups_of(units, most))
        assert [each for group in groups for each in group] == units
        return list(map(len, groups))

    assert grouped(10**6) == grouped(72) == [3, 1, 2]
    assert grouped(71) == grouped(54) == [2, 1, 1, 2]
    assert grouped(53) == grouped(0) == [1, 1, 1, 1, 1, 1]
    # 64 MiB by default, 512 where they fill a GPU.
    large = replace(units[0], variants=[[np.broadcast_to(np.uint8(0), (2**10, 2**10, 1))]])
    for most, together in ((), [64, 64, 64, 64, 64, 64, 64, 64, 1]), ((MAX_BYTES_TOGETHER,), [512, 1]):
        assert [len(group) for group in groups_of([large] * 513, *most)] == together
    # Of a unit that another process has encoded, what the model reads.
    inputs = {"ids": torch.zeros(2, 3, dtype=torch.int16)}
    encoded = VariantGroup([0], Encoded("", (), 1, inputs, independent=False))
    hashed = replace(unit(1), image_hashes=["h"])
    assert [each.nbytes for each in (unit(1, 2), hashed, replace(hashed, groups=[encoded] * 2))] == [
        36,
        0,
        24,
    ]


def test_each_unit_is_asked_with_its_own_question_and_rows_are_in_the_order_of_the_items():
    items = {id_: Item(Question(f"Who is {id_}?", ()), ()) for id_ in ("s/2", "s/1")}
    units = [replace(unit(n), item=id_) for n, id_ in enumerate(("s/1", "s/1", "s/2", "s/1"))]

    asked: list[int] = []

    def ask(model, question, group):
        asked.append(len(group))
        for each in group:
            yield {"id": each.item, "asked": question.question, "value": int(each.variants[0][0].max())}

    rows = [("s/2", 2), ("s/1", 0), ("s/1", 1), ("s/1", 3)]
    expected = [{"id": id_, "asked": f"Who is {id_}?", "value": value} for id_, value in rows]
    for at_once, together in (((), [2, 1, 1]), ((1,), [2, 1, 1]), ((2,), [1, 1, 1, 1])):
        asked.clear()
        # A list is emptied once its rows are there.
        assert infer(None, items, iter(units), ask, *at_once) == expected
        assert asked == together
