"""Keep the pairs of which all annotators say that no caption describes both images."""

import sys
from pathlib import Path

from benchc.benchmarks.naturalbench.curation.keep import kept_pairs
from benchc.benchmarks.naturalbench.curation.review_csv import reviews_or_stop
from benchc.benchmarks.naturalbench.curation.review_files import PAIRS_REVIEW
from benchc.benchmarks.naturalbench.curation.review_rows import read_rows
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.schemas.reviewed import REVIEWED, ReviewedFooter
from benchc.schemas.parquet import read_table, write_table


def keep_pairs(
    *,
    pairs: Path,
    captions: Path,
    annotators: list[str],
    reviews: Path,
    forms: Path,
    kept: Path,
    reviewed: Path,
) -> None:
    """Keep the pairs of which all annotators say that no caption describes both images.

    Stops with a list of all annotators whose review is missing, incomplete or wrong.

    Args:
        pairs: curate/pairs.parquet
        captions: curate/captions.parquet
        annotators: ids of all who reviewed
        reviews: folder with pairs/{annotator}.csv
        forms: folder with the forms, for messages
        kept: curate/kept_pairs.parquet to write
        reviewed: curate/reviewed/pairs.parquet to write
    """
    rows = read_rows(pairs, captions, None, None)
    answers = reviews_or_stop(rows, annotators, reviews, forms, PAIRS_REVIEW)
    table = read_table(pairs, PAIRS)
    found = kept_pairs(table, answers)
    write_table(found, kept, PAIRS)
    write_table(answers, reviewed, REVIEWED, ReviewedFooter(round=PAIRS_REVIEW, annotators=annotators))
    print(f"round {PAIRS_REVIEW}: {found.height:,} of {table.height:,} pairs kept", file=sys.stderr)
