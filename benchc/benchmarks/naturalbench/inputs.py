"""Inputs of tables and figures other than scores, as annotations of their parameters."""

from typing import Annotated

import polars as pl

from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.benchmarks.naturalbench.schemas.tags import TAGS
from benchc.rendering.output import parquet

GroupRows = Annotated[pl.DataFrame, parquet(GROUPS)]
Tags = Annotated[pl.DataFrame, parquet(TAGS)]
