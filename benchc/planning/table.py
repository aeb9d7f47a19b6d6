"""The price of a run as a table, one row a stage and model."""

from collections.abc import Mapping

import polars as pl

from benchc.config.settings import Settings
from benchc.planning.hours import device_hours
from benchc.planning.known import Known
from benchc.planning.reads import stages

Done = Mapping[tuple[str, str], int]  # reads that are there, by stage and model
Prices = Mapping[str, float]  # seconds of a read, by model

COLUMNS = {
    "stage": pl.String,
    "model": pl.String,
    "jobs": pl.Int64,
    "items": pl.Int64,
    "items_known": pl.String,  # exact, at most, assumed or unknown
    "reads": pl.Int64,
    "reads_known": pl.String,
    "reads_at_papers_share": pl.Int64,  # null where the benchmark is known, or nothing is
    "done": pl.Int64,
    "seconds_per_read": pl.Float64,
    "hours": pl.Float64,
}


def plan_rows(settings: Settings, known: Known, done: Done, prices: Prices) -> pl.DataFrame:
    """Return one row a stage and model, with the columns COLUMNS; what is not known is null."""
    rows = []
    for stage in stages(settings, known):
        for model in stage.models:
            hours = device_hours({model: stage.reads.value}, prices)
            counts = (stage.jobs, stage.items.value, stage.items.kind, stage.reads.value, stage.reads.kind)
            there = done.get((stage.name, model), 0)
            rows.append((stage.name, model, *counts, stage.at_share, there, prices.get(model), hours))
    return pl.DataFrame(rows, schema=COLUMNS, orient="row")
