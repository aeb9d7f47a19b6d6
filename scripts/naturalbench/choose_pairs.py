"""Choose pairs of samples among the mismatches, and random pairs beside them.

Writes curate/pairs.parquet.
"""

from pathlib import Path

import numpy as np

from benchc.benchmarks.naturalbench.curation.embeddings import read_embeddings
from benchc.benchmarks.naturalbench.curation.pairs import are_matched, mined_pairs, pairs_frame, random_pairs
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.benchmarks.naturalbench.schemas.mismatches import MISMATCHES
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.parquet import read_table, write_table
from scripts.argument_types import natural_argument, positive_argument, seed_argument
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    parser.add_argument("--captions", type=Path, required=True, help="curate/captions.parquet")
    parser.add_argument("--mismatches", type=Path, required=True, help="curate/mismatches.parquet")
    parser.add_argument(
        "--embeddings",
        type=Path,
        nargs="*",
        default=[],
        help="curate/embeddings/{encoder}.parquet, which random pairs need: they are no mismatches",
    )
    parser.add_argument(
        "--pairs", type=positive_argument, default=2000, help="the most; default: %(default)s"
    )
    parser.add_argument(
        "--random-pairs", type=natural_argument, default=0, help="beside the mined ones; default: %(default)s"
    )
    parser.add_argument("--seed", type=seed_argument, default=0, help="default: %(default)s")
    parser.add_argument("--output", type=Path, required=True, help="curate/pairs.parquet")
    arguments = parser.parse_args()
    if arguments.random_pairs and not arguments.embeddings:
        parser.error("--random-pairs needs --embeddings")
    captions = read_table(arguments.captions, CAPTIONS, ["id", "dataset", "image"]).sort("id")
    mismatches = read_table(arguments.mismatches, MISMATCHES, ["a", "b"]).unique()
    ids = captions["id"].to_list()
    place = {id_: number for number, id_ in enumerate(ids)}
    first, second = (
        np.array([place[id_] for id_ in mismatches[name]], dtype=np.int64) for name in ("a", "b")
    )
    mined = mined_pairs(ids, first, second, most=arguments.pairs, seed=arguments.seed)
    if not mined:
        raise InputError(
            f"no pair of {pluralize(len(ids), 'sample')} is mismatched by all encoders; add samples, or "
            "remove an encoder from curate.mine.encoders"
        )
    drawn = []
    if arguments.random_pairs:
        matched = are_matched([read_embeddings(path, ids) for path in arguments.embeddings])
        datasets, images = captions["dataset"].to_list(), captions["image"].to_list()

        def is_allowed(one: int, other: int) -> bool:
            return datasets[one] == datasets[other] and images[one] != images[other] and matched(one, other)

        rest = set(range(len(ids))) - {sample for pair in mined for sample in pair}
        drawn = random_pairs(ids, rest, is_allowed, count=arguments.random_pairs, seed=arguments.seed)
    print(f"{pluralize(len(mined), 'mined pair')}, {pluralize(len(drawn), 'random pair')}")
    write_table(pairs_frame(ids, mined, drawn), arguments.output, PAIRS)


if __name__ == "__main__":
    run(main)
