import math

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchc.benchmarks.bench_c.metrics.aggregate import (
    DELTA_ACCURACY,
    cell_means,
    clean_means,
    corrective,
    destructive,
    overall_means,
)

# Two items under two corruptions with one severity, and one of them with a second.
SCORES = pl.DataFrame(
    {
        "id": ["a/1", "a/2", "a/1", "a/2", "a/1", "a/2"],
        "corruption": ["fog", "fog", "blur", "blur", "blur", "blur"],
        "severity": [1, 1, 1, 1, 2, 2],
        "correct": [True, False, False, True, False, False],
        "correct_clean": [True, False, True, False, True, False],
        "entropy": [0.5, 0.25, 0.75, 0.5, 1.0, 0.0],
        "delta_entropy": [0.25, 0.0, 0.5, 0.25, 0.75, -0.25],
        "calibration": [0.5, 1.0, 0.75, 0.25, 1.0, 1.0],
        "delta_calibration": [0.25, 0.0, 0.5, -0.75, 0.75, 0.0],
        "ras": [-0.25, 0.0, -0.5, 0.5, -1.0, 0.25],
    }
)
WEIGHTS = pl.DataFrame({"id": ["a/2", "a/1"], "kappa": [0.75, 0.25]})


def test_cells_and_eq_11_by_hand():
    means = cell_means(SCORES, [pl.col("ras"), DELTA_ACCURACY], WEIGHTS)
    assert means.rows() == [
        ("blur", 1, 2, 0.25 * -0.5 + 0.75 * 0.5, 0.25 * -1 + 0.75 * 1),
        ("blur", 2, 2, 0.25 * -1 + 0.75 * 0.25, 0.25 * -1),
        ("fog", 1, 2, 0.25 * -0.25, 0.0),
    ]
    scaled = WEIGHTS.with_columns(pl.col("kappa") * 8)  # weights need not sum to 1
    assert cell_means(SCORES, [pl.col("ras"), DELTA_ACCURACY], scaled).equals(means)
    # Every cell counts alike: (0.25 - 0.0625 - 0.0625) / 3 and (0.5 - 0.25 + 0) / 3.
    overall = overall_means(SCORES, [pl.col("ras"), DELTA_ACCURACY], WEIGHTS)
    assert overall == pytest.approx({"ras": 0.125 / 3, "delta_accuracy": 0.25 / 3})
    assert overall_means(SCORES, [pl.col("ras")]) == pytest.approx({"ras": (-0.125 + 0 - 0.375) / 3})


def test_clean_means_in_both_forms():
    # Clean: a/1 right, S = 0.25, C = 0.25; a/2 wrong, S = 0.25, C = 1.
    assert clean_means(SCORES) == {"acc_clean": 0.5, "entropy_clean": 0.25, "calibration_clean": 0.625}
    assert clean_means(SCORES, WEIGHTS) == {
        "acc_clean": 0.25,
        "entropy_clean": 0.25,
        "calibration_clean": 0.25 * 0.25 + 0.75,
    }


@pytest.mark.parametrize(("low", "high"), [("entropy", "calibration"), ("calibration", "entropy")])
def test_clean_values_that_rounding_moves_beyond_their_range_are_its_ends(low, high):
    below = {low: pl.lit(0.25), f"delta_{low}": pl.lit(math.nextafter(0.25, 1))}
    above = {high: pl.lit(1.0), f"delta_{high}": pl.lit(-(2.0**-52))}
    found = clean_means(SCORES.with_columns(**below, **above))
    assert (found[f"{low}_clean"], found[f"{high}_clean"]) == (0, 1)


@pytest.mark.parametrize("id_", ["a/1", "a/2"])
@pytest.mark.parametrize("corruption", ["blur", "fog"])
def test_an_item_counts_among_the_clean_ones_under_whatever_corruption_it_was_evaluated(id_, corruption):
    some = SCORES.filter((pl.col("id") != id_) | (pl.col("corruption") != corruption))
    assert clean_means(some) == clean_means(SCORES)


def test_destructive_and_corrective_split_by_the_clean_answer_and_an_empty_set_gives_null():
    assert destructive(SCORES).rows() == [("blur", 1, -0.75), ("fog", 1, -0.25)]
    assert corrective(SCORES).rows() == [("blur", 1, 0.375), ("fog", 1, 0.0)]
    right = SCORES.with_columns(correct_clean=pl.lit(True))
    assert corrective(right).rows() == [("blur", 0, None), ("fog", 0, None)]
    assert overall_means(SCORES.clear(), [pl.col("ras")]) == {"ras": None}
    assert clean_means(SCORES.clear())["acc_clean"] is None
    nothing = WEIGHTS.with_columns(kappa=pl.lit(0.0))
    assert cell_means(SCORES, [pl.col("ras")], nothing)["ras"].to_list() == [None] * 3
    assert overall_means(SCORES, [pl.col("ras")], nothing) == {"ras": None}


@pytest.mark.parametrize(
    ("scores", "weights", "message"),
    [
        (SCORES, WEIGHTS.head(1), "item a/1 has the weight"),
        *(
            (SCORES, WEIGHTS.with_columns(kappa=pl.Series([0.5, bad])), "item a/1 has the weight")
            for bad in (-0.25, math.nan, math.inf)
        ),
        (
            SCORES,
            WEIGHTS.with_columns(kappa=pl.Series([-0.25, -0.5])),
            r"item a/1 has the weight -0\.5, not a finite number >= 0 \(2 such items\)",
        ),
        *(
            (SCORES.with_columns(ras=pl.Series([bad, *[0.0] * 5])), None, "ras is missing or NaN")
            for bad in (None, math.nan)
        ),
    ],
)
def test_missing_values_and_unusable_weights_are_refused(scores, weights, message):
    with pytest.raises(ValueError, match=message):
        cell_means(scores, [pl.col("ras")], weights)


@settings(max_examples=25)
@given(st.permutations(range(6)), st.lists(st.floats(-2, 1), min_size=6, max_size=6))
def test_the_order_of_rows_changes_no_bit(order, values):
    scores = SCORES.with_columns(ras=pl.Series(values))
    shuffled = scores[list(order)]
    for weights in (None, WEIGHTS):
        expected = cell_means(scores, [pl.col("ras")], weights)
        assert cell_means(shuffled, [pl.col("ras")], weights).equals(expected)
        assert clean_means(shuffled, weights) == clean_means(scores, weights)
    assert destructive(shuffled).equals(destructive(scores))
