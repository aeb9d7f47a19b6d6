"""Map the scenarios by their features into a plane, for Figure 3."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl

from benchc.benchmarks.mllm_ic.metrics.hierarchy import scenario_map
from benchc.benchmarks.mllm_ic.schemas.hierarchy import FEATURES, TSNE, HierarchyFooter
from benchc.command_line import Json, NaturalInt
from benchc.schemas.parquet import read_footer, read_table, write_table

WITHOUT = "weather_condition"  # as in the paper


def hierarchy_tsne(
    *,
    features: Path,
    corruption_categories: Annotated[Mapping[str, str], Json],
    levels: Annotated[Mapping[str, str], Json],
    perplexity: float,
    seed: NaturalInt,
    output: Path,
) -> None:
    """Map the scenarios, without weather, by their features into a plane, for Figure 3.

    Args:
        features: hierarchy/features.parquet
        corruption_categories: of each corruption
        levels: of each category
        perplexity: of the t-SNE
        seed: of the t-SNE
        output: hierarchy/tsne.parquet to write
    """
    table = read_table(features, FEATURES).with_columns(
        category=pl.col("corruption").replace_strict(
            dict(corruption_categories), default=None, return_dtype=pl.String
        )
    )
    table = table.filter(pl.col("category").ne_missing(WITHOUT)).with_columns(
        level=pl.col("category").replace_strict(dict(levels), default=None, return_dtype=pl.String)
    )
    points = np.zeros((0, 2))
    if table.height:
        points = scenario_map(np.array(table["feature"].to_list(), np.float64), perplexity, seed)
    mapped = table.with_columns(x=pl.Series(points[:, 0]), y=pl.Series(points[:, 1]))
    write_table(mapped.select(*TSNE.columns), output, TSNE, HierarchyFooter(**read_footer(features)))  # type: ignore[arg-type]
