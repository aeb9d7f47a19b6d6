"""What annotators are asked: rows of a review form, about pairs or about questions."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchc.benchmarks.naturalbench.curation.review_files import PAIRS_REVIEW
from benchc.benchmarks.naturalbench.curation.samples import Sample, read_samples
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS
from benchc.errors import InputError
from benchc.randomness import seed_of
from benchc.schemas.parquet import read_table

PAIR = "pair"  # the type of a row about a pair
UNANSWERABLE = "Unanswerable"
# Of each type of rows, in the order of the answers 0, 1 and 2.
CHOICES: Mapping[str, tuple[str, ...]] = {
    PAIR: ("Yes", "No"),
    "yes_no": ("Yes", "No", UNANSWERABLE),
    "multiple_choice": ("A", "B", UNANSWERABLE),
}
SHARED_CAPTION = "Does one of the two captions describe both images?"
NO = 1


class Row(NamedTuple):
    """One question to an annotator.

    Args:
        id: 16 hex digits, a hash of all that the annotator is asked about, and of its place in its group.
        images: keys of one image; of two where the row is about a pair.
        captions: of the two images of a pair; none where the row is about a question.
        options: texts of the options A and B; none where the choices are words.
        expected: the number of the choice that keeps the question or pair.
    """

    id: str
    pair: str
    type: str
    q_idx: int | None
    i_idx: int | None
    question: str
    images: tuple[str, ...]
    captions: tuple[str, ...]
    options: tuple[str, ...]
    expected: int

    @property
    def choices(self) -> tuple[str, ...]:
        return CHOICES[self.type]


def read_rows(pairs: Path, captions: Path, questions: Path | None, round_: int | None) -> list[Row]:
    """Return what annotators are asked: about pairs, or about the questions of a round.

    Args:
        pairs: curate/pairs.parquet where pairs are reviewed, else those that questions are about
        captions: curate/captions.parquet
        questions: curate/questions/{round}.parquet; None where pairs are reviewed
        round_: from 0 on; None where pairs are reviewed

    Raises InputError where questions are given without their round, or a round without questions.
    """
    samples = read_samples(captions, read_table(pairs, PAIRS))
    if questions is None and round_ is None:
        return pair_rows(samples)
    if questions is None or round_ is None:
        raise InputError("--questions and --round: give both for a round of questions, and neither for pairs")
    return question_rows(read_table(questions, QUESTIONS), samples, round_)


def pair_rows(samples: Mapping[str, tuple[Sample, Sample]]) -> list[Row]:
    """Return one row for each pair: whether one caption describes both images. The pair is kept if not."""
    return [
        Row(
            _id(PAIRS_REVIEW, pair, *(sample.image for sample in both), *(sample.caption for sample in both)),
            pair,
            PAIR,
            None,
            None,
            SHARED_CAPTION,
            tuple(sample.image for sample in both),
            tuple(sample.caption for sample in both),
            (),
            NO,
        )
        for pair, both in samples.items()
    ]


def question_rows(
    questions: pl.DataFrame, samples: Mapping[str, tuple[Sample, Sample]], round_: int
) -> list[Row]:
    """Return two rows for each usable question (type QUESTIONS) of a round, one for each image of its pair.

    Question 0 has answer 0 for image 0 and answer 1 for image 1; question 1 the reverse.
    """
    return [
        Row(
            _id(str(round_), pair, kind, str(q_idx), str(i_idx), question, *options),
            pair,
            kind,
            q_idx,
            i_idx,
            question,
            (samples[pair][i_idx].image,),
            (),
            options if kind == "multiple_choice" else (),
            q_idx ^ i_idx,
        )
        for pair, kind, q_idx, question, *texts in questions.filter("ok")
        .select("pair", "type", "q_idx", "question", "answer_0", "answer_1")
        .iter_rows()
        for options in [(texts[0], texts[1])]
        for i_idx in (0, 1)
    ]


def in_order_of(annotator: str, rows: list[Row]) -> list[Row]:
    """Return the rows in the annotator's own order, so that nobody sees the images of a question in turn."""
    return sorted(rows, key=lambda row: (seed_of("review", annotator, row.id), row.id))


def _id(*parts: str) -> str:
    return hashlib.blake2b("\x1f".join(parts).encode(), digest_size=8).hexdigest()
