"""Find the pairs of samples that all encoders mismatch (eq. 1), among all pairs of each data set.

Writes curate/mismatches.parquet: those that are kept of each sample. The others are counted.
"""

from pathlib import Path

import polars as pl

from benchc.benchmarks.naturalbench.curation.embeddings import read_embeddings
from benchc.benchmarks.naturalbench.curation.mismatch import mine, mismatch_frame
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.benchmarks.naturalbench.schemas.mismatches import MISMATCHES
from benchc.pluralize import pluralize
from benchc.schemas.parquet import read_table, write_table
from scripts.argument_types import positive_argument, seed_argument
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    parser.add_argument("--captions", type=Path, required=True, help="curate/captions.parquet")
    parser.add_argument(
        "--embeddings", type=Path, nargs="+", required=True, help="curate/embeddings/{encoder}.parquet"
    )
    parser.add_argument(
        "--keep", type=positive_argument, default=64, help="mismatches of a sample; default: %(default)s"
    )
    parser.add_argument(
        "--keep-by",
        choices=["hash", "hardest"],
        default="hash",
        help="a uniform draw, or the largest margins; default: %(default)s",
    )
    parser.add_argument("--seed", type=seed_argument, default=0, help="default: %(default)s")
    parser.add_argument("--output", type=Path, required=True, help="curate/mismatches.parquet")
    arguments = parser.parse_args()
    captions = read_table(arguments.captions, CAPTIONS, ["id", "dataset", "image"])
    parts, mismatches, left_out = [], 0, 0
    for (dataset,), samples in sorted(captions.group_by("dataset")):
        samples = samples.sort("id")
        ids = samples["id"].to_list()
        encoders = [read_embeddings(path, ids) for path in arguments.embeddings]
        found = mine(
            ids,
            samples["image"].to_list(),
            encoders,
            keep=arguments.keep,
            keep_by=arguments.keep_by,
            seed=arguments.seed,
        )
        parts.append(mismatch_frame(ids, encoders, found))
        mismatches += found.mismatches
        left_out += found.left_out
        pairs = len(ids) * (len(ids) - 1) // 2
        print(
            f"{dataset}: {found.mismatches:,} mismatched among {pluralize(pairs, 'pair')} of "
            f"{pluralize(len(ids), 'sample')}, of which {found.left_out:,} are left out"
        )
    footer = {"samples": captions.height, "mismatches": mismatches, "left_out": left_out}
    write_table(pl.concat(parts), arguments.output, MISMATCHES, footer)


if __name__ == "__main__":
    run(main)
