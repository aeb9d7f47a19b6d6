"""The price of a run as a table, one row a stage and model."""

import polars as pl

from benchc.planning.hours import Prices, device_hours
from benchc.planning.plan import Plan
from benchc.planning.stages import new_predictions, predictions_done

COLUMNS = {
    "stage": pl.String,
    "model": pl.String,
    "jobs": pl.Int64,
    "items": pl.Int64,
    "items_known": pl.String,  # exact, at most, assumed bound or unknown
    "predictions": pl.Int64,
    "predictions_known": pl.String,
    "predictions_at_papers_share": pl.Int64,  # null where no share is assumed
    "new_predictions": pl.Int64,  # those that are computed, not looked up in the cache
    "done": pl.Int64,  # of the predictions
    "seconds_per_prediction": pl.Float64,
    "predictions_measured": pl.Int64,  # on which that rests; null where it was given, or nothing is measured
    "hours": pl.Float64,  # of the new predictions
}


def plan_rows(plan: Plan, prices: Prices) -> pl.DataFrame:
    """Return one row a stage and model, with the columns COLUMNS; what is not known is null."""
    rows = []
    for stage in plan.stages:
        for model in stage.models:
            new, price = new_predictions(stage, plan.stages, model), prices.get(model)
            rows.append(
                {
                    "stage": stage.name,
                    "model": model,
                    "jobs": stage.jobs,
                    "items": stage.items.value,
                    "items_known": stage.items.kind,
                    "predictions": stage.predictions.value,
                    "predictions_known": stage.predictions.kind,
                    "predictions_at_papers_share": stage.at_share,
                    "new_predictions": new.value,
                    "done": predictions_done(stage, model, plan.done),
                    "seconds_per_prediction": None if price is None else price.seconds,
                    "predictions_measured": None if price is None else price.measured,
                    "hours": device_hours({model: new.value}, prices),
                }
            )
    return pl.DataFrame(rows, schema=COLUMNS)
