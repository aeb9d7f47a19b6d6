"""Acc and G-Acc of each model under each corruption, and the differences from clean images."""

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.metrics.bootstrap import PER_CENT, Resamples
from benchc.benchmarks.naturalbench.metrics.groups import MEASURES, Floats
from benchc.benchmarks.naturalbench.scored import CorruptedScores, RunScores
from benchc.benchmarks.naturalbench.tables.frames import (
    chance_of_groups,
    columns_of,
    labels_of,
    reading_text,
    resampled,
)
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, ChanceTable
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.schemas.predictions import CLEAN

METRICS = ("acc", "g_acc")
NAMES = (*METRICS, *(f"{metric}_difference" for metric in METRICS))
CAPTION = (
    "Acc and G-Acc under each corruption by the reading {reading}, means over the severities, and the "
    "differences Δ from clean images, which are paired by group. {resampled} The csv file has all severities "
    "and readings. Chance: Acc 50, G-Acc {chance:.3g}, which no corruption changes." + ORDER
)


def corruption(
    scored: CorruptedScores,
    chance: ChanceTable,
    reading: str,
    corruptions: list[str],
    draws: PositiveInt,
    seed: int,
) -> Table:
    """Return Acc and G-Acc in per cent by model, reading, corruption and severity, and the differences.

    A severity of null is the mean over severities. ``corruptions``: those of the run, in the order of rows.
    """
    resamples, standings = Resamples(scored.groups.height, draws, seed), chance.of(reading)
    parts = []
    for id_, label in labels_of(scored).items():
        found = scored.scores[id_].found
        readings = dict.fromkeys(name for name, type_, _ in found if type_ != CLEAN)
        parts += [
            _of_model(scored, resamples, id_, name, corruptions).with_columns(model=pl.lit(label))
            for name in readings
        ]
    keys = {"model": pl.String, "reading": pl.String, "corruption": pl.String, "severity": pl.Int64}
    ends = [f"{name}{end}" for name in NAMES for end in ("", "_low", "_high")]
    none = pl.DataFrame(schema=keys | dict.fromkeys(ends, pl.Float64))
    frame = pl.concat([none, *(part.select(none.columns) for part in parts)])
    shown = frame.filter(pl.col("severity").is_null() & (pl.col("reading") == reading))
    return printed(
        frame,
        [
            Column("model", "Model"),
            Column("corruption", "Corruption"),
            Column("acc", "Acc", interval=True, digits=1),
            Column("acc_difference", "ΔAcc", signed=True, interval=True, digits=1),
            Column("g_acc", "G-Acc", interval=True, digits=1),
            Column("g_acc_difference", "ΔG-Acc", signed=True, interval=True, digits=1),
        ],
        caption=CAPTION.format(
            reading=reading_text(reading),
            resampled=resampled(scored, draws),
            chance=PER_CENT * chance_of_groups(reading),
        )
        + standings.note,
        label="naturalbench-corruption",
        shown=shown.with_columns(
            pl.col("corruption").str.replace_all("_", " ", literal=True), standings.marked(shown["model"])
        ),
        small=True,
        summary=pluralize(frame.height, "row"),
    )


def _of_model(
    scored: RunScores, resamples: Resamples, model: str, reading: str, corruptions: list[str]
) -> pl.DataFrame:
    """Return one row for each corruption and severity, and one for the mean over severities."""
    cells = [key[1:] for key in scored.scores[model].found if key[0] == reading and key[1] != CLEAN]
    cells.sort(key=lambda cell: (corruptions.index(cell[0]), cell[1]))
    clean = _drawn(scored, resamples, model, reading, [(CLEAN, 0)])[:, 0]
    drawn = _drawn(scored, resamples, model, reading, cells)
    rows: list[tuple[str, int | None]] = [*cells]
    blocks = [drawn]
    for name in dict.fromkeys(name for name, _ in cells):
        rows.append((name, None))
        of_type = [number for number, cell in enumerate(cells) if cell[0] == name]
        blocks.append(drawn[:, of_type].mean(axis=1, keepdims=True))
    every = np.concatenate(blocks, axis=1)
    values = np.concatenate([every, every - clean[:, None]], axis=2)  # [1 + draws, rows, NAMES]
    keys = pl.DataFrame(rows, schema={"corruption": pl.String, "severity": pl.Int64}, orient="row")
    columns = columns_of(values.reshape(len(values), -1), NAMES)
    return keys.with_columns(reading=pl.lit(reading), **columns)


def _drawn(
    scored: RunScores, resamples: Resamples, model: str, reading: str, cells: list[tuple[str, int]]
) -> Floats:
    """Return float64[1 + draws, cells, METRICS]."""
    chosen = [MEASURES.index(metric) for metric in METRICS]
    values = np.concatenate([scored.values(model, reading, *cell)[:, chosen] for cell in cells], axis=1)
    return resamples.means(values).reshape(-1, len(cells), len(METRICS))
