"""Inputs of Bench-C's tables and figures other than its targets, as annotations of their parameters."""

from typing import Annotated

import polars as pl

from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.rendering.output import File, parquet
from benchc.schemas.models import Models, read_models
from benchc.schemas.pool import POOL
from benchc.schemas.printed import read_table_csv

Scores = Annotated[pl.DataFrame, parquet(SCORES)]  # of one target
Selected = Annotated[pl.DataFrame, parquet(SELECTED)]
PoolTasks = Annotated[pl.DataFrame, parquet(POOL, "id", "source", "task")]
PoolQuestions = Annotated[pl.DataFrame, parquet(POOL, "id", "task", "options")]
PoolOptions = Annotated[pl.DataFrame, parquet(POOL, "id", "answer", "options")]
ModelNames = Annotated[Models, File(read_models)]
# The csv file of a table.
Printed = Annotated[pl.DataFrame, File(lambda path: read_table_csv(path, "label"))]
