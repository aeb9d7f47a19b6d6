"""The models of the demo see and degrade, and their answers end, on a finished run: `make check-demo`."""

import numpy as np
import polars as pl
import pytest

from benchc.benchmarks.vqa_robustness.schemas.errors import read_errors
from benchc.corruptions.registry import SUITES
from benchc.judges.short_answer import normalised
from benchc.schemas.answers import ANSWERS
from benchc.schemas.grades import GRADES
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.references import REFERENCES
from tests.page_clicks import click_through


@pytest.fixture(scope="module")
def constant(folder) -> float:
    """The accuracy of the best constant answer."""
    truths = read_table(folder / "pool/references.parquet", REFERENCES)["truth"]
    return pl.Series([normalised(truth) for truth in truths]).value_counts()["count"].max() / len(truths)


def test_every_model_is_20_points_above_the_best_constant_answer(folder, config, constant):
    grades = {id_: read_table(folder / f"grades/pool/{id_}.parquet", GRADES) for id_ in config.models}
    clean = {id_: table.filter(corruption="clean")["normalised"].mean() for id_, table in grades.items()}
    print(f"\nbest constant answer {constant:.3f}", clean)
    assert len(clean) >= 3
    assert min(clean.values()) >= constant + 0.20, clean


def test_errors_rise_with_the_level(folder, config):
    errors = read_errors(folder / "tables/errors.csv")
    assert len(errors.corruptions) == 14 and len(errors.models) == len(config.models)
    # The severities of some corruptions are of different kinds.
    ordered = {type_.name for type_ in SUITES["vqa-robustness"].types() if type_.ordered}
    places = [place for place, name in enumerate(errors.corruptions) if name in ordered]
    assert len(places) == 12
    by_level = errors.values[:, places].mean(axis=1)  # [models, levels]
    # Questions are few, and another processor trains slightly different models: one may err by chance.
    assert (np.diff(by_level.mean(axis=0)) > 0).all() and (np.diff(by_level, axis=1) > -0.03).all(), by_level
    rise = by_level[:, 5] - by_level[:, 0]
    assert rise.mean() >= 0.10 and rise.min() >= 0.05, by_level


def test_both_protocols_answer_in_words_that_end_and_differ(folder, config):
    protocols = set()
    for id_ in config.models:
        (path,) = (folder / f"answers/pool/{id_}").glob("*.parquet")
        answers = read_table(path, ANSWERS)
        protocols.add(read_footer(path)["scoring"])
        assert (answers["finish"] == "stop").mean() >= 0.98, id_
        assert (answers["reply"] == "").mean() <= 0.02, id_
        clean = answers.filter(corruption="clean")
        assert clean["reply"].value_counts()["count"].max() <= 0.5 * clean.height, id_
    assert protocols == {"generate", "classify"}


def test_the_results_page_shows_the_run(folder, tmp_path):
    click_through(folder, tmp_path)
