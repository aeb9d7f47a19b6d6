"""The copies of the paper's tables, and what their numbers say of each other."""

import polars as pl
import pytest

from benchc.benchmarks.mllm_ic.capabilities import capabilities
from benchc.benchmarks.mllm_ic.published.tables import (
    AVG,
    CATEGORIES,
    MEAN_OF_BOTH,
    MIDS,
    MODELS,
    OURS,
    QUESTIONS,
    TEXT,
    TYPES,
    beside_published,
    published_table1,
    published_table2,
    published_table3,
    published_text,
)
from tests.benchmarks.mllm_ic.made_up import CATEGORIES as CATEGORY_OF
from tests.benchmarks.mllm_ic.made_up import LEVELS

CLOSED = ("gpt_4o", "gemini_2_0")


def per_cent(table: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Return the values by model and column, in per cent."""
    return {row.pop("model"): {k: 100 * v for k, v in row.items()} for row in table.rows(named=True)}


TABLE2, TABLE3 = per_cent(published_table2()), per_cent(published_table3())


def over_printed_average(table: dict[str, dict[str, float]], names: dict[str, str]) -> list[float]:
    """Return by how much the printed average of each row is above the mean of its models."""
    models = [model for model in table if model != AVG]
    means = [sum(table[model][name] for model in models) / len(models) for name in names.values()]
    return [table[AVG][name] - mean for name, mean in zip(names.values(), means, strict=True)]


def weighted_less_plain(weights: dict[str, int]) -> dict[str, float]:
    """Return for each model the weighted mean of its Table 3 minus the plain one of its Table 2."""
    return {
        model: sum(weights[name] * TABLE3[model][name] for name in weights) / sum(weights.values())
        - sum(TABLE2[model][name] for name in MIDS.values()) / len(MIDS)
        for model in MODELS.values()
    }


def rms(found: dict[str, float]) -> float:
    values = [value for model, value in found.items() if model not in CLOSED]
    assert len(values) == 9
    return (sum(value**2 for value in values) / len(values)) ** 0.5


def test_the_average_is_the_mean_of_models_in_table_2_and_not_in_table_3() -> None:
    assert [abs(over) < 0.05 + 1e-9 for over in over_printed_average(TABLE2, MIDS)] == [True] * 5
    over = over_printed_average(TABLE3, CATEGORIES)
    assert [round(value, 2) for value in over] == [0.19, 0.13, 0.10, 0.23, 0.15, 0.26, 0.10, 0.17, 0.15]


def test_weighted_by_40_types_table_3_has_the_mean_of_table_2() -> None:
    assert rms(weighted_less_plain(TYPES | {"geometric_transform": 7})) == pytest.approx(0.089, abs=0.0005)
    exchanged = TYPES | {"color_channel": 5, "geometric_transform": 7}
    assert rms(weighted_less_plain(exchanged)) == pytest.approx(0.017, abs=0.0005)
    assert [*TYPES.values()] == [5, 4, 3, 5, 3, 2, 6, 6, 6]
    found = weighted_less_plain(TYPES)
    assert rms(found) == pytest.approx(0.009, abs=0.0005)
    assert max(abs(found[model]) for model in {*found} - {*CLOSED}) == pytest.approx(0.023, abs=0.0005)
    assert [found[model] for model in CLOSED] == [pytest.approx(-0.165), pytest.approx(-0.5075)]
    for model in MODELS.values():
        difference = TABLE3[model]["overall"] - TABLE2[model]["overall"]
        assert difference == pytest.approx(found[model])


def test_the_suite_has_the_types_of_table_3() -> None:
    assert {name: [*CATEGORY_OF.values()].count(name) for name in TYPES} == TYPES
    levels = [LEVELS[category] for category in CATEGORY_OF.values()]
    assert [levels.count(name) for name in ("global", "regional", "pixel")] == [20, 15, 5]


def test_the_numbers_of_table_1() -> None:
    assert sum(QUESTIONS.values()) * 40 * 5 == 21_352 * 200 == 4_270_400
    table = published_table1()
    ours = table.filter(benchmark=OURS).row(0, named=True)
    assert (table.height, ours["qa_pairs"], ours["capability_dimensions"]) == (14, "4270k", 34)
    highs = [each.high for each in capabilities()]
    assert [highs.count(name) for name in ("perception", "reasoning")] == [19, 15]
    mids = [each.mid for each in capabilities()]
    counts = {"spatial_perception": 5, "knowledge_reasoning": 7, "logic_reasoning": 8}
    counts |= {"instance_part_recognition": 8, "global_context_sensing": 6}
    assert {mid: mids.count(mid) for mid in MIDS.values()} == counts


def test_what_the_text_and_the_marks_say_is_not_what_table_2_says() -> None:
    row = {model: round(TABLE2[model]["global_context_sensing"], 1) for model in MODELS.values()}
    ordered = sorted(row, key=row.__getitem__, reverse=True)
    assert (ordered[1], row["deepseek_vl"], row["transcore_m"]) == ("deepseek_vl", 78.0, 74.9)
    best = {mid: max(MODELS.values(), key=lambda model: TABLE2[model][mid]) for mid in MIDS.values()}
    assert best.pop("spatial_perception") == "qwen2_5_vl" and {*best.values()} == {"gemini_2_0"}
    means = {model: round(TABLE2[model]["overall"], 1) for model in ("gemini_2_0", "qwen2_5_vl")}
    assert means == {"gemini_2_0": 72.0, "qwen2_5_vl": 69.6}
    assert {model: TEXT[model]["corrupted"] for model in means} == {"gemini_2_0": 0.739, "qwen2_5_vl": 0.716}


def test_values_are_compared_by_model_and_their_mean_is_of_the_models_in_both() -> None:
    labels = {"gpt-4o": "GPT-4o", "mine": "Mine", "otter": "Otter"}
    table = pl.DataFrame({"model": ["GPT-4o", "Mine", "Otter"], "blur": [0.5, 0.9, 0.3], "micro": [1.0] * 3})
    found = beside_published(table, published_table3(), labels)
    assert found["value"].unique().to_list() == ["blur"]
    mean = (MEAN_OF_BOTH, pytest.approx(0.4), pytest.approx(0.4605))
    expected = [("Otter", 0.3, 0.391), ("GPT-4o", 0.5, 0.53), mean]
    assert found.select("model", "here", "published").rows() == expected
    alone = beside_published(table, published_table3(), {"otter": "Otter", "mine": "Mine"})
    assert alone["model"].to_list() == ["Otter"]
    assert beside_published(table, published_table3(), {"mine": "Mine"}).is_empty()


def test_a_mean_is_of_models_that_all_have_a_published_value() -> None:
    labels = {"deepseek-vl-7b-chat": "DeepSeek-VL", "gpt-4o": "GPT-4o"}
    table = pl.DataFrame({"model": [*labels.values()], "drop": [0.1, 0.3], "drop_severity_5": [0.2, 0.4]})
    found = beside_published(table, published_text(), labels)
    # The paper gives a mean drop of the first alone.
    assert found.filter(value="drop")["model"].to_list() == ["DeepSeek-VL"]
    mean = found.filter(value="drop_severity_5", model=MEAN_OF_BOTH).row(0, named=True)
    assert mean["published"] == pytest.approx((0.098 + 0.143) / 2)
