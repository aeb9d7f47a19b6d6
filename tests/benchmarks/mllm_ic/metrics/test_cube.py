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
    names = ("corruption", "category", "level", "severity")
    assert tuple(clean[name] for name in names) == ("clean", None, None, 0)
    assert rows["low"].null_count() == rows.height  # no resamples were asked for


def test_intervals_are_over_pictures():
    rows = cube(RUN, {"a": "A", "b": "B"}, CATEGORIES, LEVELS, 40, 3)
    row = rows.row(201 * 3 + 3 * 11, named=True)
    assert (row["model"], row["capability"], RUN.capabilities[0].name) == ("B", "image_topic", "image_topic")
    means = RUN.draws(["b"], {"own": np.array([11])}, 40, 3)[1:, 0, 0, 0]
    assert [row["low"], row["high_end"]] == pytest.approx(np.quantile(means, [0.025, 0.975]))


def test_a_model_without_outcomes_is_refused_and_more_draws_extend_fewer():
    with pytest.raises(InputError, match="c has no outcomes"):
        cube(RUN, {"a": "A", "c": "C"}, CATEGORIES, LEVELS, 0, 0)
    # Capabilities are drawn apart; the first row alone is the sample.
    fewer, more = cluster_counts(5, 3, 1, "ocr"), cluster_counts(5, 7, 1, "ocr")
    assert (more[:4] == fewer).all() and (cluster_counts(5, 3, 1, "counting") != fewer).any()
    assert (more == 1).all(axis=1).tolist() == [True] + [False] * 7
