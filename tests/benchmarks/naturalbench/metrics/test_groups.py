import itertools
import json
import lzma
import time

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from benchc.benchmarks.naturalbench.metrics import groups as of_groups
from benchc.benchmarks.naturalbench.metrics.bootstrap import Resamples, estimates
from benchc.benchmarks.naturalbench.metrics.debias import sample_outcomes
from benchc.benchmarks.naturalbench.metrics.extraction import answer_of
from benchc.benchmarks.naturalbench.metrics.group_items import arranged, group_items
from benchc.benchmarks.naturalbench.metrics.groups import CHANCE, MEASURES, group_values, outcomes, violated
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.errors import InputError
from benchc.statistics.resampling import item_counts
from tests.benchmarks.made import frame_of
from tests.benchmarks.naturalbench.simulated import OPTIONS, group_rows, items_of, pool_rows
from tests.shared_data import SHARED, needs_shared

# Truth of the paper's order: question 0 is option 0 for image 0, question 1 for image 1.
TRUTH = np.array([[0, 1], [1, 0]])
EVERY = np.array([*itertools.product([False, True], repeat=4)]).reshape(-1, 2, 2)
RIGHT = arrays.arrays(np.bool_, st.tuples(st.integers(1, 12), st.just(2), st.just(2)))


def means(right):
    return dict(zip(MEASURES, group_values(right).mean(axis=0), strict=True))


def test_outcomes_by_hand_and_by_chance():
    # Question 0 is right on both images, question 1 on image 0 only.
    right = np.array([[True, True], [True, False]])
    assert outcomes(right).tolist() == [True, False, True, False, False]
    assert group_values(right).tolist() == [0.75, 0.5, 0.5, 0]
    # Question 0 about image 1 alone is wrong: question 1 and image 0 are right.
    assert outcomes(np.array([[True, False], [True, True]])).tolist() == [False, True, True, False, False]
    # Each image has one right answer, and question 0 both: I is 0 where Q is not.
    assert outcomes(np.array([[True, True], [False, False]])).tolist() == [True, False, False, False, False]
    assert outcomes(np.array([[True, False], [True, False]])).tolist() == [False, False, True, False, False]
    assert group_values(np.ones((3, 2, 2), dtype=bool)).tolist() == [[1, 1, 1, 1]] * 3
    # All 16 patterns of right and wrong are equally likely.
    assert means(EVERY) == CHANCE == {"acc": 0.5, "q_acc": 0.25, "i_acc": 0.25, "g_acc": 0.0625}
    # The paper's 1/2, 1/2, 1/6: over all 24 orders of the four differences.
    orders = np.array([*itertools.permutations([0.1, 0.2, 0.3, 0.4])]).reshape(-1, 2, 2)
    found = sample_outcomes(orders, np.broadcast_to(TRUTH, orders.shape)).mean(axis=0)
    assert found == pytest.approx([0.5, 0.5, 0.5, 0.5, 1 / 6])
    assert of_groups.CHANCE_SAMPLE == {"q_acc": 1 / 2, "i_acc": 1 / 2, "g_acc": 1 / 6}


@pytest.mark.parametrize("blind", [*itertools.product([0, 1], repeat=2)])
def test_a_reader_that_sees_no_image(blind):
    """Acc is 50 exactly, Q and G are 0, and I is at most 50; always yes has I = 0 as well."""
    answers = np.broadcast_to(np.array(blind)[:, None], (2, 2))
    found = means((answers == TRUTH)[None])
    assert found["acc"] == 0.5 and found["q_acc"] == found["g_acc"] == 0 and found["i_acc"] <= 0.5
    assert (found["i_acc"] == 0) == (blind[0] == blind[1])


@given(RIGHT)
def test_the_inequalities_hold_for_any_answers(right):
    assert violated(means(right), 1e-12) == []
    # The order of groups, images and questions changes nothing.
    order = np.random.default_rng(0).permutation(len(right))
    assert means(right[order]) == pytest.approx(means(right))
    assert group_values(right[:, ::-1, ::-1]).tolist() == group_values(right).tolist()
    swapped = group_values(right.swapaxes(1, 2))
    assert swapped[:, [0, 2, 1, 3]].tolist() == group_values(right).tolist()


@pytest.mark.parametrize(
    ("acc", "q", "i", "g", "broken"),
    [
        (0.9, 0.5, 0.9, 0.6, ["G-Acc <= Q-Acc", "2 Acc - 1 <= Q-Acc"]),
        (0.9, 0.9, 0.8, 0.85, ["G-Acc <= I-Acc"]),
        (0.5, 0.6, 0.5, 0.1, ["Q-Acc <= Acc"]),
        (0.5, 0.5, 0.6, 0.1, ["I-Acc <= Acc"]),
        (0.9, 0.8, 0.7, 0.6, ["2 Acc - 1 <= I-Acc"]),
        (0.9, 0.8, 0.8, 0.5, ["Q-Acc + I-Acc - 1 <= G-Acc"]),
        (0.5, 0.25, 0.25, 0.0625, []),
    ],
)
def test_each_inequality_can_be_violated(acc, q, i, g, broken):
    assert violated({"acc": acc, "q_acc": q, "i_acc": i, "g_acc": g}, 1e-9) == broken
    assert violated({"acc": acc, "q_acc": q, "i_acc": i, "g_acc": g}, 1.0) == []
    # The tolerance itself is allowed: Q-Acc is a quarter larger than Acc.
    accuracies = {"acc": 0.5, "q_acc": 0.75, "i_acc": 0.5, "g_acc": 0.25}
    assert violated(accuracies, 0.25) == [] and violated(accuracies) == ["Q-Acc <= Acc"]


SPLIT = SHARED / "data/real/naturalbench/test_set.json.xz"


def test_items_are_ordered_by_group_question_and_image():
    groups = group_rows(3, types=("yes_no", "multiple_choice"), methods=("mined", "random"))
    shuffled = pl.concat([groups[4:8], groups[:4].reverse(), groups[8:]])
    items = group_items(shuffled, pool_rows(groups, other=["g1"]))
    assert items.groups == ("g1", "g0", "g2") and items.types == ("multiple_choice", "yes_no", "yes_no")
    assert items.ids[1].tolist() == [["s/000", "s/001"], ["s/010", "s/011"]]
    assert items.truth.tolist() == [[[1, 0], [0, 1]], [[0, 1], [1, 0]], [[0, 1], [1, 0]]]
    assert not items.reversed.any() and items.mined.tolist() == [False, True, True]


def of(id_, column, value):
    """Return a column with this value of one item."""
    return pl.when(pl.col("id") == id_).then(pl.lit(value)).otherwise(column).alias(column)


def test_yes_is_option_0_of_yes_no_questions_however_it_is_listed():
    groups = group_rows(1)
    # Item s/001 lists No first: its answer, No, is then option 0 of the item. That of s/011 is Yes, option 1.
    pool = pool_rows(groups).with_columns(of("s/001", "options", [" no", "YES "]), of("s/001", "answer", 0))
    pool = pool.with_columns(of("s/011", "options", ["No", "Yes"]), of("s/011", "answer", 1))
    items = group_items(groups, pool)
    assert items.truth.tolist() == [[[0, 1], [1, 0]]]
    assert items.reversed.tolist() == [[[False, True], [False, True]]]
    groups = group_rows(1, types=("multiple_choice",))
    items = group_items(groups, pool_rows(groups).with_columns(options=pl.lit(["No", "Yes"])))
    assert not items.reversed.any() and items.truth.tolist() == [[[0, 1], [1, 0]]]


def with_other_answers(*ids):
    """Return a change of the pool: these items have the other answer."""
    other = pl.when(pl.col("id").is_in(ids)).then(1 - pl.col("answer")).otherwise("answer")
    return lambda g, p: (g, p.with_columns(answer=other))


WHOLE = "has not one item for each question and image"


def with_options(*options):
    """Return a change of the pool: all items have these options."""
    return lambda g, p: (g, p.with_columns(options=pl.lit([*options])))


WRONG = [("Yes", "Never"), ("No", "No"), ("Yes", "Yes"), ("Maybe", "Yes"), ("No", "Yes!"), ("Yes!", "No")]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda g, p: (g, p.filter(pl.col("id") != "s/110")), "has an item that is not in the pool"),
        (lambda g, p: (g.filter(pl.col("id") != "s/110"), p), WHOLE),
        (lambda g, p: (pl.concat([g, g[5:6]]), p), WHOLE),
        (lambda g, p: (g.with_columns(of("s/110", "i_idx", 1)), p), WHOLE),
        (
            lambda g, p: (g.with_columns(of("s/110", "type", "multiple_choice")), p),
            "has questions of two types",
        ),
        (with_options("Yes", "No", "Maybe"), "has an item with other than two options"),
        (with_options("Yes"), "has an item with other than two options"),
        *(
            (with_options(*options), "has the type yes_no and other options than Yes and No")
            for options in WRONG
        ),
        (with_other_answers("s/110"), "has answers that do not alternate"),
        # Each question has two answers, but the questions about an image have one.
        (with_other_answers("s/110", "s/111"), "has answers that do not alternate"),
        # The questions about each image have two answers, but each question has one: A, A, B, B.
        (with_other_answers("s/101", "s/111"), "has answers that do not alternate"),
    ],
)
def test_what_is_no_group_is_named(change, message):
    groups = group_rows(2)
    with pytest.raises(InputError) as error:
        group_items(*change(groups, pool_rows(groups)))
    named = "g0" if "options" in message else "g1"
    assert str(error.value) == f"group {named!r} {message}; correct its source and run snakemake again"


def test_rows_are_found_whatever_their_order():
    items = items_of(group_rows(2))
    cells = [("clean", 0), ("fog", 3)]
    places = [(id_, *cell) for cell in cells for id_ in items.ids.ravel()]
    rows = pl.DataFrame(places, schema=["id", "corruption", "severity"], orient="row")
    rows = rows.with_row_index("number")
    shuffled = rows.sample(fraction=1, shuffle=True, seed=3)
    order = arranged(shuffled, items.ids, cells, "answer")
    assert shuffled["number"].to_numpy()[order].ravel().tolist() == [*range(16)]
    other = pl.concat([rows[:1].with_columns(id=pl.lit("x")), rows[1:]])
    for wrong, message in (
        (pl.concat([rows, rows[:1]]), "1 repeated answer: (s/000, clean, 0)"),
        (rows[1:], "1 missing answer: (s/000, clean, 0)"),
        (other, "1 unexpected answer: (x, clean, 0)"),
    ):
        with pytest.raises(InputError) as error:
            arranged(wrong, items.ids, cells, "answer")
        assert str(error.value).startswith(message)


@needs_shared
def test_the_public_test_split():
    """950 groups, all alternating; readers of which the scores are known."""
    rows = json.loads(lzma.decompress(SPLIT.read_bytes()))
    assert len(rows) == 3800
    table, pool = [], []
    for number, (_, _, answer, printed) in enumerate(rows):
        group, place = divmod(number, 4)
        type_ = {"mcq": "multiple_choice"}.get(printed, printed)
        table.append((f"s/{number}", f"g{group}", place // 2, place % 2, "x", type_, "English", "mined"))
        pool.append((f"s/{number}", OPTIONS[type_], answer_of(answer, type_)))
    items = group_items(
        frame_of(GROUPS, table), pl.DataFrame(pool, ["id", "options", "answer"], orient="row")
    )
    assert len(items.groups) == 950 and set(items.types) == {"yes_no", "multiple_choice"}
    assert group_values(items.truth == items.truth).mean(axis=0).tolist() == [1, 1, 1, 1]
    yes = group_values(items.truth == 0).mean(axis=0)
    assert dict(zip(MEASURES, yes, strict=True)) == {"acc": 0.5, "q_acc": 0, "i_acc": 0, "g_acc": 0}
    blind = np.random.default_rng(0).integers(0, 2, (950, 2, 1))
    acc, q, i, g = group_values(items.truth == blind).mean(axis=0)
    assert acc == 0.5 and q == g == 0 and 0.2 < i < 0.3


def test_means_by_hand():
    values = np.array([[0.25, 1.0], [0.75, 0.0], [1.0, 0.0]])
    weights = np.array([[1.0, 2.0], [1.0, 0.0], [0.0, 1.0]])
    found = Resamples(3, 5, seed=1).means(values * weights, weights)
    counts = item_counts(3, 5, seed=1)
    for draw in range(6):
        for column in range(2):
            weight = counts[draw] * weights[:, column]
            expected = 100 * (weight * values[:, column]).sum() / weight.sum() if weight.sum() else np.nan
            np.testing.assert_allclose(found[draw, column], expected)
    assert found[0].tolist() == [50.0, pytest.approx(200 / 3)]
    # One group has a value and no interval.
    weights = np.array([[1.0, 1.0], [0.0, 1.0]])
    found = estimates(Resamples(2, 100, seed=0).means(weights * 0.5, weights)).columns("x")
    assert found["x"].to_list() == [50.0, 50.0]
    assert found["x_low"].to_list() == [None, 50.0] and found["x_high"].to_list() == [None, 50.0]
    alone = estimates(Resamples(1, 100, seed=0).means(np.ones((1, 1)))).columns("x")
    assert [alone[name][0] for name in alone] == [100.0, None, None]
    # An interval is of the resamples, without the sample itself.
    assert np.ravel(estimates(np.array([[9.0], [0.0], [1.0]]))).tolist() == [9, 0.025, 0.975]
    # Nothing is null and spoils no other column.
    values = np.array([[np.nan, 0.5, 0.5], [np.nan, 1.0, 0.5]])
    weights = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]])
    found = estimates(Resamples(2, 100, seed=0).means(values * weights, weights)).columns("x")
    assert [column.to_list() for column in found.values()] == [[None, x, None] for x in (75.0, 50.0, 100.0)]


def test_the_draws_are_the_same_for_all():
    values = np.random.default_rng(0).integers(0, 5, (30, 4)) / 4
    whole = Resamples(30, 200, seed=3).means(values)
    single = Resamples(30, 200, seed=3).means(values[:, [2]])
    assert (whole[:, [2]] == single).all()
    # Paired: a difference of equal columns is 0 in every draw.
    assert (whole[:, 1] - Resamples(30, 200, seed=3).means(values)[:, 1] == 0).all()
    assert (Resamples(30, 200, seed=4).means(values)[1:] != whole[1:]).any()

    right = np.repeat((np.arange(1900) % 5 < 2)[:, None].astype(float), 53 * 4, axis=1)
    start = time.process_time()
    low, high = (end[0] for end in estimates(Resamples(1900, 2000, seed=0).means(right))[1:])
    # As many columns as the paper's 53 models: loops over models or draws would take minutes.
    assert time.process_time() - start < 30
    error = 100 * np.sqrt(0.4 * 0.6 / 1900)
    assert low == pytest.approx(40 - 1.96 * error, abs=0.25)
    assert high == pytest.approx(40 + 1.96 * error, abs=0.25)
