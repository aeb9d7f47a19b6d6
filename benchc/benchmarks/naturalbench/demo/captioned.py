"""The demo's captioned images: drawn, with the captions on which the demo's image encoder is trained."""

import itertools

import polars as pl

from benchc.benchmarks.naturalbench.curation.caption_sets import DrawnCaptions, Which
from benchc.benchmarks.naturalbench.curation.captions import Caption, Picture, samples
from benchc.demo.drawn_items import DrawnItem, drawn_items
from benchc.demo.source import encoded_image
from benchc.progress import track
from benchc.randomness import seed_of
from benchc.sources.report import report_frame

# Few, so that most mismatched pairs show two answers to one question.
CATEGORIES = ("bar chart", "line chart", "shape kind", "rotation", "place")


def drawn_samples(source: DrawnCaptions, which: Which) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the samples of drawn images, of type CAPTIONS and sorted by id, and a report without rows."""
    pictures = captioned_images(source.count, source.seed)
    return samples(source.id, pictures, which, source.language, None), report_frame([])


def captioned_images(count: int, seed: int) -> dict[str, Picture]:
    """Return ``count`` images by name, each with the caption ``{answer}. {question}``.

    They are the items of groups, taken in turn from ``CATEGORIES``, which have one image; the images of a
    group show each answer to one question once, so that many pairs differ in the answer alone. ``seed`` may
    be that of other data of the demo: these images have a seed derived from it.
    """
    drawn = drawn_items(CATEGORIES, itertools.count(), seed_of(seed, "captions"))
    items = track(itertools.islice(drawn, count), label="draw images", unit="images", total=count)
    return dict(map(_captioned, items))


def _captioned(item: DrawnItem) -> tuple[str, Picture]:
    file_format = item.group.format
    name = f"{item.source}-{item.category.name}-{item.number}-{item.position}.{file_format.lower()}"
    text = f"{item.answer}. {item.group.question}"
    return name, Picture(None, encoded_image(item.image, file_format), [Caption(0, None, text)])
