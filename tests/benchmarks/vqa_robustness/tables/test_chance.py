"""A run with a model that never looks at an image, and what is printed of it."""

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.vqa_robustness.grades import answers_of
from benchc.benchmarks.vqa_robustness.metrics.severity import METRICS
from benchc.benchmarks.vqa_robustness.schemas.errors import Errors
from benchc.benchmarks.vqa_robustness.tables.chance import chance
from benchc.benchmarks.vqa_robustness.tables.vre_corruption import vre_corruption
from benchc.benchmarks.vqa_robustness.tables.vre_intervals import vre_intervals
from benchc.benchmarks.vqa_robustness.tables.vre_model import vre_model
from benchc.benchmarks.vqa_robustness.tables.weightings import weightings
from benchc.rendering.chance import Standings
from benchc.schemas.references import REFERENCES
from tests.benchmarks.printed import text_of
from tests.benchmarks.vqa_robustness.graded import grades, pool_of

ITEMS = 120
IDS = [f"s/{number:03}" for number in range(ITEMS)]
CORRUPTIONS = ["snow", "fog", "blur"]
LABELS = {"m": "Blind", "n": "N", "o": "O"}
POOL = pool_of(IDS)
# A sixth of the answers is "red".
TRUTHS = ["red" if number % 6 == 0 else f"w{number}" for number in range(ITEMS)]
ROWS = [(id_, truth, []) for id_, truth in zip(IDS, TRUTHS, strict=True)]
REFERENCES_OF_POOL = pl.DataFrame(ROWS, schema=pl.Schema(REFERENCES.columns), orient="row")
GRADED = {"labels": LABELS, "corruptions": CORRUPTIONS, "grade": "exact"}


@pytest.fixture(scope="module")
def graded():
    noise = np.random.default_rng(3)
    level = np.arange(6)[:, None]
    limit = 0.8 - 0.06 * level - 0.05 * np.arange(3)[:, None, None] * (level > 0)
    right = [(noise.random((3, 6, ITEMS)) < limit - 0.1 * model).astype(float) for model in range(3)]
    # "red" to all questions, but for one reply that corruption changes.
    right[0] = np.broadcast_to([float(truth == "red") for truth in TRUTHS], (3, 6, ITEMS)).copy()
    right[0][:, 5, 0] = [0, 0, 0]
    for values in right:
        values[:, 0] = values[0, 0]
    return {id_: grades(values, CORRUPTIONS, IDS) for id_, values in zip(LABELS, right, strict=True)}


def standings(graded, **ranking):
    settings = GRADED | {"draws": 80, "seed": 1, "rank_below_chance": False} | ranking
    table = chance(graded, POOL, REFERENCES_OF_POOL, **settings)
    return table, Standings(table.frame)


def tables(graded, found):
    answers = answers_of(graded, **GRADED)
    errors = Errors(answers.models, answers.corruptions, answers.errors)
    intervals = vre_intervals(graded, POOL, found, [], **GRADED, draws=80, seed=1).frame
    return errors, intervals, vre_model(errors, intervals, found, [])


def test_chance_is_the_best_answer_to_all_questions(graded):
    table, found = standings(graded)
    row = found.frame.row(0, named=True)
    assert (row["accuracy"], row["constant"]) == pytest.approx((1 / 6, 1 / 6))
    assert row["constant_answer"] == "red"
    assert found.frame["guessing"].null_count() == 3  # open questions list no answers
    assert found.ranked == ["N", "O"] and found.frame["above_chance"].to_list() == [False, True, True]
    assert "Guessing" not in table.markdown and "interval lies above it" in text_of(table)


def test_vre_ranks_those_that_look(graded):
    _, found = standings(graded)
    errors, intervals, table = tables(graded, found)
    blind = table.frame.row(0, named=True)
    # By VRE alone it is the most robust, and stable.
    assert blind["rank_of_all"] == 1 and blind["vre"] == table.frame["vre"].min()
    assert blind["rank"] is blind["rank_stability"] is None and blind["vre_low"] is not None
    assert sorted(table.frame["rank"].drop_nulls()) == [1, 2]
    shares = intervals.filter(pl.col("name").is_in(["N", "O"]), kind="model")["rank_stability"]
    assert shares.null_count() == 0 and shares.n_unique() == 1  # of two, both or none keep their ranks
    text = text_of(table)
    assert "| Blind † |" in text and "†: accuracy on clean images is not above chance." in text
    assert text.index("| Always red |") < text.index("| Blind † |") < text.index("| N |")
    shown = weightings(errors, found, [])
    assert shown.frame.filter(model="Blind")["rank"].null_count() == 6
    assert shown.frame.filter(model="Blind")["rank_of_all"].null_count() == 0
    assert set(shown.frame["rank"].drop_nulls()) == {1, 2}


def test_the_scale_of_one_model_is_said_to_be_its_own(graded):
    _, found = standings(graded)
    errors, intervals, table = tables(graded, found)
    one = errors._replace(models=errors.models[1:2], values=errors.values[1:2])
    text = "The metrics are scaled over N alone, so that its VRE is comparable with no other model's"
    assert text in text_of(vre_model(one, intervals, found, [])) and text not in text_of(table)


def test_the_row_of_an_answer_that_never_changes(graded):
    _, found = standings(graded)
    errors, _, table = tables(graded, found)
    (line,) = (line for line in table.markdown.splitlines() if line.startswith("| Always red"))
    cells = [cell.strip() for cell in line.split("|")[2:-1]]
    # By hand: all metrics are 0 but the average error; scaled by the smallest and largest of the run.
    values = errors.values
    clean, corrupted = values[..., 0], values[..., 1:]
    measured = [corrupted[..., 0] / clean - 1, values.max(axis=-1) / values.min(axis=-1) - 1]
    measured += [values @ (np.arange(6) - 2.5) / 17.5, values.mean(axis=-1)]
    measured.append((corrupted - clean[..., None]).mean(axis=-1))
    parts = [
        (constant - metric.min()) / (metric.max() - metric.min())
        for constant, metric in zip([0, 0, 0, 5 / 6, 0], measured, strict=True)
    ]
    assert [float(cell) for cell in cells[1:6]] == pytest.approx(parts, abs=6e-4)
    assert float(cells[0]) == pytest.approx(np.mean(parts), abs=6e-4) and cells[6:] == ["–", "–"]
    assert len(METRICS) == len(parts)


def test_corruptions_have_ranks_if_a_model_has(graded):
    _, found = standings(graded)
    errors, intervals, _ = tables(graded, found)
    table = vre_corruption(errors, intervals, found, [])
    assert table.frame["rank"].null_count() == 0
    assert "Means include models that have no rank (table chance): Blind." in text_of(table)
    blind = dict.fromkeys(LABELS, graded["m"])
    _, none = standings(blind)
    errors, intervals, models = tables(blind, none)
    table = vre_corruption(errors, intervals, none, [])
    assert table.frame.select("rank", "rank_stability").null_count().row(0) == (3, 3)
    assert "No model is above chance (table chance), so that corruptions have no ranks." in text_of(table)
    assert models.frame["rank"].null_count() == 3 and models.summary == "no ranks"
    # The key ranks all.
    _, found = standings(graded, rank_below_chance=True)
    _, _, table = tables(graded, found)
    assert table.frame["rank"].to_list() == table.frame["rank_of_all"].to_list()
    assert "Blind †" in table.markdown and "have no rank" not in table.markdown
