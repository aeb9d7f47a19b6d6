"""Write what one of the demo's annotators, who knows what was drawn, answers in a review."""

from pathlib import Path

from benchc.atomic import write_text
from benchc.benchmarks.naturalbench.curation.review_rows import read_rows
from benchc.benchmarks.naturalbench.curation.samples import read_samples
from benchc.benchmarks.naturalbench.demo.annotators import review
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.command_line import NaturalInt, Seed
from benchc.schemas.parquet import read_table


def record_demo_reviews(
    *,
    pairs: Path,
    captions: Path,
    questions: Path | None = None,
    round: NaturalInt | None = None,
    annotator: str,
    seed: Seed,
    output: Path,
) -> None:
    """Write what one of the demo's annotators, who knows what was drawn, answers in a review.

    Args:
        pairs: curate/pairs.parquet where pairs are reviewed, else those that questions are about
        captions: curate/captions.parquet
        questions: curate/questions/{round}.parquet; none where pairs are reviewed
        round: of the questions, from 0 on; none where pairs are reviewed
        annotator: id of the annotator
        seed: decides which answers are mistakes
        output: {review}/{annotator}.csv to write
    """
    samples = read_samples(captions, read_table(pairs, PAIRS))
    rows = read_rows(pairs, captions, questions, round)
    write_text(output, review(rows, samples, annotator, seed))
    print(f"{output}: {len(rows):,} answers")
