"""Curation makes groups, and models read their images, on a finished run: `make check-demo`."""

import polars as pl
import pytest

from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.benchmarks.naturalbench.schemas.halves import HALVES
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.schemas.scores import SCORES
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS
from tests.page_clicks import click_through

CHANCE = 1 / 16  # of four independent answers


@pytest.fixture(scope="module")
def groups(folder) -> pl.DataFrame:
    return read_table(folder / "pool/groups.parquet", GROUPS)


@pytest.fixture(scope="module")
def scores(folder, config, groups) -> dict[str, pl.DataFrame]:
    types = groups.select("group", "type").unique()
    return {
        id_: read_table(folder / f"scores/{id_}.parquet", SCORES).join(types, on="group", how="left")
        for id_ in config.models
    }


def test_most_pairs_become_groups_of_both_types_and_methods(folder, groups):
    pairs = read_table(folder / "curate/pairs.parquet", PAIRS)
    counts = dict(groups.unique("group")["type"].value_counts().rows())
    print(f"\n{pairs.height} pairs, groups {counts}")
    assert set(counts) == {"yes_no", "multiple_choice"} and min(counts.values()) >= 0.6 * pairs.height
    # Four items each: two questions about two images, whose right answers alternate.
    items = groups.join(read_table(folder / "pool/items.parquet", POOL), on="id")
    assert items.height == 4 * groups["group"].n_unique()
    words = pl.col("options").list.get(pl.col("answer"))
    for names in (("group", "q_idx"), ("group", "i_idx")):
        yes_no = items.filter(type="yes_no").group_by(names).agg(words.n_unique().alias("answers"))
        assert (yes_no["answers"] == 2).all()
    images = items.group_by("group").agg(pl.col("image_keys").list.first().n_unique())
    assert (images["image_keys"] == 2).all()


def test_annotators_agree_more_than_by_chance_and_not_always(folder):
    table = pl.read_csv(folder / "tables/agreement.csv").filter(pl.col("round") == "all questions")
    print(table.row(0, named=True))
    assert table["kappa_low"].item() > 0.5 and table["kappa"].item() < 1
    # A dropped question is written again.
    reasons = pl.read_csv(folder / "tables/drop_reasons.csv")
    assert reasons["round"].n_unique() == 4
    assert reasons.select("no_question", "disagreement", "unanswerable").sum().row(0) >= (1, 1, 1)


def test_models_solve_multiple_choice_above_chance(scores):
    found = {
        id_: table.filter(corruption="clean", reading="deterministic", type="multiple_choice")
        for id_, table in scores.items()
    }
    g_acc = {id_: table["g"].mean() for id_, table in found.items()}
    print("\nmultiple choice, deterministic G-Acc", g_acc)
    assert len(g_acc) == 3 and min(g_acc.values()) >= 3 * CHANCE
    for table in found.values():
        right = table.select("c00", "c01", "c10", "c11").to_numpy()
        assert right.mean() >= 0.6


def test_the_best_thresholds_are_at_least_as_good(scores):
    for id_, table in scores.items():
        clean = table.filter(corruption="clean")
        by = {
            str(key[0]): rows.select("q0", "q1", "i0", "i1", "g") for key, rows in clean.group_by("reading")
        }
        plain, best = by["deterministic"].to_numpy(), by["sample"].to_numpy()
        assert (best >= plain).all(), id_
        assert best.sum() > plain.sum(), id_
        assert by["global"]["g"].sum() >= by["deterministic"]["g"].sum(), id_


def test_models_have_a_pass_without_the_image(folder, config, groups):
    questions = groups.filter(i_idx=0)["id"].sort()
    for id_ in config.models:
        blind = read_table(folder / f"predictions/questions/{id_}/no_image.parquet", PREDICTIONS)
        assert blind["id"].sort().equals(questions) and set(blind["corruption"]) == {"no_image"}


def test_tuned_models_are_tested_on_images_that_they_were_not_tuned_on(folder, groups):
    halves = read_table(folder / "fine_tuning/halves.parquet", HALVES)
    table = pl.read_csv(folder / "tables/fine_tuning.csv")
    print(table.rows())
    counts = dict(halves["half"].value_counts().rows())
    assert 0 <= counts["test"] - counts["train"] <= 1
    assert read_footer(folder / "fine_tuning/halves.parquet")["in_both"] <= 2
    assert halves.height == groups.filter(method="mined")["group"].n_unique()
    # A tuned model that has lost what it knew would solve no group, as the blind ones.
    solved = dict(table.select("input", "fine_tuned").rows())
    assert solved["blind"] == 0.0 and solved["with images"] > 100 * CHANCE


def test_models_need_the_images_of_other_benchmarks(folder):
    table = pl.read_csv(folder / "tables/blind_sources.csv")
    print(table.select("source", "model", "seen", "unseen", "difference_low").rows())
    assert table.height == 3 * 3 and (table["difference_low"] > 0).all()


def test_chinese_groups_are_answered_in_english_too(folder, config, groups):
    table = pl.read_csv(folder / "tables/table5.csv")
    print(table)
    chinese = groups.filter(language="Chinese", method="mined")["group"].n_unique()
    assert table["model"].n_unique() == len(config.models) and set(table["language"]) == {"Chinese"}
    assert (table["groups"] + table["left_out"] == chinese).all() and table["groups"].min() >= 4


def test_contrast_lowers_accuracy(folder):
    table = pl.read_csv(folder / "tables/corruption.csv").filter(
        (pl.col("corruption") == "contrast")
        & (pl.col("severity") == 5)
        & (pl.col("reading") == "deterministic")
    )
    print(table.select("model", "acc_difference", "g_acc_difference").rows())
    assert table.height == 3 and (table["acc_difference"] < 0).all() and (table["g_acc_difference"] < 0).all()


def test_every_output_of_the_run_has_rows(folder):
    for name in ("1", "2", "4", "5", "6", "7", "11"):
        assert pl.read_csv(folder / f"tables/table{name}.csv").height >= 2, name


def test_the_results_page_shows_the_run(folder, tmp_path):
    click_through(folder, tmp_path)
