"""Mean accuracy of each model and under each corruption, and its relative drop."""

import numpy as np
import polars as pl

from benchc.benchmarks.vqa_robustness.inputs import ErrorTable
from benchc.benchmarks.vqa_robustness.metrics.drops import drops
from benchc.benchmarks.vqa_robustness.tables.names import words
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, ChanceTable
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.statistics.rounding import rounded

CAPTION = (
    "Mean accuracy over the levels 0 to 5 and, of a model, over {corruptions}, or else over {models}; "
    "clean accuracy (of a corruption, the models' mean); and the relative drop, by which share of the clean "
    "accuracy the mean accuracy is lower. The first row is the best answer that is always the same." + ORDER
)


def relative_drops(errors: ErrorTable, chance: ChanceTable) -> Table:
    """Return mean and clean accuracy and the relative drop of each model, then of each corruption."""
    found = drops(errors.values)
    models, corruptions = len(errors.models), len(errors.corruptions)
    of_models = {"kind": ["model"] * models, "name": errors.models}
    of_corruptions = {"kind": ["corruption"] * corruptions, "name": errors.corruptions}
    values = {
        "accuracy": np.concatenate([found.model, found.corruption]),
        "clean_accuracy": np.concatenate([found.clean, np.full(corruptions, found.clean.mean())]),
        "relative_drop": np.concatenate([found.model_drop, found.corruption_drop]),
    }
    frame = pl.concat([pl.DataFrame(of_models), pl.DataFrame(of_corruptions)]).with_columns(
        **{name: rounded(part) for name, part in values.items()}
    )
    columns = [
        Column("kind", "Of"),
        Column("name", "Name"),
        Column("accuracy", "Accuracy"),
        Column("clean_accuracy", "Clean accuracy"),
        Column("relative_drop", "Relative drop"),
    ]
    names = [
        words(name) if kind == "corruption" else chance.marked(pl.Series([name]))[0]
        for kind, name in frame["kind", "name"].iter_rows()
    ]
    first = chance.references("name", "accuracy", relative_drop=0.0).with_columns(
        kind=pl.lit("chance"), clean_accuracy="accuracy"
    )
    return printed(
        frame,
        columns,
        caption=CAPTION.format(
            corruptions=pluralize(corruptions, "corruption"), models=pluralize(models, "model")
        )
        + chance.note,
        label="vre-relative-drops",
        shown=pl.concat([first.select(frame.columns), frame.with_columns(pl.Series("name", names))]),
        references=first.height,
    )
