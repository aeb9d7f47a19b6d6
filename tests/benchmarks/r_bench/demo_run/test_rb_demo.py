"""The models of the demo see, describe and degrade, on a finished run: `make check-demo`."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import binomtest

from benchc.benchmarks.r_bench.judging.rule import PARTLY_SIMILAR, SIMILAR
from benchc.benchmarks.r_bench.schemas.scores import SCORES
from benchc.judges.short_answer import normalised
from benchc.models.encoders.encoders import load_text_encoder
from benchc.schemas.assignment import ASSIGNMENT
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.schemas.references import REFERENCES
from tests.benchmarks.evaluated import own_jobs
from tests.page_clicks import click_through

CAPTIONER = "tiny-internvl-c"


@pytest.fixture(scope="module")
def scores(folder, config) -> pl.DataFrame:
    """The scores of all models, with their ids."""
    tables = {id_: read_table(folder / f"scores/{id_}.parquet", SCORES) for id_ in config.settings.models}
    return pl.concat([table.with_columns(model=pl.lit(id_)) for id_, table in tables.items()])


@pytest.fixture(scope="module")
def clean(scores) -> pl.DataFrame:
    """The score of each model's reply to each item's reference image, once for each item."""
    return scores.group_by("model", "task", "id").agg(pl.col("s_ref").first()).sort("id")


@pytest.fixture(scope="module")
def items(folder) -> pl.DataFrame:
    pool = read_table(folder / "pool/items.parquet", POOL, ["id", "options"])
    return pool.join(read_table(folder / "pool/references.parquet", REFERENCES), on="id")


@pytest.mark.parametrize("task", ["mcq", "vqa"])
def test_clean_answers_are_above_chance_beyond_their_interval(clean, items, task):
    asked = items.join(clean.filter(task=task), on="id", how="semi")
    truths = pl.Series([normalised(truth) for truth in asked["truth"]])
    constant = truths.value_counts()["count"].max() / len(truths)
    chance = max((1 / asked["options"].list.len()).mean(), constant)
    for (model,), rows in clean.filter(task=task).group_by("model", maintain_order=True):
        right = int((rows["s_ref"] == 1).sum())
        low = binomtest(right, rows.height).proportion_ci(method="wilson").low
        print(f"{task} {model}: {right / rows.height:.3f}, at least {low:.3f}, chance {chance:.3f}")
        assert rows.height >= 70 and low > chance, model


def test_clean_captions_are_above_the_best_that_is_always_the_same(clean, items):
    rows = clean.filter(task="cap", model=CAPTIONER)
    captions = items.join(rows, on="id", how="semi")["answers"]
    texts = sorted(set(captions.explode()))
    vectors = load_text_encoder("all-MiniLM-L6-v2").encode([*texts, *captions.explode()])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors[: len(texts)] @ vectors[len(texts) :].T
    points = (cosines >= PARTLY_SIMILAR).astype(float) + (cosines >= SIMILAR)
    # All images have equally many captions.
    assert captions.list.len().n_unique() == 1
    means = points.mean(axis=1) / 2
    print(
        f"best constant caption {means.max():.3f}: {texts[means.argmax()]}; {CAPTIONER}", rows["s_ref"].mean()
    )
    low = rows["s_ref"].mean() - 1.96 * rows["s_ref"].std() / rows.height**0.5
    assert rows.height >= 70 and low > means.max() + 0.3


def test_stronger_distortion_costs_more(scores):
    of_strength = (
        scores.filter(pl.col("task") != "cap").group_by("severity").agg(pl.col("s_dis", "s_ref").mean())
    )
    s_dis = of_strength.sort("severity")["s_dis"].to_list()
    print("low, mid, high:", s_dis, "clean:", of_strength["s_ref"].mean())
    assert s_dis[0] - s_dis[2] >= 0.05 and of_strength["s_ref"].mean() - np.mean(s_dis) >= 0.03


def test_each_dimension_has_as_many_items_as_another(folder, scores, config):
    cells = read_table(folder / "pool/assignment.parquet", ASSIGNMENT)
    assert cells["corruption"].n_unique() == 28
    counts = scores.filter(model=CAPTIONER).group_by("task", "dimension", "severity").len()
    assert counts.height == 3 * 28 * 3 and counts["len"].unique().to_list() == [2]


def test_another_model_needs_only_its_own_jobs(folder, tmp_path):
    assert own_jobs(folder, "tiny-llava-s", tmp_path) == {"answer", "judge", "score"}


def test_the_results_page_shows_the_run(folder, tmp_path):
    click_through(folder, tmp_path)
