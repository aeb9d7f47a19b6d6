"""The cube's rows, against the outcomes and plain resamples."""

import numpy as np
import pytest

from benchc.benchmarks.mllm_ic.metrics.cube import cube
from benchc.benchmarks.mllm_ic.metrics.draws import cluster_counts
from benchc.benchmarks.mllm_ic.schemas.cube import CUBE
from benchc.errors import InputError
from tests.benchmarks.mllm_ic.made_up import CATEGORIES, LEVELS, items_of, run_of

RUN = run_of({"a": 0.9, "b": 0.6}, items_of(["image_topic", "ocr", "image_style"], 5, 2)[2:])


def test_a_row_is_the_accuracy_of_its_questions():
    rows = cube(RUN, {"b": "Model B", "a": "Model A"}, CATEGORIES, LEVELS, 0, 0)
    assert rows.schema == CUBE.columns and rows.height == 2 * 201 * 3
    assert rows["model"].unique(maintain_order=True).to_list() == ["Model B", "Model A"]
    row = rows.row(201 * 3 + 3 * 7 + 2, named=True)  # Model A, the seventh corrupted scenario, OCR
    corruption, severity = RUN.scenarios[7]
    assert (row["corruption"], row["severity"], row["capability"]) == (corruption, severity, "ocr")
    assert (row["category"], row["level"]) == (CATEGORIES[corruption], LEVELS[CATEGORIES[corruption]])
    own = (RUN.items["capability"] == "ocr").to_numpy()
    assert (row["accuracy"], row["n"]) == (pytest.approx(RUN.right("a")[own, 7].mean()), own.sum())
    clean = rows.row(0, named=True)
    assert (clean["corruption"], clean["category"], clean["level"], clean["severity"]) == (
        "clean",
        None,
        None,
        0,
    )
    assert rows["low"].null_count() == rows.height  # no resamples were asked for


def test_intervals_are_over_pictures():
    rows = cube(RUN, {"a": "A", "b": "B"}, CATEGORIES, LEVELS, 40, 3)
    own = (RUN.items["capability"] == "image_topic").to_numpy()
    right, picture = RUN.right("b")[own, 11], RUN.items["picture"].to_numpy()[own]
    shown = np.unique(picture)
    assert len(shown) < len(picture)
    counts = cluster_counts(len(shown), 40, 3, "image_topic")[1:]
    means = [
        sum(count * right[picture == each].sum() for each, count in zip(shown, draw, strict=True))
        / sum(count * (picture == each).sum() for each, count in zip(shown, draw, strict=True))
        for draw in counts
    ]
    row = rows.row(201 * 3 + 3 * 11, named=True)
    assert (row["model"], row["capability"]) == ("B", "image_topic")
    assert [row["low"], row["high_end"]] == pytest.approx(np.quantile(means, [0.025, 0.975]))


def test_a_model_without_outcomes_is_refused():
    with pytest.raises(InputError, match="c has no outcomes"):
        cube(RUN, {"a": "A", "c": "C"}, CATEGORIES, LEVELS, 0, 0)


def test_more_draws_extend_fewer_and_capabilities_are_drawn_apart():
    fewer, more = cluster_counts(5, 3, 1, "ocr"), cluster_counts(5, 7, 1, "ocr")
    assert (more[:4] == fewer).all() and (cluster_counts(5, 3, 1, "counting") != fewer).any()
