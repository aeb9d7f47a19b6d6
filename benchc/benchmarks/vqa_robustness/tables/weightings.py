"""VRE and ranks of the models under the six weightings of the paper's study."""

from pathlib import Path

import numpy as np
import polars as pl

from benchc.benchmarks.vqa_robustness.inputs import ErrorTable
from benchc.benchmarks.vqa_robustness.metrics.severity import METRICS, Levels, severity_metrics
from benchc.benchmarks.vqa_robustness.metrics.vre import Scale, studied_weights, vre
from benchc.benchmarks.vqa_robustness.tables.frames import HEADERS, frozen_scale, incomplete
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, ChanceTable
from benchc.rendering.numbers import number_text
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.statistics.ranks import ranks

CAPTION = (
    "VRE of each model, and its rank in brackets (1 is the most robust), with equal weights and with 0.6 for "
    "one metric and 0.1 for each other.{notes}" + ORDER
)


def weightings(
    errors: ErrorTable, chance: ChanceTable, scale_of: list[Path], levels: Levels = "0..5"
) -> Table:
    """Return VRE of each model under each weighting, and its rank among those that ``chance`` ranks.

    ``scale_of``: a table of errors whose scale is frozen, or no file.
    """
    metrics = severity_metrics(errors.values, levels)
    scaled = (frozen_scale(scale_of, levels) or Scale.of(metrics)).scaled(metrics)
    is_ranked = np.isin(errors.models, chance.ranked)
    found = {name: vre(scaled, weights).model for name, weights in studied_weights().items()}
    frame = pl.concat(
        pl.DataFrame(
            {
                "model": errors.models,
                "vre": values,
                "rank": ranks(np.where(is_ranked, values, np.nan)),
                "rank_of_all": ranks(values),
            }
        ).select("model", pl.lit(name).alias("weighting"), "vre", "rank", "rank_of_all")
        for name, values in found.items()
    ).with_columns(pl.col("vre").fill_nan(None), pl.col("rank", "rank_of_all").replace(0, None))
    cells = [_cell(value, rank) for value, rank in frame["vre", "rank"].iter_rows()]
    changed = frame.drop_nulls("rank").group_by("model").agg(pl.col("rank").n_unique() > 1)["rank"].sum()
    return printed(
        frame,
        [
            Column("model", "Model"),
            Column("equal", "Equal"),
            *(Column(name, f"0.6 {header}") for name, header in zip(METRICS, HEADERS, strict=True)),
        ],
        caption=CAPTION.format(notes="".join(f" {note}." for note in incomplete(errors, metrics)))
        + chance.note,
        label="vre-weightings",
        shown=frame.with_columns(chance.marked(frame["model"]), cell=pl.Series(cells)).pivot(
            "weighting", index="model", values="cell"
        ),
        text_columns=1,
        summary=f"the rank of {pluralize(int(changed), 'model')} depends on the weights",
    )


def _cell(value: float | None, rank: int | None) -> str:
    text = number_text(value, signed=False)
    return text if rank is None else f"{text} ({rank})"
