"""The demo's annotators: they know what was drawn, and sometimes make a mistake."""

import csv
import io
import re
from collections.abc import Mapping, Sequence

from benchc.benchmarks.naturalbench.curation.review_files import NEEDED, written_id
from benchc.benchmarks.naturalbench.curation.review_rows import PAIR, UNANSWERABLE, Row
from benchc.benchmarks.naturalbench.curation.samples import Sample
from benchc.benchmarks.naturalbench.demo.chinese import in_english
from benchc.benchmarks.naturalbench.demo.topics import Drawn, drawn
from benchc.demo.topics import topics
from benchc.randomness import generator_of

MISTAKES = 0.03  # share of the answers, by a hash of annotator and row
QUOTED = re.compile('"([^"]+)"')


def review(
    rows: Sequence[Row], samples: Mapping[str, tuple[Sample, Sample]], annotator: str, seed: int
) -> str:
    """Return the CSV file that an annotator of a round returns."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(NEEDED)
    for row in rows:
        first, second = (drawn(sample.caption) for sample in samples[row.pair])
        answer = answer_of(row, first, second)
        random = generator_of(seed, "annotator", annotator, row.id)
        if random.random() < MISTAKES:
            answer = str(random.choice([choice for choice in row.choices if choice != answer]))
        writer.writerow([written_id(row.id), annotator, answer])
    return text.getvalue()


def answer_of(row: Row, first: Drawn, second: Drawn) -> str:
    """Return the right answer to a row about a pair of pictures, or about one of them."""
    if row.type == PAIR:
        return "Yes" if (first.topic, first.answer) == (second.topic, second.answer) else "No"
    picture = second if row.i_idx else first
    text, options = in_english(row.question), [in_english(option) for option in row.options]
    asked = [question for question in topics() if text.endswith(question) or f"{question} " in text]
    topic = topics()[max(asked, key=len)] if asked else None
    if row.type == "multiple_choice":
        # The options are answers to a question about a picture, or such questions themselves.
        fits = [
            topic == picture.topic and option == picture.answer
            if topic is not None
            else topics().get(option) == picture.topic
            for option in options
        ]
        return "AB"[fits.index(True)] if sum(fits) == 1 else UNANSWERABLE
    named = QUOTED.search(text)
    if named is None:
        return "Yes" if topic == picture.topic else "No"
    if topic != picture.topic:
        return UNANSWERABLE
    return "Yes" if named[1] == picture.answer else "No"
