"""Write the replies of the demo's language model, as a folder of recordings that write_questions replays."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from benchc.atomic import atomic_folder
from benchc.benchmarks.naturalbench.curation.questions import read_writer
from benchc.benchmarks.naturalbench.curation.samples import read_samples
from benchc.benchmarks.naturalbench.demo.writer import record_replies
from benchc.benchmarks.naturalbench.kinds import QuestionType
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.command_line import Json, PositiveInt, Seed
from benchc.schemas.parquet import read_table


def record_demo_writer(
    *,
    pairs: Path,
    captions: Path,
    model: str,
    temperature: float = 1.0,
    templates: Annotated[Mapping[QuestionType, Path], Json],
    rounds: PositiveInt,
    seed: Seed,
    output: Path,
) -> None:
    """Write the replies of the demo's language model, as a folder of recordings that write_questions replays.

    Args:
        pairs: curate/pairs.parquet or curate/kept_pairs.parquet
        captions: curate/captions.parquet
        model: name of the model in its requests
        temperature: of the requests
        templates: prompt of each type of questions that is written
        rounds: number of rounds
        seed: decides which replies are not usable
        output: folder to write
    """
    samples = read_samples(captions, read_table(pairs, PAIRS))
    writer = read_writer(model, temperature, templates)
    with atomic_folder(output) as folder:
        count = record_replies(samples, list(writer.templates), rounds, writer, seed, folder)
    print(f"{output}: {count:,} replies to requests about {len(samples):,} pairs")
