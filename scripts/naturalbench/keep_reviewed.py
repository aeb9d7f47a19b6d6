"""Keep the questions of a round whose expected answers all annotators give."""

import sys
from pathlib import Path

from benchc.benchmarks.naturalbench.curation.keep import kept_questions
from benchc.benchmarks.naturalbench.curation.review_csv import reviews_or_stop
from benchc.benchmarks.naturalbench.curation.review_rows import read_rows
from benchc.benchmarks.naturalbench.schemas.kept import KEPT
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS
from benchc.benchmarks.naturalbench.schemas.reviewed import REVIEWED, ReviewedFooter
from benchc.command_line import NaturalInt
from benchc.schemas.parquet import read_table, write_table


def keep_reviewed(
    *,
    pairs: Path,
    captions: Path,
    questions: Path,
    round: NaturalInt,
    annotators: list[str],
    reviews: Path,
    forms: Path,
    kept: Path,
    reviewed: Path,
) -> None:
    """Keep the questions of a round whose expected answers all annotators give.

    Stops with a list of all annotators whose review is missing, incomplete or wrong. A round without any
    question needs no reviews.

    Args:
        pairs: curate/kept_pairs.parquet or curate/pairs.parquet
        captions: curate/captions.parquet
        questions: curate/questions/{round}.parquet
        round: from 0 on
        annotators: ids of all who reviewed
        reviews: folder with {round}/{annotator}.csv
        forms: folder with the forms, for messages
        kept: curate/kept/{round}.parquet to write
        reviewed: curate/reviewed/{round}.parquet to write
    """
    rows = read_rows(pairs, captions, questions, round)
    answers = reviews_or_stop(rows, annotators, reviews, forms, str(round))
    found = kept_questions(read_table(questions, QUESTIONS), answers)
    write_table(found, kept, KEPT)
    write_table(answers, reviewed, REVIEWED, ReviewedFooter(round=str(round), annotators=annotators))
    count = found["kept"].sum()
    print(f"round {round}: {count:,} of {found.height:,} questions kept", file=sys.stderr)
