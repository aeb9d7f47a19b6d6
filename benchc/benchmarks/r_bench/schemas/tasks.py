"""`pool/tasks.parquet`: one row is an item of the pool and what it asks for."""

import polars as pl

from benchc.benchmarks.r_bench.tasks import TASKS
from benchc.schemas.parquet import TableType

# Its footer is ImageFooter, with the digest of the pool's questions alone.
TASK_TABLE = TableType("tasks", 1, {"id": pl.String, "task": pl.Enum(TASKS)})
