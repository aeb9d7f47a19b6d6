"""What the paper prints in Tables 1 to 3 and in its text, with its digits. Accuracies are in [0, 1] here."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from benchc.rendering.published import compare_with_published, of_run

# Ids of config/models.yaml and, of models that it has not, for predictions or answers from files. The paper
# gives names and citations alone, of which the 7B releases are taken.
MODELS = {
    "llava-1.5-7b": "llava_1_5",
    "honeybee": "honeybee",
    "inf-mllm": "inf_mllm",
    "transcore-m": "transcore_m",
    "minigpt-4": "minigpt_4",
    "mplug-owl2": "mplug_owl2",
    "otter": "otter",
    "deepseek-vl-7b-chat": "deepseek_vl",
    "gpt-4o": "gpt_4o",
    "qwen2.5-vl-7b": "qwen2_5_vl",
    "gemini-2.0": "gemini_2_0",
}
MIDS = {
    "Spatial Perception": "spatial_perception",
    "Knowledge Reasoning": "knowledge_reasoning",
    "Logical Reasoning": "logic_reasoning",
    "Instance Recognition": "instance_part_recognition",
    "Global Context Sensing": "global_context_sensing",
}
CATEGORIES = {
    "Blur": "blur",
    "Compression": "compression",
    "Texture Changing": "texture_changing",
    "Noise": "noise",
    "Shape Changing": "shape_changing",
    "Occlusion": "occlusion",
    "Weather": "weather_condition",
    "Color": "color_channel",
    "Geometric": "geometric_transform",
}
# Types of each category, in the order of Table 3: with these, its weighted mean is the mean of Table 2.
TYPES = dict(zip(CATEGORIES.values(), (5, 4, 3, 5, 3, 2, 6, 6, 6), strict=True))
QUESTIONS = {"MMBench": 4329, "SEED-Bench": 17023}
AVG = "avg"
MEAN_OF_BOTH = "mean of these"
OURS = "MLLM-IC (ours)"  # the paper's own row of Table 1
# Section 4.1: mean accuracies, and drops against clean images on average and at severity 5.
TEXT = {
    "gemini_2_0": {"corrupted": 0.739},
    "qwen2_5_vl": {"corrupted": 0.716},
    "deepseek_vl": {"drop": 0.058, "drop_severity_5": 0.098},
    "gpt_4o": {"drop_severity_5": 0.143},
}


def published_table1() -> pl.DataFrame:
    """Return Table 1 with its columns; year is null for the paper's own benchmark."""
    return _table(1)


def published_table2() -> pl.DataFrame:
    """Return a row for each model, and ``AVG`` as printed: the mid-level capabilities, and their mean."""
    table = _by_model(2, MIDS)
    return table.with_columns(overall=pl.mean_horizontal(pl.exclude("model")))


def published_table3() -> pl.DataFrame:
    """Return the same of the categories, whose mean, overall, is over their types."""
    table = _by_model(3, CATEGORIES)
    weighted = (pl.col(name) * number for name, number in TYPES.items())
    return table.with_columns(overall=pl.sum_horizontal(weighted) / sum(TYPES.values()))


def published_text() -> pl.DataFrame:
    """Return the accuracies and drops that the text of section 4.1 gives, null where it gives none."""
    return pl.DataFrame([{"model": model, **values} for model, values in TEXT.items()], infer_schema_length=9)


def beside_published(table: pl.DataFrame, paper: pl.DataFrame, labels: Mapping[str, str]) -> pl.DataFrame:
    """Return the values of a table beside the published ones, of the models and columns that both have.

    With several such models, the last rows are their mean, here and published: not the printed one, which may
    be of other models, and in Table 3 is not the mean.
    """
    published = of_run(paper, labels, MODELS)
    names = [name for name in published.columns if name != "model" and name in table.columns]
    ours = table.filter(pl.col("model").is_in(published["model"].to_list()))
    both = [
        each.select("model", *(pl.col(name).cast(pl.Float64) for name in names)) for each in (ours, published)
    ]
    if published.height > 1:
        both = [
            pl.concat(
                [
                    each,
                    each.select(pl.lit(MEAN_OF_BOTH).alias("model"), *(_whole_mean(name) for name in names)),
                ]
            )
            for each in both
        ]
    compared = compare_with_published(both[0], both[1], on=["model"], values={name: name for name in names})
    return compared.drop_nulls("published")


def _whole_mean(name: str) -> pl.Expr:
    return pl.when(pl.col(name).null_count() == 0).then(pl.col(name).mean()).alias(name)


def _by_model(number: int, names: Mapping[str, str]) -> pl.DataFrame:
    table = _table(number)
    rows = table[table.columns[0]].replace_strict(names)
    turned = table.drop(table.columns[0]).transpose(
        include_header=True, header_name="model", column_names=rows.to_list()
    )
    return turned.with_columns((pl.exclude("model") / 100).round(3))


def _table(number: int) -> pl.DataFrame:
    return pl.read_csv(Path(__file__).with_name(f"table{number}.csv"), glob=False)
