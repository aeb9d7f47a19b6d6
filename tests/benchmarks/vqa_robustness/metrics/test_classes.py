import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from benchc.benchmarks.vqa_robustness.metrics.classes import (
    class_accuracy,
    class_order,
    mean_over_levels,
    question_classes,
)


def pool(*categories: str | None) -> pl.DataFrame:
    ids = [f"s/{number}" for number in range(len(categories))]
    return pl.DataFrame({"id": ids, "category": categories}, schema={"id": pl.String, "category": pl.String})


def test_the_question_types_of_vqav2_are_in_the_seven_classes():
    types = ["is this", "what", "what is", "is the", "are the", "how many", "what color is", "what kind of"]
    classes = question_classes(pool(*types, "what is the", "is this a", None, " What "))
    order = ["is_this", "what", "what_is", "is_are_the", "how_many", "what_color_is", "what_kind_of"]
    expected = [*order[:4], *order[3:], None, None, None, "what"]
    assert classes["question_class"].to_list() == expected
    assert class_order(classes) == order
    # One question type of VQAv2 decides for all.
    classes = question_classes(pool("how many", "why", "which", "what", "was"))
    assert classes["question_class"].to_list() == ["how_many", None, None, "what", None]
    assert class_order(classes) == ["what", "how_many"]


def test_other_categories_are_the_classes_themselves():
    classes = question_classes(pool("shapes", "charts", None, "What is it"))
    assert classes["question_class"].to_list() == ["shapes", "charts", "(none)", "What is it"]
    assert class_order(classes) == ["(none)", "What is it", "charts", "shapes"]
    # Sorted also where some are called as those of Table A.2.
    mixed = pl.DataFrame({"question_class": ["what", "how_many", "shapes"]})
    assert class_order(mixed) == ["how_many", "shapes", "what"]


@given(
    arrays(float, (2, 3, 6, 5), elements=st.sampled_from([0.0, 0.25, 1.0])),
    st.lists(st.sampled_from(["a", "b", None]), min_size=3, max_size=3).map(lambda names: ["a", *names, "b"]),
)
def test_accuracy_is_micro_averaged_in_a_class_and_macro_averaged_over_cells(right, classes):
    found = class_accuracy(right, classes, ["b", "a"])
    for place, name in enumerate("ba"):
        members = [item for item, each in enumerate(classes) if each == name]
        for cell in np.ndindex(2, 3, 6):
            expected = sum(right[cell][item] for item in members) / len(members)
            assert found[place][cell] == pytest.approx(expected)
        for corruption in range(3):
            cells = [found[place, model, corruption, level] for model in range(2) for level in range(6)]
            corrupted = [value for number, value in enumerate(cells) if number % 6]
            assert mean_over_levels(found, "0..5")[place, corruption] == pytest.approx(sum(cells) / 12)
            assert mean_over_levels(found, "1..5")[place, corruption] == pytest.approx(sum(corrupted) / 10)
