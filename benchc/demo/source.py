"""A drawn benchmark in the tab-separated form that VLMEvalKit's benchmarks come in."""

import base64
import io

import polars as pl
from PIL import Image

from benchc.demo.world import SOURCES, draw_group, draw_pictures
from benchc.letters import LETTERS

MOST_OPTIONS = 6
COLUMNS = ("index", "image", "question", "hint", *LETTERS[:MOST_OPTIONS], "answer", "category", "l2-category")


def draw_source(source: str, *, seed: int, groups: int) -> pl.DataFrame:
    """Draw a benchmark: for each of its categories so many groups, of one item for each option.

    All columns are strings, as in the published files: ``image`` is a picture file in base64, or the text of
    a list of such strings where an item has two; ``answer`` is a letter; options that do not exist are empty.
    Raises ValueError where the source is unknown.
    """
    if source not in SOURCES:
        raise ValueError(f"{source!r} is no drawn source; choose one of {', '.join(SOURCES)}")
    rows: list[dict[str, str]] = []
    for category in SOURCES[source]:
        for number in range(groups):
            group = draw_group(source, category, number, seed)
            options = dict(zip(LETTERS, group.options, strict=False))
            for position, answer in enumerate(group.answers):
                pictures = draw_pictures(source, category, number, position, group, seed)
                files = [_encoded(picture, group.format) for picture in pictures]
                rows.append(
                    {
                        "index": str(len(rows)),
                        "image": files[0] if len(files) == 1 else str(files),
                        "question": group.question,
                        "hint": group.hint,
                        **{letter: options.get(letter, "") for letter in LETTERS[:MOST_OPTIONS]},
                        "answer": LETTERS[answer],
                        "category": category.name,
                        "l2-category": category.family,
                    }
                )
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String))


def _encoded(picture: Image.Image, file_format: str) -> str:
    file = io.BytesIO()
    picture.save(file, file_format, **({"quality": 92} if file_format == "JPEG" else {}))
    return base64.b64encode(file.getvalue()).decode()
