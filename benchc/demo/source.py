"""Generate one of the demo's synthetic benchmarks, in VLMEvalKit's TSV format."""

import base64
import io
import json

import polars as pl
from PIL import Image

from benchc.demo.captions import CAPTION_QUESTION, CAPTION_SOURCE, CAPTIONS, captions_of
from benchc.demo.drawn_items import drawn_items
from benchc.demo.world import SOURCES, generate_group, render_images
from benchc.errors import InputError
from benchc.letters import LETTERS
from benchc.randomness import seed_of

MAX_OPTIONS = 6
COLUMNS = ("index", "image", "question", "hint", *LETTERS[:MAX_OPTIONS], "answer", "category", "l2-category")


def generate_source(source: str, *, seed: int, groups: int) -> pl.DataFrame:
    """Return the benchmark ``source``: ``groups`` groups per category, each with one item per option.

    All columns are strings, as in published files: ``image`` is an image file in base64, or a Python list of
    two such strings; ``answer`` is a letter; options that an item lacks are empty. Of CAPTION_SOURCE, there
    are no options, and the answer is a list of captions in JSON. Raises InputError for an unknown source.
    """
    if source == CAPTION_SOURCE:
        return _captioned(seed, groups)
    if source not in SOURCES:
        known = ", ".join((*SOURCES, CAPTION_SOURCE))
        raise InputError(f"{source!r} is not a source of the demo; choose one of {known}")
    rows: list[dict[str, str]] = []
    for category in SOURCES[source]:
        for number in range(groups):
            group = generate_group(source, category, number, seed)
            options = dict(zip(LETTERS, group.options, strict=False))
            for position, answer in enumerate(group.answers):
                images = render_images(source, category, number, position, group, seed)
                files = [base64.b64encode(encoded_image(image, group.format)).decode() for image in images]
                rows.append(
                    {
                        "index": str(len(rows)),
                        "image": files[0] if len(files) == 1 else str(files),
                        "question": group.question,
                        "hint": group.hint,
                        **{letter: options.get(letter, "") for letter in LETTERS[:MAX_OPTIONS]},
                        "answer": LETTERS[answer],
                        "category": category.name,
                        "l2-category": category.family,
                    }
                )
    return pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String))


def _captioned(seed: int, groups: int) -> pl.DataFrame:
    # A seed of its own: with that of the others, its images would be theirs.
    items = drawn_items(CAPTIONS, range(groups), seed_of(seed, CAPTION_SOURCE))
    rows = [
        {
            "index": str(index),
            "image": base64.b64encode(encoded_image(item.image, item.group.format)).decode(),
            "question": CAPTION_QUESTION,
            "answer": json.dumps(captions_of(item.category.name, item.group.subject, item.answer)),
            # Not a question's category, with which the pool would count the item.
            "category": f"{item.category.name} caption",
            "l2-category": item.category.family,
        }
        for index, item in enumerate(items)
    ]
    return pl.DataFrame(rows)


def encoded_image(image: Image.Image, file_format: str) -> bytes:
    """Return an image file, PNG or JPEG."""
    file = io.BytesIO()
    image.save(file, file_format, **({"quality": 92} if file_format == "JPEG" else {}))
    return file.getvalue()
