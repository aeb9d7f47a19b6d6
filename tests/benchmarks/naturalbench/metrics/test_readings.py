from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.naturalbench.metrics import readings
from benchc.benchmarks.naturalbench.metrics.debias import best_tau, bounds, halves, predicted
from benchc.benchmarks.naturalbench.metrics.extraction import answer_of
from benchc.benchmarks.naturalbench.metrics.groups import OUTCOMES, outcomes
from benchc.benchmarks.naturalbench.metrics.readings import prior_differences, probabilities, read_groups
from benchc.benchmarks.naturalbench.schemas.scores import PLACES, SCORES
from benchc.errors import InputError
from tests.benchmarks.naturalbench import simulated
from tests.benchmarks.naturalbench.simulated import CLEAN, group_rows, items_of, prediction_rows

TYPES = ("yes_no", "multiple_choice")
ITEMS = items_of(group_rows(40, types=TYPES), other=["g3", "g8"])
CELLS = [("clean", 0), ("fog", 1), ("blur", 5)]
ALL = ("deterministic", "global", "sample")


def random_logits(items=ITEMS, cells=CLEAN, seed=0):
    return np.random.default_rng(seed).normal(size=(len(cells), *items.truth.shape, 2)).astype(np.float32)


def of_reading(scores, name, corruption="clean"):
    return scores.filter((pl.col("reading") == name) & (pl.col("corruption") == corruption))


def outcomes_of(rows):
    return rows.select(OUTCOMES).to_numpy()


def options_of(rows):
    return rows.select(f"p{place}" for place in PLACES).to_numpy().reshape(-1, 2, 2)


def test_letters_are_scaled_by_their_mass_and_texts_are_not():
    logits = random_logits()
    letters = probabilities(prediction_rows(ITEMS, logits, mass=0.25), ITEMS, CLEAN, "letter")
    softmax = np.exp(logits.astype(float)) / np.exp(logits.astype(float)).sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(letters.differences, 0.25 * (softmax[..., 0] - softmax[..., 1]), rtol=1e-12)
    likelihoods = -np.abs(logits)
    expected = np.exp(likelihoods.astype(float))
    for scoring in ("text", "text_mean"):
        texts = probabilities(prediction_rows(ITEMS, likelihoods, mass=0.25), ITEMS, CLEAN, scoring)
        np.testing.assert_allclose(texts.differences, expected[..., 0] - expected[..., 1], rtol=1e-12)
    for found, given in ((letters, logits), (texts, likelihoods)):
        given = given.astype(float)
        np.testing.assert_array_equal(found.log_differences, given[..., 0] - given[..., 1])


def test_an_item_that_lists_no_first():
    flipped = np.zeros(ITEMS.truth.shape, dtype=bool)
    flipped[2, 0, 1] = True
    items = replace(ITEMS, reversed=flipped)
    logits = random_logits()
    plain = probabilities(prediction_rows(ITEMS, logits), ITEMS, CLEAN, "letter")
    found = probabilities(prediction_rows(items, logits), items, CLEAN, "letter")
    sign = np.where(flipped, -1, 1)
    np.testing.assert_allclose(found.differences[0], sign * plain.differences[0])
    np.testing.assert_allclose(found.log_differences[0], sign * plain.log_differences[0])
    priors = random_logits(seed=1)[0, :, :, 0]
    rows = prior_rows(items, priors)
    # The item about image 0 is the one that was asked.
    np.testing.assert_allclose(prior_differences(rows, items, "no_image"), priors[..., 0] - priors[..., 1])
    first = replace(items, reversed=flipped[:, :, ::-1])
    expected = priors[2, 0, 1] - priors[2, 0, 0]
    assert prior_differences(rows, first, "no_image")[2, 0] == pytest.approx(expected)


def prior_rows(items, logits, prior="no_image"):
    pairs = zip(items.ids[:, :, 0].flat, logits.reshape(-1, 2).tolist(), strict=True)
    rows = [(id_, prior, 0, pair) for id_, pair in pairs]
    return pl.DataFrame(rows, schema=["id", "corruption", "severity", "logits"], orient="row")


def test_every_reading_at_clean_and_three_under_corruption():
    logits = random_logits(cells=CELLS)
    given = probabilities(prediction_rows(ITEMS, logits, CELLS), ITEMS, CELLS, "letter")
    answers = np.random.default_rng(5).integers(-1, 2, given.differences.shape)
    prior = np.random.default_rng(6).normal(size=(40, 2))
    found = read_groups(
        ITEMS, CELLS, answers=answers, given=given, readings=ALL, priors={"grey_image": prior}
    )
    scores = found.scores
    assert dict(scores.schema) == dict(pl.Schema(SCORES.columns))
    present = scores.select("corruption", "severity", "reading").unique(maintain_order=True).rows()
    clean = ["decoding", "deterministic", "post_hoc_grey_image", *readings.GLOBAL, "sample"]
    assert present == [
        *(("clean", 0, reading) for reading in clean),
        *((*cell, name) for cell in CELLS[1:] for name in ("decoding", "deterministic", "sample")),
    ]
    # Answers need no probabilities.
    assert read_groups(ITEMS, CELLS, answers=answers).scores.equals(scores.filter(reading="decoding"))
    for number, cell in enumerate(CELLS):
        rows = scores.filter(corruption=cell[0], severity=cell[1])
        assert rows.filter(reading="decoding")["group"].to_list() == list(ITEMS.groups)
        decoded = rows.filter(reading="decoding")
        right = answers[number] == ITEMS.truth
        assert (outcomes_of(decoded) == outcomes(right)).all()
        assert (decoded.select(f"c{place}" for place in PLACES).to_numpy().reshape(-1, 2, 2) == right).all()
        said = decoded.select(pl.col(f"p{place}").fill_null(-1) for place in PLACES).to_numpy()
        assert (said.reshape(-1, 2, 2) == answers[number]).all()
        expected = predicted(given.differences[number])
        assert (options_of(rows.filter(reading="deterministic")) == expected).all()
    sample = of_reading(scores, "sample")
    alone = sample.select(f"{kind}{place}" for kind in "pc" for place in PLACES)
    assert alone.null_count().row(0) == (40,) * 8
    debiased = of_reading(scores, "post_hoc_grey_image")
    assert (options_of(debiased) == (given.log_differences[0] <= prior[:, :, None])).all()


def test_a_reply_without_an_answer_is_wrong_everywhere():
    answers = ITEMS.truth[None].copy()
    answers[0, 0, 1, 0] = -1
    scores = read_groups(ITEMS, CLEAN, answers=answers).scores
    assert scores.row(0, named=True)["p10"] is None and scores.row(0, named=True)["c10"] is False
    assert outcomes_of(scores)[0].tolist() == [True, False, False, True, False]
    assert outcomes_of(scores)[1:].all()


def test_thresholds_are_chosen_from_the_groups_that_they_name():
    given = probabilities(prediction_rows(ITEMS, random_logits(seed=16)), ITEMS, CLEAN, "letter")
    found = read_groups(ITEMS, CLEAN, given=given, readings=("global",))
    d = given.differences[0]
    low, high = bounds(d, ITEMS.truth)
    taus = {(tau["reading"], tau["type"], tau["half"]): tau for tau in found.taus}
    types, half = np.array(ITEMS.types), halves(ITEMS.groups)
    every = np.ones(40, dtype=bool)
    parts = {
        ("global", None, None): (every, every),
        ("global_by_type", "yes_no", None): (types == "yes_no", types == "yes_no"),
        ("global_by_type", "multiple_choice", None): (types != "yes_no", types != "yes_no"),
        ("cross_fitted", None, 0): (half == 1, half == 0),
        ("cross_fitted", None, 1): (half == 0, half == 1),
    }
    assert set(taus) == set(parts)
    for key, (chosen_from, applied_to) in parts.items():
        best = best_tau(low[chosen_from], high[chosen_from])
        tau = taus[key]
        assert [tau[name] for name in ("tau", "low", "high", "right")] == [*best]
        assert tau["groups"] == chosen_from.sum()
        rows = of_reading(found.scores, key[0])
        assert (options_of(rows)[applied_to] == predicted(d[applied_to], best.tau)).all()
        if chosen_from is applied_to or (chosen_from == applied_to).all():
            assert rows.filter(pl.Series(applied_to))["g"].sum() == best.right
    # The thresholds differ, or the test could not tell them apart.
    assert len({tau["tau"] for tau in found.taus}) == 5


def test_thresholds_are_chosen_from_groups_of_mined_pairs_and_applied_to_all():
    mined = np.arange(40) % 4 == 0
    items = replace(ITEMS, mined=mined)
    given = probabilities(prediction_rows(ITEMS, random_logits(seed=16)), ITEMS, CLEAN, "letter")
    found = read_groups(items, CLEAN, given=given, readings=("global",))
    d = given.differences[0]
    low, high = bounds(d, ITEMS.truth)
    tau = next(tau for tau in found.taus if tau["reading"] == "global")
    best = best_tau(low[mined], high[mined])
    assert (tau["tau"], tau["groups"]) == (best.tau, mined.sum()) and best.tau != best_tau(low, high).tau
    assert (options_of(of_reading(found.scores, "global")) == predicted(d, best.tau)).all()
    # Random pairs alone have thresholds too.
    alone = read_groups(replace(ITEMS, mined=np.zeros(40, bool)), CLEAN, given=given, readings=("global",))
    assert {tau["groups"] for tau in alone.taus if tau["reading"] == "global"} == {40}
    # The best thresholds are no worse than 0.
    for seed in range(20):
        scores, _ = simulated.score_rows(ITEMS, seed)
        right = {name: rows["g"].sum() for (name,), rows in scores.group_by("reading")}
        assert right["deterministic"] <= right["global"] <= right["global_by_type"] <= right["sample"]


def test_the_order_of_groups_changes_no_score():
    groups = group_rows(12, types=TYPES)
    order = [4, 11, 0, 7, 2, 9, 1, 10, 3, 8, 5, 6]
    moved = pl.concat([groups[4 * group : 4 * group + 4] for group in order])
    logits = random_logits(items_of(groups))
    found = []
    for rows in (groups, moved):
        items = items_of(rows)
        predictions = prediction_rows(items_of(groups), logits)
        given = probabilities(predictions, items, CLEAN, "letter")
        read = read_groups(items, CLEAN, given=given, readings=ALL)
        found.append((read.scores.sort("reading", "group"), read.taus))
    assert found[0][0].equals(found[1][0])
    by_key = [{(t["reading"], t["type"], t["half"]): t for t in taus} for _, taus in found]
    assert by_key[0] == by_key[1]


def test_answers_are_read_by_the_type_of_the_question():
    items = items_of(group_rows(2, types=TYPES))
    replies = dict(zip(items.ids.ravel(), ["Yes", "No", "A", "a", "A", "b", "Yes", "(B)"], strict=True))
    given = [(id_, "clean", 0, reply) for id_, reply in replies.items()]
    rows = pl.DataFrame(given, schema=["id", "corruption", "severity", "reply"], orient="row")

    def answered(rows, *given, **more):
        return readings.answered(rows, items, CLEAN, *given, **more).ravel().tolist()

    assert answered(rows, "strict") == [0, 1, -1, -1, 0, -1, -1, 1]
    assert answered(rows, "strict", by_text=True) == [0, 1, -1, -1, -1, -1, -1, -1]
    texts = rows.with_columns(reply=pl.col("reply").replace("A", "A CAT."))
    assert answered(texts, "strict", by_text=True)[4] == 1
    assert answered(rows, "official") == [0, 1, -1, -1, 0, 1, -1, 1]


def test_infinite_log_probabilities_are_refused_for_post_hoc_alone():
    logits = random_logits()
    logits[0, [1, 2], 0, 1, 1] = -np.inf
    given = probabilities(prediction_rows(ITEMS, logits), ITEMS, CLEAN, "letter")
    assert given.differences[0, 1, 0, 1] == 1.0
    read_groups(ITEMS, CLEAN, given=given, readings=ALL)
    with pytest.raises(InputError, match=r"item s/101 under clean has an option of probability 0"):
        read_groups(ITEMS, CLEAN, given=given, priors={"no_image": np.zeros((40, 2))})
    priors = random_logits(seed=1)[0, :, :, 0]
    priors[[4, 5], 1, 0] = -np.inf
    with pytest.raises(InputError, match=r"item s/410 under no_image has an option of probability 0"):
        prior_differences(prior_rows(ITEMS, priors), ITEMS, "no_image")
    # Other numbers of options are refused.
    rows = prediction_rows(ITEMS, np.zeros((1, *ITEMS.truth.shape, 3)))
    with pytest.raises(InputError, match=r"\(s/000, clean, 0\) has 3 logits, but groups have two options"):
        probabilities(rows, ITEMS, CLEAN, "letter")


def test_the_halves_of_an_odd_number_of_groups_count_each_other():
    items = items_of(group_rows(7))
    given = probabilities(prediction_rows(items, random_logits(items)), items, CLEAN, "letter")
    taus = read_groups(items, CLEAN, given=given, readings=("global",)).taus
    counted = {tau["half"]: tau["groups"] for tau in taus if tau["reading"] == "cross_fitted"}
    # Half 0 has four groups, whose threshold is chosen from the three of half 1.
    assert halves(items.groups).sum() == 3 and counted == {0: 3, 1: 4}


YES_NO, LETTERS = "yes_no", "multiple_choice"


@pytest.mark.parametrize(
    ("kind", "reply", "strict", "official"),
    [
        (YES_NO, "Yes", 0, 0),
        (YES_NO, "no.", 1, 1),
        (YES_NO, "YES, there is no dog.", 0, 0),
        (YES_NO, "No, yes", 1, 1),
        (YES_NO, "There are none.", None, None),
        (YES_NO, "Nobody knows", None, None),
        (YES_NO, "", None, None),
        (YES_NO, "I cannot say, but not yesterday", None, None),
        (YES_NO, "<think>yes? no</think> No", 1, 0),
        (YES_NO, "<think>yes, it", None, 0),
        (YES_NO, "A", None, None),
        (LETTERS, "A", 0, 0),
        (LETTERS, "B", 1, 1),
        (LETTERS, "(B) a cat", 1, 1),
        (LETTERS, "B: the dog", 1, 1),
        (LETTERS, "Answer: A.", 0, 0),
        (LETTERS, "Option A is right", 0, 0),
        (LETTERS, "A or B", 0, 0),
        (LETTERS, "B, not A", 1, 1),
        (LETTERS, "A. a dog", 0, 0),
        (LETTERS, "A\nthe dog", 0, 0),
        # The article is the letter A in the paper's code alone.
        (LETTERS, "It is a dog, so B", 1, 0),
        (LETTERS, "A dog. The answer is B", 1, 0),
        (LETTERS, "a", None, 0),
        (LETTERS, "b", None, 1),
        (LETTERS, "a dog", None, 0),
        (LETTERS, "AB", None, None),
        (LETTERS, "Bob's", None, None),
        (LETTERS, "A's colour", None, 0),
        (LETTERS, "the dog", None, None),
        (LETTERS, "<think>A</think>B", 1, 0),
        (LETTERS, "Yes", None, None),
    ],
)
def test_answers_in_replies(kind, reply, strict, official):
    assert answer_of(reply, kind) == strict
    assert answer_of(reply, kind, "official") == official


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("dark red", 0),
        ("It is red.", 1),
        ("Red, not dark  red", 1),
        ("The colour is DARK\nRED", 0),
        ("redder", None),
        ("A", None),
        ("<think>red</think>dark red", 0),
    ],
)
def test_options_that_are_called_by_their_texts(reply, option):
    assert answer_of(reply, LETTERS, texts=("dark red.", "red")) == option
    # Of two texts that begin at one place, the longer one.
    assert answer_of("dark red", LETTERS, texts=("dark", "dark red")) == 1
    # Yes and No are called so in any prompt.
    assert answer_of("no", YES_NO, texts=("Yes", "No")) == 1
