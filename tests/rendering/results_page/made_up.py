"""A small results page of made-up answers."""

from pathlib import Path

import numpy as np
import polars as pl

from benchc.rendering import write_samples
from benchc.rendering.results_page.html import page_html
from benchc.rendering.results_page.pictures import picture_name, write_strip
from benchc.rendering.results_page.samples import Measure, Samples
from benchc.rendering.results_page.script import as_script

GROUPS = {"fog": "weather", "blur": "blur"}
LEVELS = [1, 2]
CELLS = [("clean", 0), *((name, level) for name in GROUPS for level in LEVELS)]


def questions(texts: list[str], **columns: list[object]) -> pl.DataFrame:
    """Return questions s/0, s/1, ... with two options each, the first of which is right."""
    ids = [f"s/{number}" for number in range(len(texts))]
    rows: dict[str, list[object]] = {
        "id": [*ids],
        "sample": [*ids],
        "source": ["one" if number % 2 else "two" for number in range(len(texts))],
        "task": ["count"] * len(texts),
        "question": [*texts],
        "hint": [None] * len(texts),
        "options": [["yes", "no"]] * len(texts),
        "answer": [0] * len(texts),
        "truths": [[]] * len(texts),
        "image_keys": [[f"{id_}#0"] for id_ in ids],
        "name": [""] * len(texts),
    }
    types = {"hint": pl.String, "truths": pl.List(pl.String), "options": pl.List(pl.String)}
    return pl.DataFrame(rows | columns, schema_overrides=types)


def answers(ids: list[str], right: dict[tuple[str, str, int], float]) -> pl.DataFrame:
    """Return answers, whose right option has a probability of 0.9, or the one in ``right``."""
    rows = [
        (id_, name, level, float(given > 0.5), [given, 1 - given], given - 0.9)
        for id_ in ids
        for name, level in CELLS
        for given in [right.get((id_, name, level), 0.9)]
    ]
    columns = ["id", "corruption", "severity", "grade", "probabilities", "ras"]
    return pl.DataFrame(rows, schema=columns, orient="row")


def samples(of: pl.DataFrame, by_model: dict[str, pl.DataFrame], **changes: object) -> Samples:
    given: dict[str, object] = {
        "questions": of,
        "facts": of.select("sample", κ=pl.Series(np.linspace(0, 1, of.height))).unique(
            "sample", maintain_order=True
        ),
        "answers": by_model.__getitem__,
        "labels": {id_: id_.upper() for id_ in by_model},
        "corruptions": GROUPS,
        "severities": LEVELS,
        "measures": [Measure("ras", "RAS", change=True)],
        "candidates": of["sample"].n_unique(),
    }
    return Samples(**given | changes)  # type: ignore[arg-type]


def write_page(
    folder: Path, result: Samples, title: str = "made up", content: dict[str, object] | None = None
) -> Path:
    """Write a page of the samples below ``folder``, with an image for each, and return its path."""
    (folder / "page/images").mkdir(parents=True)
    write_samples.write(result, prefix=folder / "page/samples")
    strips = {}
    for number, keys in enumerate(result.questions["image_keys"]):
        for key in keys:
            frames = [np.full((30, 40, 3), (20 * number + 10 * frame) % 256, np.uint8) for frame in range(3)]
            write_strip(folder / "page/images", key, "fog", frames, 480)
            strips[picture_name(key)] = {"fog": LEVELS}
    listed = {"corruptions": ["fog"], "strips": strips, "withheld": []}
    (folder / "page/images/images.js").write_text(as_script("images", listed))
    page = folder / "index.html"
    page.write_text(page_html(title, title, [{"base": "", "name": title}], None), encoding="utf-8")
    return page
