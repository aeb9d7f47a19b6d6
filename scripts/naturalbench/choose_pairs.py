"""Choose pairs of samples among the mismatches, and random pairs beside them."""

from pathlib import Path

from benchc.benchmarks.naturalbench.curation.embeddings import read_embeddings
from benchc.benchmarks.naturalbench.curation.pairs import chosen_pairs
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.benchmarks.naturalbench.schemas.mismatches import MISMATCHES
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.command_line import NaturalInt, PositiveInt, Seed
from benchc.pluralize import pluralize
from benchc.schemas.parquet import read_table, write_table


def choose_pairs(
    *,
    captions: Path,
    mismatches: Path,
    embeddings: tuple[Path, ...] = (),
    pairs: PositiveInt = 2000,
    random_pairs: NaturalInt = 0,
    seed: Seed = 0,
    output: Path,
) -> None:
    """Choose pairs of samples among the mismatches, and random pairs beside them.

    Args:
        captions: curate/captions.parquet
        mismatches: curate/mismatches.parquet
        embeddings: curate/embeddings/{encoder}.parquet, which random pairs need: they are no mismatches
        pairs: the most mined pairs
        random_pairs: the most random pairs
        seed: of the order in which samples are taken
        output: curate/pairs.parquet to write
    """
    samples = read_table(captions, CAPTIONS, ["id", "dataset", "image"]).sort("id")
    encoders = [read_embeddings(path, samples["id"].to_list()) for path in embeddings]
    rows = read_table(mismatches, MISMATCHES, ["a", "b"])
    chosen = chosen_pairs(samples, rows, encoders, most=pairs, random=random_pairs, seed=seed)
    mined, drawn = (chosen.filter(method=method).height for method in ("mined", "random"))
    print(f"{pluralize(mined, 'mined pair')}, {pluralize(drawn, 'random pair')}")
    write_table(chosen, output, PAIRS)
