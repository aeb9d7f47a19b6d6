"""Table 7: image-text retrieval on pairs."""

from pathlib import Path
from typing import Annotated

import numpy as np
import polars as pl

from benchc.benchmarks.naturalbench.curation.embeddings import read_embeddings
from benchc.benchmarks.naturalbench.metrics.retrieval import CHANCE, SCORES, retrieved_by, scores
from benchc.benchmarks.naturalbench.published.retrieval import published_rows
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.command_line import NaturalInt, PositiveInt
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.rendering.output import Table, parquet
from benchc.rendering.printing import Column, printed
from benchc.rendering.published import compare_with_published
from benchc.schemas.parquet import REMAKE
from benchc.statistics.rounding import rounded

CAPTION = (
    "Image-text retrieval on {pairs} of captioned images, in per cent. Text: both images are more similar to "
    "their own caption; image: both captions to their own image; group: both. A tie is wrong. "
    "In brackets, 95 % percentile intervals from {draws} of the pairs. Random: expected of a random ranking. "
    "Encoders are in the order of the configuration."
)
RANDOM = "Random"

Pairs = Annotated[pl.DataFrame, parquet(PAIRS, "pair", "a", "b")]


def table7(
    embeddings: list[Path],
    pairs: Pairs,
    labels: dict[str, str],
    published_labels: dict[str, str],
    draws: PositiveInt,
    seed: NaturalInt,
) -> Table:
    """Return text, image and group score of each encoder, in per cent, with intervals; first chance.

    ``embeddings``: one file for each of ``labels``, the printed names by the encoders' ids.
    ``published_labels``: those of the paper, of the encoders that are in its Table 7.
    """
    ids = sorted({*pairs["a"], *pairs["b"]})
    place = {id_: number for number, id_ in enumerate(ids)}
    first, second = (np.array([place[id_] for id_ in pairs[name]]) for name in ("a", "b"))
    rows: list[dict[str, object]] = [
        {"label": RANDOM, **{name: 100 * share for name, share in CHANCE.items()}},
    ]
    for path in embeddings:
        encoder = read_embeddings(path, ids)
        if encoder.name not in labels:
            raise InputError(f"{path}: is of the encoder {encoder.name}, which has no label; {REMAKE}")
        found = scores(retrieved_by(encoder, first, second), draws, seed)
        values = {
            f"{name}{end}": 100 * part[number]
            for end, part in zip(("", "_low", "_high"), found, strict=True)
            for number, name in enumerate(SCORES)
        }
        rows.append({"label": labels[encoder.name], "pairs": pairs.height, **values})
    columns = [f"{name}{end}" for name in SCORES for end in ("", "_low", "_high")]
    schema = {"label": pl.String, "pairs": pl.Int64, **dict.fromkeys(columns, pl.Float64)}
    frame = pl.DataFrame(rows, schema=schema)
    frame = frame.with_columns(
        rounded(frame[name].fill_null(np.nan).to_numpy()).alias(name) for name in columns
    )
    published = compare_with_published(
        frame.filter(pl.col("label") != RANDOM),
        published_rows({published_labels[id_]: labels[id_] for id_ in published_labels}),
        on=["label"],
        values={name: name for name in SCORES},
    ).drop_nulls("published")
    return printed(
        frame,
        [
            Column("label", "Encoder"),
            Column("text", "Text", interval=True, digits=1),
            Column("image", "Image", interval=True, digits=1),
            Column("group", "Group", interval=True, digits=1),
        ],
        caption=CAPTION.format(pairs=pluralize(pairs.height, "pair"), draws=pluralize(draws, "resample")),
        label="naturalbench-7",
        summary=f"table 7: {pluralize(len(embeddings), 'encoder')} on {pluralize(pairs.height, 'pair')}",
        published=published,
        references=1,
    )
