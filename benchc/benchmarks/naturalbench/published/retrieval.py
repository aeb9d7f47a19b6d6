"""The numbers that the paper prints in Table 7, in per cent with two digits."""

from collections.abc import Mapping
from importlib import resources

import polars as pl

COLUMNS = {
    "method": pl.String,
    "source": pl.String,
    "model": pl.String,
    "data_size": pl.String,  # image-text pairs
    "model_size_m": pl.Int64,  # 10^6 parameters
    "group": pl.Float64,
    "image": pl.Float64,
    "text": pl.Float64,  # null for SigLIP ViT-B, which the source text has lost
}


def published_table7() -> pl.DataFrame:
    """Return Table 7: a column label, and ``COLUMNS``; the first row is chance, the others 20 models.

    The label of a model is its method, source and model: CLIP OpenAI RN50.
    """
    data = resources.files("benchc.benchmarks.naturalbench.published").joinpath("table7.csv").read_bytes()
    names = pl.concat_str("method", "source", "model", separator=" ", ignore_nulls=True)
    return pl.read_csv(data, schema=COLUMNS).with_columns(names.alias("label"))


def published_rows(labels: Mapping[str, str]) -> pl.DataFrame:
    """Return the rows of Table 7 of a run's encoders, with its labels; ``labels``: by those of the table."""
    columns = {"label": [*labels], "ours": [*labels.values()]}
    ours = pl.DataFrame(columns, schema={"label": pl.String, "ours": pl.String})
    found = published_table7().join(ours, on="label", how="inner", maintain_order="left")
    return found.with_columns(label="ours").drop("ours")
