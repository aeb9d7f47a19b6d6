"""Accuracy on clean images and by severity, with every average: the numbers of Figure 4."""

import numpy as np
import polars as pl

from benchc.benchmarks.mllm_ic.metrics.averages import RULES
from benchc.benchmarks.mllm_ic.published.tables import beside_published, published_text
from benchc.benchmarks.mllm_ic.run_outcomes import RunFiles, check_models
from benchc.benchmarks.mllm_ic.tables.frames import (
    RULE_LABELS,
    averages_note,
    further_averages,
    has_copies,
    per_cent,
    resampled,
    scope,
)
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, ChanceTable
from benchc.rendering.estimates import frame_of
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.statistics.resampling import Floats

CAPTION = (
    "Accuracy in per cent on clean images and by severity, mean over {scope}, by each average. Mean: over "
    "all severities; Drop: clean minus mean, in points."
)


def severities(
    run: RunFiles, labels: dict[str, str], chance: ChanceTable, draws: PositiveInt, seed: int
) -> Table:
    """Return accuracies by severity of each model and average, their mean, and drops against clean images."""
    check_models(run, labels)
    columns = run.columns()
    levels = [f"severity_{level}" for level in run.severities]
    names = ["clean", *levels, "corrupted"]
    chosen = {name: columns[name] for name in names}
    drawn = run.draws([*labels], chosen, draws, seed)
    averages: dict[str, Floats] = {rule: run.average(drawn, rule) for rule in RULES}
    if has_copies(run):
        averages["circular"] = run.average(run.draws([*labels], chosen, draws, seed, circular=True))
    drops = {"drop": names.index("corrupted"), f"drop_{levels[-1]}": names.index(levels[-1])}
    frames = []
    for rule, values in averages.items():
        further = [values[:, :, 0] - values[:, :, place] for place in drops.values()]
        whole = np.concatenate([values, np.stack(further, axis=-1)], axis=-1)
        frames.append(
            frame_of([*labels.values()], [*names, *drops], whole).with_columns(average=pl.lit(rule))
        )
    frame = pl.concat(frames).select("average", pl.exclude("average"))
    return printed(
        frame,
        [
            Column("average", "Average"),
            Column("model", "Model"),
            Column("clean", "Clean", digits=1),
            *(
                Column(f"severity_{level}", f"Severity {level}", f"Sev. {level}", digits=1)
                for level in run.severities
            ),
            Column("corrupted", "Mean", digits=1, interval=True),
            Column("drop", "Drop", digits=1, signed=True, interval=True),
        ],
        caption=CAPTION.format(scope=pluralize(len(run.corruptions), "corruption"))
        + averages_note(run)
        + further_averages(run)
        + resampled(run, draws)
        + ORDER
        + chance.note,
        label="mllm-ic-severities",
        shown=per_cent(frame).with_columns(
            chance.marked(frame["model"]), pl.col("average").replace(RULE_LABELS)
        ),
        small=True,
        published=beside_published(frame.filter(average="overall"), published_text(), labels),
        summary=f"{pluralize(len(labels), 'model')} on {scope(run)}",
    )
