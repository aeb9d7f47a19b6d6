"""The review form: one HTML file with its images, in which an annotator answers and saves a CSV file."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from benchc.benchmarks.naturalbench.curation.review_files import written_id
from benchc.benchmarks.naturalbench.curation.review_rows import Row
from benchc.errors import InputError
from benchc.images import ImageError, decode
from benchc.rendering.data_page import data_page
from benchc.rendering.page_image import page_image


def review_page(
    rows: Sequence[Row],
    images: Iterable[tuple[str, bytes]],
    *,
    title: str,
    annotator: str,
    file: str,
) -> Iterator[str]:
    """Return the parts of the page, which needs no network; one part has one image.

    Args:
        rows: in the order in which they are shown. Expected answers are not in the page.
        images: the key and the file of each image of the rows.
        title: of the page.
        annotator: who answers.
        file: where the saved CSV file belongs.
    """
    numbers: dict[str, int] = {}

    def encoded() -> Iterator[bytes]:
        for key, data in images:
            numbers[key] = len(numbers)
            yield _encoded(key, data)

    ids = "\x1f".join([annotator, *sorted(row.id for row in rows)])

    def content() -> dict[str, object]:
        return {
            "title": title,
            "annotator": annotator,
            "file": file,
            # Other rows have other answers.
            "key": f"review/{hashlib.blake2b(ids.encode(), digest_size=16).hexdigest()}",
            "rows": [
                {
                    "id": written_id(row.id),
                    "question": row.question,
                    "images": [numbers[key] for key in row.images],
                    "captions": row.captions,
                    "options": row.options,
                    "choices": row.choices,
                }
                for row in rows
            ],
        }

    return data_page("benchc.benchmarks.naturalbench.pages", "review.html", content, encoded())


def title_of(name: str, round_: int | None, rounds: int, annotator: str) -> str:
    """Return the title of a form: of pairs, or of a round of ``rounds``, the first of which is 0.

    ``name``: of the data set that is made.
    """
    about = "pairs" if round_ is None else f"questions, round {round_} of 0 to {rounds - 1}"
    return f"{name}: {about}, by {annotator}"


def _encoded(key: str, data: bytes) -> bytes:
    """Return the file of an image as the page contains it."""
    try:
        return page_image(decode(data))
    except ImageError as error:
        raise InputError(f"image {key}: {error}; remove or replace it") from error
