"""Find the pairs of samples that all encoders mismatch (eq. 1), among all pairs of each data set."""

from pathlib import Path

import polars as pl

from benchc.benchmarks.naturalbench.curation.embeddings import read_embeddings
from benchc.benchmarks.naturalbench.curation.mismatch import KeepBy, find_mismatches, mismatch_frame
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.benchmarks.naturalbench.schemas.mismatches import MISMATCHES, MismatchesFooter
from benchc.command_line import PositiveInt, Seed
from benchc.pluralize import pluralize
from benchc.schemas.parquet import read_table, write_table


def mine(
    *,
    captions: Path,
    embeddings: list[Path],
    keep: PositiveInt = 64,
    keep_by: KeepBy = "hash",
    seed: Seed = 0,
    output: Path,
) -> None:
    """Find the pairs of samples that all encoders mismatch (eq. 1), among all pairs of each data set.

    Args:
        captions: curate/captions.parquet
        embeddings: curate/embeddings/{encoder}.parquet
        keep: the most mismatches that are kept of a sample; the others are counted
        keep_by: which are kept: a uniform draw, or those of the largest margins
        seed: of the draw
        output: curate/mismatches.parquet to write
    """
    rows = read_table(captions, CAPTIONS, ["id", "dataset", "image"])
    parts, mismatches, left_out = [], 0, 0
    for (dataset,), samples in sorted(rows.group_by("dataset")):
        samples = samples.sort("id")
        ids, images = samples["id"].to_list(), samples["image"].to_list()
        encoders = [read_embeddings(path, ids) for path in embeddings]
        found = find_mismatches(ids, images, encoders, keep=keep, keep_by=keep_by, seed=seed)
        parts.append(mismatch_frame(ids, encoders, found))
        mismatches += found.mismatches
        left_out += found.left_out
        pairs = len(ids) * (len(ids) - 1) // 2
        print(
            f"{dataset}: {found.mismatches:,} mismatched among {pluralize(pairs, 'pair')} of "
            f"{pluralize(len(ids), 'sample')}, of which {found.left_out:,} are left out"
        )
    footer = MismatchesFooter(samples=rows.height, mismatches=mismatches, left_out=left_out)
    write_table(pl.concat(parts), output, MISMATCHES, footer)
