import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchc.benchmarks.vqa_robustness.grades import answers_of, read_grades
from benchc.errors import InputError
from tests.benchmarks.vqa_robustness.graded import grades, write_grades

IDS = ["s/2", "s/0", "s/1"]
CORRUPTIONS = ["snow", "fog"]
LABELS = {"m": "M", "n": "N"}
VALUES = st.sampled_from([0.0, 0.3, 1.0])
RIGHT = arrays(float, (2, 2, 6, 3), elements=VALUES)


def tables(right: np.ndarray) -> dict[str, pl.DataFrame]:
    return {id_: grades(values, CORRUPTIONS, IDS) for id_, values in zip(LABELS, right, strict=True)}


@given(RIGHT, st.randoms(use_true_random=False))
def test_each_answer_is_in_its_place_in_any_order_of_rows(right, random):
    right[:, 1, 0] = right[:, 0, 0]  # clean answers are of no corruption
    order = list(range(11 * 3))
    random.shuffle(order)
    shuffled = {id_: table[order] for id_, table in tables(right).items()}
    by_id = right[..., [1, 2, 0]]
    for grade, expected in (("soft", by_id), ("exact", by_id == 1), ("normalised", by_id > 0)):
        found = answers_of(shuffled, LABELS, CORRUPTIONS, grade)
        assert (found.models, found.corruptions) == (("M", "N"), ("snow", "fog"))
        assert found.items == tuple(sorted(IDS))
        np.testing.assert_array_equal(found.right, expected)
        np.testing.assert_allclose(found.errors, 1 - expected.mean(axis=-1))


def test_models_and_corruptions_are_in_the_order_of_the_settings():
    right = np.random.default_rng(1).integers(0, 2, (2, 2, 6, 3)).astype(float)
    found = answers_of(tables(right), {"n": "N", "m": "M"}, ["fog", "snow"], "exact")
    assert (found.models, found.corruptions) == (("N", "M"), ("fog", "snow"))
    np.testing.assert_array_equal(found.right[..., 1:, :], right[::-1, ::-1][..., 1:, :][..., [1, 2, 0]])
    # A model that is not shown may be there.
    assert answers_of(tables(right), {"n": "N"}, ["fog"], "exact").right.shape == (1, 1, 6, 3)


def without(table: pl.DataFrame) -> pl.DataFrame:
    return table.filter(~((pl.col("id") == "s/1") & (pl.col("severity") == 4)))


@pytest.mark.parametrize(
    ("labels", "change", "grade", "sentence"),
    [
        (LABELS, {"n": without}, "exact", "n: 2 missing grades: (s/1, fog, 4), (s/1, snow, 4); delete it"),
        ({"m": "M", "o": "O"}, {}, "exact", "o has no grades; delete it and run snakemake again"),
        ({"m": "M", "n": "M"}, {}, "exact", "the grades: m and n have one label, 'M'; give"),
        (
            LABELS,
            {"m": lambda table: table.with_columns(soft=pl.lit(None, pl.Float64))},
            "soft",
            "m has no soft grade of s/0 under clean at severity 0: its source has one reference answer; "
            "choose the grade normalised or exact",
        ),
        (
            LABELS,
            dict.fromkeys("mn", pl.DataFrame.clear),
            "exact",
            "no answer has a grade; evaluate at least one item",
        ),
    ],
)
def test_incomplete_grades_are_one_sentence(labels, change, grade, sentence):
    found = tables(np.ones((2, 2, 6, 3)))
    found |= {id_: changed(found[id_]) for id_, changed in change.items()}
    with pytest.raises(InputError) as caught:
        answers_of(found, labels, CORRUPTIONS, grade)
    assert str(caught.value).startswith(sentence)


def test_files_are_read_by_the_ids_in_their_footers(tmp_path):
    found = tables(np.zeros((2, 2, 6, 3)))
    paths = write_grades(tmp_path, found)
    moved = paths[1].rename(tmp_path / "other.parquet")
    read = read_grades([moved, paths[0]])
    assert list(read) == ["n", "m"] and read["m"].equals(found["m"])
    with pytest.raises(InputError, match=r"m\.parquet: a second file of the grades of m; give one for each"):
        read_grades([paths[0], paths[0]])
    for fact, ours in {"pool": "p", "seed": 1, "alpha": "drop"}.items():
        (other,) = write_grades(tmp_path, {"o": found["m"]}, **{fact: "another"})
        with pytest.raises(InputError, match=f"its {fact} is another, that of the files before is {ours}"):
            read_grades([paths[0], other])


@pytest.mark.parametrize("wrong", [7.0, -0.5])
def test_a_second_grade_and_one_outside_its_range_are_refused(wrong):
    table = tables(np.zeros((2, 2, 6, 3)))["m"]
    outside = pl.when(pl.int_range(pl.len()) == 4).then(wrong).otherwise("soft")
    for changed, message in (
        (pl.concat([table, table[:1]]), r"m: 1 repeated grade: \(s/\d, clean, 0\)"),
        (table.with_columns(soft=outside), r"m has a grade outside \[0, 1\]"),
    ):
        with pytest.raises(InputError, match=message):
            answers_of({"m": changed}, {"m": "M"}, CORRUPTIONS, "soft")
