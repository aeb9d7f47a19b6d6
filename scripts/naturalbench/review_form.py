"""Write the review form of one annotator: an HTML page, and an empty CSV file for a spreadsheet."""

import sys
from pathlib import Path

from benchc.atomic import atomic_write, write_text
from benchc.benchmarks.naturalbench.curation.review_csv import review_csv
from benchc.benchmarks.naturalbench.curation.review_rows import in_order_of, read_rows
from benchc.benchmarks.naturalbench.curation.samples import read_images
from benchc.benchmarks.naturalbench.pages.review import review_page, title_of
from benchc.command_line import NaturalInt, PositiveInt
from benchc.pluralize import pluralize
from benchc.progress import track


def review_form(
    *,
    pairs: Path,
    captions: Path,
    questions: Path | None = None,
    round: NaturalInt | None = None,
    rounds: PositiveInt,
    annotator: str,
    release: str,
    returned_to: str,
    html: Path,
    csv: Path,
) -> None:
    """Write the form in which one annotator reviews the pairs, or the questions of a round.

    Args:
        pairs: curate/pairs.parquet where pairs are reviewed, else those that questions are about
        captions: curate/captions.parquet
        questions: curate/questions/{round}.parquet; none where pairs are reviewed
        round: of the questions, from 0 on; none where pairs are reviewed
        rounds: how many rounds of questions there may be
        annotator: id of the annotator
        release: name of the data set, for the title
        returned_to: where the annotator's CSV file belongs, for the page
        html: curate/review/{review}/{annotator}.html to write
        csv: curate/review/{review}/{annotator}.csv to write
    """
    rows = in_order_of(annotator, read_rows(pairs, captions, questions, round))
    keys = list(dict.fromkeys(key for row in rows for key in row.images))
    images = track(read_images(captions, keys), label="review form", unit="images", total=len(keys))
    title = title_of(release, round, rounds, annotator)
    parts = review_page(rows, images, title=title, annotator=annotator, file=returned_to)
    with atomic_write(html) as file:
        file.writelines(part.encode() for part in parts)
    write_text(csv, review_csv(rows, annotator))
    if rows:
        print(
            f"{pluralize(len(rows), 'row')} for {annotator}: {html}; the answers belong to {returned_to}",
            file=sys.stderr,
        )
