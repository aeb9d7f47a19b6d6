"""The price of a run as a table, one row a stage and model."""

import polars as pl

from benchc.planning.hours import Prices, device_hours
from benchc.planning.plan import Plan
from benchc.planning.stages import new_reads, reads_done

COLUMNS = {
    "stage": pl.String,
    "model": pl.String,
    "jobs": pl.Int64,
    "items": pl.Int64,
    "items_known": pl.String,  # exact, at most, assumed bound or unknown
    "reads": pl.Int64,
    "reads_known": pl.String,
    "reads_at_papers_share": pl.Int64,  # null where no share is assumed
    "new_reads": pl.Int64,  # those that are computed, not looked up in the store
    "done": pl.Int64,  # of the reads
    "seconds_per_read": pl.Float64,
    "reads_measured": pl.Int64,  # on which that rests; null where it was given, or nothing is measured
    "hours": pl.Float64,  # of the new reads
}


def plan_rows(plan: Plan, prices: Prices) -> pl.DataFrame:
    """Return one row a stage and model, with the columns COLUMNS; what is not known is null."""
    rows = []
    for stage in plan.stages:
        for model in stage.models:
            new, price = new_reads(stage, plan.stages, model), prices.get(model)
            rows.append(
                {
                    "stage": stage.name,
                    "model": model,
                    "jobs": stage.jobs,
                    "items": stage.items.value,
                    "items_known": stage.items.kind,
                    "reads": stage.reads.value,
                    "reads_known": stage.reads.kind,
                    "reads_at_papers_share": stage.at_share,
                    "new_reads": new.value,
                    "done": reads_done(stage, model, plan.done),
                    "seconds_per_read": None if price is None else price.seconds,
                    "reads_measured": None if price is None else price.measured,
                    "hours": device_hours({model: new.value}, prices),
                }
            )
    return pl.DataFrame(rows, schema=COLUMNS)
