"""Table 2: the dimensions by step, with their groups and the numbers of items."""

from typing import Annotated

import polars as pl

from benchc.benchmarks.r_bench.dimensions import GROUP_LABELS, STEP_LABELS, STRENGTHS, dimension
from benchc.benchmarks.r_bench.schemas.image_features import IMAGE_FEATURES
from benchc.benchmarks.r_bench.schemas.tasks import TASK_TABLE
from benchc.benchmarks.r_bench.tables.frames import dimension_label
from benchc.benchmarks.r_bench.tasks import TASK_LABELS
from benchc.corruptions.recipe import CLEAN
from benchc.pluralize import pluralize
from benchc.rendering.output import Table, parquet
from benchc.rendering.printing import Column, printed
from benchc.schemas.assignment import ASSIGNMENT

DIMENSIONS = 33
CAPTION = (
    "The {count} of this run, of the 33 of the paper, by their step from the scene to the model, with their "
    "low-level group, and how many pairs of a reference and a distorted image there are by task and by "
    "strength. Unchanged: the pairs whose distorted image is the reference image, pixel by pixel, such as a "
    "grey image with less saturation.{stand_ins}"
)
STAND_INS = " *: a synthetic substitute for what the authors photographed."


def table2(
    assignment: Annotated[pl.DataFrame, parquet(ASSIGNMENT)],
    tasks: Annotated[pl.DataFrame, parquet(TASK_TABLE)],
    features: Annotated[pl.DataFrame, parquet(IMAGE_FEATURES)],
    dimensions: list[str],
) -> Table:
    """Return number, step and group of each dimension of the run, and its pairs by task and by strength.

    Also the number of pairs of two equal images.
    """
    pairs = counted(assignment, tasks, "corruption").rename({"corruption": "dimension"})
    known = [dimension(name) for name in dimensions]
    facts = pl.DataFrame(
        [(d.number, d.name, STEP_LABELS[d.step], GROUP_LABELS[d.group], d.stand_in) for d in known],
        schema=["number", "dimension", "step", "group", "stand_in"],
        orient="row",
    ).sort("number", "dimension")
    frame = facts.join(pairs, on="dimension", how="left", maintain_order="left")
    frame = frame.join(unchanged(features), on="dimension", how="left", maintain_order="left").fill_null(0)
    return printed(
        frame,
        [
            Column("step", "Step"),
            Column("dimension", "Dimension"),
            Column("group", "Group"),
            Column("number", "No."),
            *PAIR_COLUMNS,
            Column("unchanged", "Unchanged"),
        ],
        caption=CAPTION.format(
            count=pluralize(len(known), "dimension"),
            stand_ins=STAND_INS if frame["stand_in"].any() else "",
        ),
        label="r-bench-2",
        shown=frame.with_columns(dimension=pl.Series([dimension_label(name) for name in frame["dimension"]])),
        summary=f"{pluralize(len(known), 'dimension')}, {pluralize(int(frame['pairs'].sum()), 'pair')}",
    )


def unchanged(features: pl.DataFrame) -> pl.DataFrame:
    """Return how many distorted images of each dimension are equal to their reference images."""
    reference = features.filter(corruption=CLEAN).select("id", "image_hash")
    distorted = features.filter(pl.col("corruption") != CLEAN)
    return (
        distorted.join(reference, on=["id", "image_hash"], how="semi")
        .group_by(dimension="corruption")
        .agg(unchanged=pl.len().cast(pl.Int64))
    )


PAIR_COLUMNS = (
    *(Column(task, label) for task, label in TASK_LABELS.items()),
    *(Column(strength, strength.capitalize()) for strength in STRENGTHS.values()),
    Column("pairs", "Pairs"),
)


def counted(assignment: pl.DataFrame, tasks: pl.DataFrame, key: str) -> pl.DataFrame:
    """Return the pairs of each value of ``key``, a column of one of both: by task, by strength, and all."""
    joined = assignment.join(tasks, on="id", how="left", maintain_order="left")
    return joined.group_by(key, maintain_order=True).agg(
        *((pl.col("task") == task).sum().cast(pl.Int64).alias(task) for task in TASK_LABELS),
        *((pl.col("severity") == n).sum().cast(pl.Int64).alias(name) for n, name in STRENGTHS.items()),
        pl.len().cast(pl.Int64).alias("pairs"),
    )
