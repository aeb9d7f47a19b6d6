"""Inputs of tables, figures and pages, as annotations of their parameters."""

from typing import Annotated

import polars as pl

from benchc.benchmarks.vqa_robustness.schemas.errors import Errors, read_errors
from benchc.benchmarks.vqa_robustness.schemas.intervals import read_intervals
from benchc.rendering.output import File, parquet
from benchc.schemas.pool import POOL
from benchc.schemas.references import REFERENCES

ErrorTable = Annotated[Errors, File(read_errors)]
Intervals = Annotated[pl.DataFrame, File(read_intervals)]
PoolCategories = Annotated[pl.DataFrame, parquet(POOL, "id", "category")]
PoolQuestions = Annotated[pl.DataFrame, parquet(POOL, "id", "question", "image_keys")]
References = Annotated[pl.DataFrame, parquet(REFERENCES, "id", "truth")]
ReferenceAnswers = Annotated[pl.DataFrame, parquet(REFERENCES)]
PoolImages = Annotated[pl.DataFrame, parquet(POOL, "id", "image_keys")]
