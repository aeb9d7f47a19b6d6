"""Table 4: G-Acc by subset and type of question."""

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.metrics.bootstrap import Resamples
from benchc.benchmarks.naturalbench.metrics.groups import MEASURES, Bools
from benchc.benchmarks.naturalbench.published.tables import of_run, published_table4
from benchc.benchmarks.naturalbench.scored import CleanScores, RunScores
from benchc.benchmarks.naturalbench.tables.frames import (
    TYPES,
    chance_of_groups,
    chance_rows,
    columns_of,
    labels_of,
    reading_text,
    resampled,
)
from benchc.command_line import PositiveInt
from benchc.rendering.chance import ORDER, ChanceTable
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.rendering.published import compare_with_published

OVERALL = "Overall"
# Subsets of the paper by the beginning of their names.
PUBLISHED = ("flickr", "docci")
CAPTION = (
    "G-Acc by subset and type of question (YN: yes or no, MCQ: A or B), by the reading {reading}. "
    "{groups}. {resampled}" + ORDER
)


def table4(scored: CleanScores, chance: ChanceTable, reading: str, draws: PositiveInt, seed: int) -> Table:
    """Return the G-Acc of each model in per cent by subset and type, one row for each, and overall."""
    cells = cells_of(scored)
    weights = np.stack([chosen.astype(np.float64) for chosen in cells.values()], axis=1)
    resamples = Resamples(scored.groups.height, draws, seed)
    g_acc = MEASURES.index("g_acc")
    parts = []
    for id_, label in labels_of(scored).items():
        right = scored.values(id_, reading)[:, g_acc, None]
        found = columns_of(resamples.means(right * weights, weights), ["g_acc"])
        parts.append(pl.DataFrame({"model": [label] * len(cells), "cell": [*cells], **found}))
    groups = pl.DataFrame({"cell": [*cells], "groups": weights.sum(axis=0).astype(np.int64)})
    frame = pl.concat(parts).join(groups, on="cell", maintain_order="left")
    ends = ("", "_low", "_high")
    wide = frame.pivot("cell", index="model", values=[f"g_acc{end}" for end in ends])
    wide = wide.rename({f"g_acc{end}_{cell}": f"{cell}{end}" for cell in cells for end in ends})
    counts = ", ".join(f"{cell} {count:,}" for cell, count in groups.iter_rows())
    caption = CAPTION.format(
        reading=reading_text(reading),
        groups=f"Groups: {counts}",
        resampled=resampled(scored, draws),
    )
    standings = chance.of(reading)
    first = chance_rows(dict.fromkeys(cells, chance_of_groups(reading)))
    shown = pl.concat(
        [wide.clear(), first, wide.with_columns(standings.marked(wide["model"]))], how="diagonal"
    )
    columns = [Column(cell, cell, interval=True, digits=1) for cell in cells]
    published = of_run(published_table4(), labels_of(scored) if reading == "decoding" else {})
    values = {
        cell: name
        for cell, name in zip(cells, map(published_name, cells), strict=True)
        if name in published.columns
    }
    return printed(
        frame,
        [Column("model", "Model"), *columns],
        caption=caption + standings.note,
        label="naturalbench-4",
        shown=shown,
        references=first.height,
        small=True,
        published=compare_with_published(wide, published, on=["model"], values=values),
    )


def cells_of(scored: RunScores) -> dict[str, Bools]:
    """Return the groups of each subset and type that occurs, bool[groups], and all of them."""
    subsets, types = (scored.groups[name].to_numpy() for name in ("subset", "type"))
    found = {
        f"{subset}-{short}": (subsets == subset) & (types == type_)
        for subset in dict.fromkeys(subsets)
        for type_, short in TYPES.items()
    }
    every = np.ones(scored.groups.height, dtype=np.bool_)
    return {cell: chosen for cell, chosen in found.items() if chosen.any()} | {OVERALL: every}


def published_name(cell: str) -> str:
    """Return the column of the paper's Table 4 for one of ours; a name that is no column for others."""
    subset, _, short = cell.lower().rpartition("-")
    return "_".join([*(name for name in PUBLISHED if subset.startswith(name)), short])
