from pathlib import Path

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.vqa_robustness.grades import Answers, answers_of, by_image
from benchc.benchmarks.vqa_robustness.metrics.bootstrap import vre_draws
from benchc.benchmarks.vqa_robustness.metrics.severity import METRICS, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale, studied_weights, vre, weights_of
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors
from benchc.benchmarks.vqa_robustness.schemas.intervals import (
    ACCURACY,
    INTERVALS,
    MODEL,
    STUDIED,
    ends,
    read_intervals,
)
from benchc.benchmarks.vqa_robustness.tables.errors import errors
from benchc.benchmarks.vqa_robustness.tables.vre_corruption import vre_corruption
from benchc.benchmarks.vqa_robustness.tables.vre_intervals import vre_intervals
from benchc.benchmarks.vqa_robustness.tables.vre_model import vre_model
from benchc.errors import InputError
from benchc.statistics.ranks import ranks
from benchc.statistics.resampling import item_counts
from tests.benchmarks.printed import text_of
from tests.benchmarks.vqa_robustness.graded import grades, pool_of, write_other_errors
from tests.standings import standings_of

ITEMS, IMAGES = 120, 30
IDS = [f"s/{number:03}" for number in range(ITEMS)]
CORRUPTIONS = ["snow", "fog", "blur"]
LABELS = {"m": "M", "n": "N", "o": "O"}
SETTINGS = {"labels": LABELS, "corruptions": CORRUPTIONS, "grade": "exact", "draws": 60, "seed": 4}


def vre_by(key: str, graded: dict[str, pl.DataFrame], pool: pl.DataFrame, scale_of: list[Path], **settings):
    """Return the table of VRE by model or by corruption, from its intervals."""
    weighted = {name: settings[name] for name in ("weights", "levels") if name in settings}
    answers = answers_of(graded, settings["labels"], settings["corruptions"], settings["grade"])
    found = Errors(answers.models, answers.corruptions, answers.errors)
    chance = standings_of([*settings["labels"].values()])
    intervals = vre_intervals(graded, pool, chance, scale_of, **settings).frame
    assert dict(intervals.schema) == INTERVALS
    function = {"model": vre_model, "corruption": vre_corruption}[key]
    return function(found, intervals, chance, scale_of, **weighted)


@pytest.fixture(scope="module")
def right() -> np.ndarray:
    """Right answers [3 models, 3 corruptions, 6, items], more alike for the questions of an image."""
    noise = np.random.default_rng(6)
    hard = np.repeat(noise.random(IMAGES), ITEMS // IMAGES)
    level = np.arange(6)[:, None]
    limit = 0.75 - 0.04 * level - 0.03 * np.arange(3)[:, None, None] * (level > 0)
    limit = limit - 0.1 * np.arange(3)[:, None, None, None]
    values = 0.6 * hard + 0.4 * noise.random((3, 3, 6, ITEMS)) < limit
    values[:, :, 0] = values[:, :1, 0]
    return values.astype(float)


@pytest.fixture(scope="module")
def graded(right) -> dict[str, pl.DataFrame]:
    return {id_: grades(values, CORRUPTIONS, IDS) for id_, values in zip(LABELS, right, strict=True)}


def pool_with(images_of: list[int]) -> pl.DataFrame:
    return pool_of(IDS, images=[[f"s://{image}"] for image in images_of])


SHARED = [number // (ITEMS // IMAGES) for number in range(ITEMS)]


def test_the_values_and_ranks_are_those_of_the_errors_and_intervals_contain_them(right, graded):
    weights = (1.0, 2.0, 3.0, 1.0, 1.0)
    pool = pool_with(SHARED)
    metrics = severity_metrics(1 - right.mean(axis=-1), "1..5")
    expected = vre(Scale.of(metrics).scaled(metrics), weights_of(weights))
    answers = answers_of(graded, LABELS, CORRUPTIONS, "exact")
    draws = vre_draws(*by_image(answers, pool), weights_of(weights), 60, 4, "1..5")
    options = SETTINGS | {"weights": weights, "levels": "1..5"}
    for key, names, values, parts, drawn in (
        ("model", ["M", "N", "O"], expected.model, expected.model_parts, draws.models),
        ("corruption", CORRUPTIONS, expected.corruption, expected.corruption_parts, draws.corruptions),
    ):
        table = vre_by(key, graded, pool, [], **options)
        frame = table.frame
        assert frame.to_series(0).to_list() == names
        np.testing.assert_allclose(frame["vre"], values)
        np.testing.assert_allclose(frame.select(METRICS).to_numpy().T, parts)
        assert frame["rank"].to_list() == ranks(values).tolist()
        assert (frame["vre_low"] <= frame["vre"]).all() and (frame["vre"] <= frame["vre_high"]).all()
        same = np.mean([ranks(row) == ranks(values) for row in drawn[1:]], axis=0)
        np.testing.assert_allclose(frame["rank_stability"], same)
        assert "60 resamples of 30 images" in text_of(table)


def test_figures_have_intervals_of_each_weighting_and_of_accuracy(right, graded):
    """Against a loop over resamples: VRE of each weighting, and mean accuracy."""
    pool = pool_with(SHARED)
    chance = standings_of([*LABELS.values()])
    found = vre_intervals(graded, pool, chance, [], **SETTINGS, weights=(3.0, 1.0, 1.0, 1.0, 1.0)).frame
    wrong, questions = by_image(answers_of(graded, LABELS, CORRUPTIONS, "exact"), pool)
    accuracies, values = [], {name: [] for name in studied_weights()}
    for counts in item_counts(IMAGES, 60, 4)[1:]:
        errors = (wrong * counts).sum(axis=-1) / (questions * counts).sum()
        accuracies.append(1 - errors.mean(axis=(1, 2)))
        scaled = Scale.of(metrics := severity_metrics(errors)).scaled(metrics)
        for name, weights in studied_weights().items():
            values[name].append(scaled.mean(axis=2).T @ weights)
    expected = {ACCURACY: accuracies} | {STUDIED.format(name): drawn for name, drawn in values.items()}
    for kind, drawn in expected.items():
        low, high = ends(found, kind, ["O", "M", "nobody"])
        np.testing.assert_allclose(low[:2], np.quantile(drawn, 0.025, axis=0)[[2, 0]])
        np.testing.assert_allclose(high[:2], np.quantile(drawn, 0.975, axis=0)[[2, 0]])
        assert np.isnan([low[2], high[2]]).all()
    assert found.filter(kind=ACCURACY)["rank_stability"].null_count() == 3
    assert not np.allclose(ends(found, MODEL, ["M"]), ends(found, STUDIED.format("equal"), ["M"]))


def test_questions_about_an_image_are_drawn_together(right):
    """Four questions with the same answers say as much as one, if they are about one image."""
    alike = np.repeat(right[..., :: ITEMS // IMAGES], ITEMS // IMAGES, axis=-1)
    graded = {id_: grades(values, CORRUPTIONS, IDS) for id_, values in zip(LABELS, alike, strict=True)}

    def widths(pool: pl.DataFrame) -> np.ndarray:
        two = SETTINGS | {"draws": 200, "labels": {"n": "N", "o": "O"}}
        frame = vre_by("model", graded, pool, [], **two).frame
        return (frame["vre_high"] - frame["vre_low"]).to_numpy()

    shared, alone = widths(pool_with(SHARED)), widths(pool_of(IDS))
    assert shared.mean() > 1.3 * alone.mean()
    # The order of the pool changes nothing.
    np.testing.assert_array_equal(widths(pool_with(SHARED)[::-1]), shared)


def test_answers_are_summed_by_image():
    right = np.random.default_rng(0).random((1, 1, 6, 5))
    answers = Answers(("m",), ("x",), ("a", "b", "c", "d", "e"), right)
    images = [["s://2"], ["s://1"], ["s://2"], ["s://1", "s://2"], ["s://2", "s://1"]]
    pool = pool_of(["e", "d", "c", "b", "a", "unused"], images=[*images[::-1], ["s://0"]])
    wrong, questions = by_image(answers, pool)
    assert questions.tolist() == [1, 2, 2]  # 1; 1 and 2, in both orders; 2
    expected = 1 - right
    parts = [expected[..., [1]], expected[..., [3, 4]], expected[..., [0, 2]]]
    np.testing.assert_allclose(wrong, np.stack([part.sum(axis=-1) for part in parts], axis=-1))
    with pytest.raises(InputError, match="the pool has no item a, which has grades; delete it and run"):
        by_image(answers, pool.filter(pl.col("id") != "a"))


def test_a_frozen_scale_keeps_vre_when_a_model_is_left_out(graded, tmp_path):
    other = write_other_errors(tmp_path / "other.csv")
    two = SETTINGS | {"labels": {"m": "M", "n": "N"}}

    def frames(scale_of: list[Path]) -> list[pl.DataFrame]:
        pool = pool_with(SHARED)
        return [vre_by("model", graded, pool, scale_of, **each).frame.head(2) for each in (SETTINGS, two)]

    all_, less = frames([other])
    columns = ["vre", "vre_low", "vre_high"]
    assert all_.select(columns).equals(less.select(columns))
    joint, joint_less = frames([])
    assert not np.allclose(joint["vre"], joint_less["vre"])
    assert not np.allclose(joint["vre"], all_["vre"])
    write_other_errors(other, rows=6)
    with pytest.raises(InputError, match="First-Drop has one value only, which is no scale"):
        frames([other])
    with pytest.raises(InputError, match="the scale is of 2 files; give one"):
        frames([other, other])
    # A joint scale is that of each resample.
    errors(graded, LABELS, CORRUPTIONS, "exact").frame.write_csv(other)
    pool = pool_with(SHARED)
    joint, frozen = (vre_by("model", graded, pool, each, **SETTINGS).frame for each in ([], [other]))
    np.testing.assert_allclose(joint["vre"], frozen["vre"])
    assert not np.allclose(joint["vre_high"], frozen["vre_high"])


def test_a_model_without_vre_has_no_interval_and_is_named(right, tmp_path):
    perfect = right.copy()
    perfect[1, :, 0] = 1
    graded = {id_: grades(values, CORRUPTIONS, IDS) for id_, values in zip(LABELS, perfect, strict=True)}
    table = vre_by("model", graded, pool_with(SHARED), [], **SETTINGS)
    row = table.frame.row(1, named=True)
    assert row["vre"] is row["vre_low"] is row["rank"] is row["rank_stability"] is None
    assert "N has no VRE: its First-Drop under snow is undefined" in text_of(table)
    assert table.frame["rank"].to_list()[::2] == [1, 2]
    # The file of intervals has all digits and nulls.
    chance = standings_of([*LABELS.values()])
    frame = vre_intervals(graded, pool_with(SHARED), chance, [], **SETTINGS).frame
    assert frame.filter(name="N").select("low", "high", "rank_stability").row(0) == (None, None, None)
    assert frame.select("images", "draws").unique().row(0) == (IMAGES, 60)
    frame.write_csv(tmp_path / "intervals.csv")
    assert read_intervals(tmp_path / "intervals.csv").equals(frame)
