"""Let a language model write two questions of each type for each pair, from the captions of its images."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import polars as pl

from benchc.benchmarks.naturalbench.curation.questions import (
    first_slots,
    open_slots,
    read_writer,
    written_questions,
)
from benchc.benchmarks.naturalbench.curation.samples import read_samples
from benchc.benchmarks.naturalbench.kinds import QuestionType
from benchc.benchmarks.naturalbench.schemas.kept import KEPT
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS
from benchc.command_line import Json, NaturalInt
from benchc.endpoint.language_model import opened
from benchc.endpoint.service import Service
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.parquet import read_table, write_table


def write_questions(
    *,
    round: NaturalInt,
    pairs: Path,
    captions: Path,
    kept: Path | None = None,
    model: str,
    temperature: float = 1.0,
    templates: Annotated[Mapping[QuestionType, Path], Json],
    service: Service | None = None,
    output: Path,
) -> None:
    """Let a language model write two questions of each type for each pair, from the captions of its images.

    Round 0 asks for all pairs; a later one for the questions that people did not keep in the round before. In
    mode record, a killed job continues with the replies that it has.

    Args:
        round: 0, 1, 2 or 3
        pairs: curate/kept_pairs.parquet or curate/pairs.parquet
        captions: curate/captions.parquet
        kept: curate/kept/{round}.parquet of the round before; not of round 0
        model: name of the model at the endpoint
        temperature: of the replies
        templates: prompt of each type of questions that is written
        output: curate/questions/{round}.parquet to write
    """
    if (round == 0) != (kept is None):
        raise InputError("--kept is given from round 1 on, and only then")
    table = read_table(pairs, PAIRS)
    samples = read_samples(captions, table)
    writer = read_writer(model, temperature, templates)
    slots = (
        first_slots(table["pair"].to_list(), list(writer.templates))
        if kept is None
        else open_slots(read_table(kept, KEPT))
    )
    service = service or Service()
    with opened(service) as endpoint:
        questions = written_questions(slots, samples, writer, round, endpoint)
    write_table(questions, output, QUESTIONS, writer.footer(round, service))
    usable = int(questions["ok"].sum())
    print(
        f"round {round}: {pluralize(len(slots), 'request')}, {usable:,} of "
        f"{pluralize(questions.height, 'question')} usable",
        file=sys.stderr,
    )
    reasons = questions.filter(~pl.col("ok"))["reason"].value_counts(sort=True)
    for reason, count in reasons.head(5).iter_rows():
        print(f"{count:,}: {reason}", file=sys.stderr)
