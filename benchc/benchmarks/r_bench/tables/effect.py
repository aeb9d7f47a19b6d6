"""What each dimension does: how much lower the score of the reply to the distorted image is."""

import numpy as np
import polars as pl

from benchc.benchmarks.r_bench.chance import ChanceTable
from benchc.benchmarks.r_bench.dimensions import GROUP_LABELS, STEP_LABELS, dimension
from benchc.benchmarks.r_bench.metrics.means import OVERALL
from benchc.benchmarks.r_bench.scored import ScoreFiles, scored_of
from benchc.benchmarks.r_bench.tables.frames import dimension_label, notes, resampled
from benchc.command_line import PositiveInt
from benchc.rendering.estimates import estimates
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed

MEAN = "mean"
CAPTION = (
    "Effect of each dimension: the score of the reply to the reference image minus that of the reply to the "
    "distorted one, of the same items (not in the paper). R_a mixes the ability of a model with its "
    "robustness; this difference is the loss alone. Mean over {models}; Worse: how many of these have an "
    "interval above 0. Largest losses first. {resampled}{notes}"
)

NONE_RANKED = " The mean is of all models, since none is ranked (table chance)."


def effect(
    scores: ScoreFiles, labels: dict[str, str], chance: ChanceTable, draws: PositiveInt, seed: int
) -> Table:
    """Return the loss under each dimension, of each model and as a mean, which is printed.

    The mean is over the ranked models, or all if none is.
    """
    scored = scored_of(scores, labels)
    parts = scored.parts(["dimension", "overall"])
    drawn = scored.draws(parts, draws, seed)
    ranked = chance.ranked(pl.Series(scored.models)).to_numpy()
    competes = ranked if ranked.any() else ~ranked
    frames = []
    for place, part in enumerate(parts):
        columns: dict[str, pl.Series] = {}
        for name, values in (("ref", drawn.ref), ("dis", drawn.absolute), ("effect", drawn.effect)):
            own = values[:, :, place]
            columns |= estimates(name, np.column_stack([own[:, competes].mean(axis=1), own]))
        frames.append(
            pl.DataFrame({"model": [MEAN, *scored.models], **columns}).select(
                pl.lit(part.name).alias("dimension"), pl.lit(int(part.rows.sum())).alias("pairs"), pl.all()
            )
        )
    frame = pl.concat(frames)
    names = [model for model, one in zip(scored.models, competes, strict=True) if one]
    worse = (
        frame.filter(pl.col("model").is_in(names))
        .group_by("dimension")
        .agg(worse=(pl.col("effect_low") > 0).sum().cast(pl.Int64))
    )
    shown = frame.filter(model=MEAN).join(worse, on="dimension", maintain_order="left")
    shown = shown.sort(pl.col("dimension") == OVERALL, -pl.col("effect"), maintain_order=True)
    facts = [None if name == OVERALL else dimension(name) for name in shown["dimension"]]
    shown = shown.with_columns(
        dimension=pl.Series([dimension_label(name) for name in shown["dimension"]]),
        step=pl.Series(["" if d is None else STEP_LABELS[d.step] for d in facts]),
        group=pl.Series(["" if d is None else GROUP_LABELS[d.group] for d in facts]),
    )
    whose = f"{len(names)} models" if len(names) > 1 else names[0]
    without = chance.models.left_out if ranked.any() else NONE_RANKED
    return printed(
        frame,
        [
            Column("dimension", "Dimension"),
            Column("step", "Step"),
            Column("group", "Group"),
            Column("pairs", "Pairs"),
            Column("ref", "Reference"),
            Column("dis", "Distorted"),
            Column("effect", "Effect", signed=True, interval=True),
            Column("worse", "Worse"),
        ],
        caption=CAPTION.format(
            models=whose, resampled=resampled(scored, draws), notes=notes(scored) + without
        ),
        label="r-bench-effect",
        shown=shown,
        summary=f"largest effect: {shown['dimension'][0]}",
    )
