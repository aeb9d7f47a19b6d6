"""The review form: one HTML file with its images, in which an annotator answers and saves a CSV file."""

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from importlib import resources

from benchc.benchmarks.naturalbench.curation.review_files import written_id
from benchc.benchmarks.naturalbench.curation.review_rows import Row
from benchc.errors import InputError
from benchc.images import ImageError, decode
from benchc.rendering.page_image import page_image

IMAGES, DATA = "@images@", "@data@"  # in the template


def review_page(
    rows: Sequence[Row],
    images: Iterable[tuple[str, bytes]],
    *,
    title: str,
    annotator: str,
    file: str,
) -> Iterator[str]:
    """Yield the parts of the page, which needs no network; one part has one image.

    Args:
        rows: in the order in which they are shown. Expected answers are not in the page.
        images: the key and the file of each image of the rows.
        title: of the page.
        annotator: who answers.
        file: where the saved CSV file belongs.
    """
    template = resources.files("benchc.benchmarks.naturalbench.pages").joinpath("review.html")
    before, _, rest = template.read_text(encoding="utf-8").partition(IMAGES)
    between, _, after = rest.partition(DATA)
    yield before
    numbers: dict[str, int] = {}
    for number, (key, data) in enumerate(images):
        numbers[key] = number
        yield f'<script type="text/plain" id="image-{number}">{_encoded(key, data)}</script>\n'
    ids = "\x1f".join([annotator, *sorted(row.id for row in rows)])
    content = {
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
    # A text such as "</script>" would end the script that contains the data.
    yield between + json.dumps(content, ensure_ascii=False).replace("<", r"\u003c") + after


def title_of(name: str, round_: int | None, rounds: int, annotator: str) -> str:
    """Return the title of a form: of pairs, or of a round of ``rounds``, the first of which is 0.

    ``name``: of the data set that is made.
    """
    about = "pairs" if round_ is None else f"questions, round {round_} of 0 to {rounds - 1}"
    return f"{name}: {about}, by {annotator}"


def _encoded(key: str, data: bytes) -> str:
    """Return an image in base64."""
    try:
        return base64.b64encode(page_image(decode(data))).decode()
    except ImageError as error:
        raise InputError(f"image {key}: {error}; remove or replace it") from error
