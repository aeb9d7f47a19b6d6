from pathlib import Path

import polars as pl

from benchc.benchmarks.vqa_robustness.metrics.classes import HEADERS
from benchc.benchmarks.vqa_robustness.published.names import CORRUPTIONS
from benchc.benchmarks.vqa_robustness.published.tables import published_table_a1, published_table_a2
from benchc.config.load import read_config
from benchc.corruptions.registry import corruptions_of
from tests.benchmarks.vqa_robustness.published import CORRUPTIONS as PRINTED
from tests.benchmarks.vqa_robustness.published import MODELS, PACKAGE, errors_of_table_a1


def test_every_corruption_and_every_model_of_the_paper_is_in_the_shipped_run():
    assert tuple(CORRUPTIONS) == PRINTED
    assert set(CORRUPTIONS.values()) == set(corruptions_of("vqa-robustness"))
    config = read_config(Path(__file__).resolve().parents[3] / "config/vqa-robustness.yaml")
    labels = [model.label for model in (*config.models.values(), *config.settings.answers_from.values())]
    assert sorted(labels) == sorted(set(published_table_a1()["model"]))


def test_table_a1():
    table = published_table_a1()
    assert table.columns == ["model", "corruption", "level", "error"] and table.height == 504
    rows = [(model, CORRUPTIONS[name]) for model in MODELS for name in PRINTED]
    for (model, name), curve in zip(rows, errors_of_table_a1().reshape(-1, 6).tolist(), strict=True):
        assert table.filter(model=model, corruption=name).sort("level")["error"].to_list() == curve


def test_table_a2_and_its_averages():
    table = published_table_a2()
    assert table.columns == ["corruption", "question_class", "accuracy"] and table.height == 98
    assert table["question_class"].unique(maintain_order=True).to_list() == list(HEADERS)
    printed = pl.read_csv(PACKAGE / "table_a2.csv")
    found = table.filter(corruption="spatter", question_class="what")["accuracy"]
    assert found.to_list() == printed.filter(corruption="Splatter")["what"].to_list()
    means = dict(table.group_by("question_class").agg(pl.col("accuracy").mean().round(3)).rows())
    # The paper prints no averages. Its text calls "How many" and "What is" the hardest.
    assert [means[name] for name in HEADERS] == [0.808, 0.449, 0.423, 0.762, 0.461, 0.690, 0.519]
    assert sorted(means, key=lambda name: means[name])[:3] == ["what_is", "what", "how_many"]
