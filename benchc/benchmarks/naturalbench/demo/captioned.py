"""The demo's captioned images: drawn, with the captions on which the demo's image encoder is trained."""

from collections.abc import Iterator

import polars as pl

from benchc.benchmarks.naturalbench.curation.caption_sets import DrawnCaptions, Which
from benchc.benchmarks.naturalbench.curation.captions import Caption, Picture, samples
from benchc.demo.source import encoded_image
from benchc.demo.world import LARGE_SIDE, SOURCES, generate_group, render_images
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
    drawn = _drawn(seed_of(seed, "captions"))
    return dict(next(drawn) for _ in track(range(count), label="draw images", unit="images"))


def _drawn(seed: int) -> Iterator[tuple[str, Picture]]:
    number = 0
    while True:
        for source, categories in SOURCES.items():
            for category in categories:
                if category.name not in CATEGORIES:
                    continue
                group = generate_group(source, category, number, seed)
                if max(max(size) for size in group.sizes) >= LARGE_SIDE:
                    continue
                for position, answer in enumerate(group.answers):
                    (image,) = render_images(source, category, number, position, group, seed)
                    name = f"{source}-{category.name}-{number}-{position}.{group.format.lower()}"
                    text = f"{group.options[answer]}. {group.question}"
                    yield name, Picture(None, encoded_image(image, group.format), [Caption(0, None, text)])
        number += 1
