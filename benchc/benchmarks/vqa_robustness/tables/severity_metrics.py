"""The five metrics of severity of each model under each corruption."""

import polars as pl

from benchc.benchmarks.vqa_robustness.inputs import ErrorTable
from benchc.benchmarks.vqa_robustness.metrics import severity
from benchc.benchmarks.vqa_robustness.metrics.severity import METRICS, Levels, falls
from benchc.benchmarks.vqa_robustness.tables.frames import HEADERS, incomplete, metric_frame
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

CAPTION = (
    "The metrics of severity, unscaled; low is robust. Falls: at how many of the five steps from level 0 to "
    "5 the error falls. {monotone} of {curves} never fall.{notes}" + ORDER
)


def severity_metrics(errors: ErrorTable, levels: Levels = "0..5") -> Table:
    """Return the metrics, whether each curve is monotone, and at how many of its five steps it falls."""
    metrics = severity.severity_metrics(errors.values, levels)
    steps = pl.Series("falls", falls(errors.values).ravel())
    frame = metric_frame(errors, metrics).with_columns(steps, (steps == 0).alias("monotone"))
    monotone, curves = int(frame["monotone"].sum()), pluralize(frame.height, "curve")
    notes = "".join(f" {note}." for note in incomplete(errors, metrics))
    columns = [
        Column("model", "Model"),
        Column("corruption", "Corruption"),
        *(Column(name, header) for name, header in zip(METRICS, HEADERS, strict=True)),
        Column("falls", "Falls"),
    ]
    return printed(
        frame,
        columns,
        caption=CAPTION.format(monotone=f"{monotone:,}", curves=curves, notes=notes),
        label="vre-severity-metrics",
        shown=frame.with_columns(pl.col("corruption").str.replace_all("_", " ", literal=True)),
        summary=f"{monotone:,} of {curves} never fall",
    )
