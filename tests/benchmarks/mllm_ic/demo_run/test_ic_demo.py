"""The models of the demo see, and degrade, by capability, on a finished run: `make check-demo`."""

import polars as pl
import pytest
from scipy.stats import binomtest

from benchc.benchmarks.mllm_ic.schemas.cube import CUBE
from benchc.benchmarks.mllm_ic.schemas.scores import SCORES
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.schemas.subset import SUBSET
from tests.page_clicks import click_through

IN_WORDS = "tiny-vilt"


@pytest.fixture(scope="module")
def scores(folder, config) -> pl.DataFrame:
    """The scores of all models, with their ids."""
    tables = {id_: read_table(folder / f"scores/{id_}.parquet", SCORES) for id_ in config.settings.models}
    return pl.concat([table.with_columns(model=pl.lit(id_)) for id_, table in tables.items()])


def test_clean_answers_are_above_chance_beyond_their_interval(folder, scores):
    asked = read_table(folder / "subsets/questions.parquet", SUBSET)
    items = read_table(folder / "pool/items.parquet", POOL, ["id", "options", "answer"]).join(asked, on="id")
    guessing = float((1 / items["options"].list.len()).mean())
    constant = items["answer"].value_counts()["count"].max() / items.height
    clean = scores.filter(corruption="clean").group_by("model", maintain_order=True)
    for model, n, correct in clean.agg(pl.col("n", "correct").sum()).iter_rows():
        low = binomtest(correct, n).proportion_ci(method="wilson").low
        print(f"{model}: {correct / n:.3f}, at least {low:.3f}; chance {guessing:.3f}, {constant:.3f}")
        assert n == items.height >= 64 and low > max(guessing, constant), model


def test_severer_corruption_costs_more(scores):
    sums = scores.group_by("severity").agg(pl.col("n", "correct").sum()).sort("severity")
    found = (sums["correct"] / sums["n"]).to_list()
    print("clean and severities 1 to 5:", found)
    assert found[0] - found[5] >= 0.1 and found[1] - found[5] >= 0.05


def test_the_cube_has_all_scenarios_of_all_models_and_no_category_is_unmapped(folder, config, scores):
    cube = read_table(folder / "tables/ic_cube.parquet", CUBE)
    capabilities = scores["capability"].n_unique()
    assert (capabilities, cube["mid"].n_unique()) == (14, 5)
    assert cube.height == len(config.settings.models) * 201 * capabilities
    assert ((cube["low"] <= cube["accuracy"]) & (cube["accuracy"] <= cube["high_end"])).all()
    assert cube.drop_nulls("category")["category"].n_unique() == 9
    report = pl.read_csv(folder / "pool/capabilities.report.csv")
    assert report.filter(status="unmapped").is_empty()
    left_out = report.filter(status="excluded")
    assert left_out.select("category", "reason").rows() == [("more balls", "two pictures")]


def test_answers_in_words_are_judged_and_letters_are_not(scores):
    by_model = scores.group_by("model").agg(pl.col("refused", "unparsed", "ties").sum())
    without = dict(by_model.select("model", pl.col("refused") + pl.col("unparsed")).iter_rows())
    print("answers without an option:", without)
    assert without[IN_WORDS] > 0 and sum(without.values()) == without[IN_WORDS]


def test_the_results_page_shows_the_run(folder, tmp_path):
    click_through(folder, tmp_path)
