"""Figure 1: the hierarchy of capabilities, with their numbers of questions and sample questions."""

from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from matplotlib.figure import Figure

from benchc.benchmarks.mllm_ic.capabilities import PUBLISHED_CAPABILITIES, label_of
from benchc.benchmarks.mllm_ic.capabilities import capabilities as all_capabilities
from benchc.benchmarks.mllm_ic.figures.tree import LINE, MARGIN, RIGHT, Branch, place_image, plot_tree
from benchc.benchmarks.mllm_ic.schemas.capabilities import CAPABILITIES
from benchc.letters import LETTERS
from benchc.pixels import Pixels
from benchc.pluralize import pluralize
from benchc.randomness import seed_of
from benchc.rendering.item_images import item_images
from benchc.rendering.labels import renderable
from benchc.rendering.style import FAINT, TEXT_WIDTH, styled
from benchc.rendering.text_line import POINTS, write_line
from benchc.rendering.wrap import wrap
from benchc.schemas.parquet import iterate_groups, read_table
from benchc.schemas.pool import POOL

# Inches.
LEAF, NAMES = 0.135, 1.8  # height of a capability, and width of their column
IMAGE, GAP = 0.95, 0.08
TEXT = RIGHT + NAMES + GAP + IMAGE + GAP  # where the texts of the samples begin
QUESTION_LINES, SHORT = 3, 100  # letters of a question that is shown whole
MOST_OPTIONS, SHORT_OPTION = 5, 40


class Sample(NamedTuple):
    """A question as it is shown: lines, each with whether it is the right answer."""

    image: Pixels
    lines: list[tuple[str, dict[str, Any]]]


def figure1(pool: Path, capabilities: Path) -> Figure:
    """Plot the capabilities of the run's questions, and a question of each mid-level one.

    Args:
        pool: pool/items.parquet
        capabilities: pool/capabilities.parquet

    The question is the first by a hash that is short enough to be shown whole, if there is one.
    """
    items = read_table(capabilities, CAPABILITIES).filter(pl.col("capability").is_not_null())
    counts: dict[str, int] = dict(items["capability"].value_counts().iter_rows())
    known = [each for each in all_capabilities() if each.name in counts]
    high = {each.mid: each.high for each in known}
    samples = _samples(pool, items)
    branches, members = [], []
    for mid in high:
        own = [each.name for each in known if each.mid == mid]
        members.append(own)
        text = max(LEAF * len(own), LINE * len(samples[mid].lines), IMAGE * 0.75)
        questions = pluralize(sum(counts[name] for name in own), "question")
        branches.append(Branch(high[mid], label_of(mid), questions, text))
    note = f"{len(known)} of {PUBLISHED_CAPABILITIES} capabilities have questions in this run."
    with styled():
        figure, tops = plot_tree(branches, note if len(known) < PUBLISHED_CAPABILITIES else "")
        for branch, own, mid, top in zip(branches, members, high, tops, strict=True):
            first = top - (branch.height - LEAF * len(own)) / 2 - 0.02
            for place, name in enumerate(own):
                y = first - place * LEAF
                write_line(figure, label_of(name), RIGHT, y)
                write_line(figure, f"{counts[name]:,}", RIGHT + NAMES, y, ha="right", color=FAINT)
            place_image(figure, samples[mid].image, RIGHT + NAMES + GAP, top, IMAGE, branch.height)
            lines = samples[mid].lines
            first = top - (branch.height - LINE * len(lines)) / 2
            for place, (line, style) in enumerate(lines):
                write_line(figure, line, TEXT, first - place * LINE, **style)
    return figure


def _samples(pool: Path, items: pl.DataFrame) -> dict[str, Sample]:
    """Return a question of each mid-level capability."""
    texts = read_table(pool, POOL, ["id", "question", "options", "answer"])
    rows = items.join(texts, on="id")
    options = pl.col("options")
    rows = rows.with_columns(
        copy=pl.col("rotation") > 0,
        long=(pl.col("question").str.len_chars() > SHORT)
        | (options.list.len() > MOST_OPTIONS)
        | (options.list.eval(pl.element().str.len_chars()).list.max() > SHORT_OPTION),
        hash=pl.Series([seed_of("figure1", id_) for id_ in rows["id"]], dtype=pl.UInt64),
    ).sort("copy", "long", "hash")
    first = rows.unique("mid", keep="first", maintain_order=True)
    chosen = {row["id"]: row for row in first.iter_rows(named=True)}
    found = {}
    for group in iterate_groups(pool, POOL, "id", set(chosen)):
        (item,) = group.iter_rows(named=True)
        row = chosen[item["id"]]
        found[row["mid"]] = Sample(item_images(item, pool)[0], _lines(row))
    return found


def _lines(row: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    width = TEXT_WIDTH - TEXT - MARGIN
    (question,) = renderable([row["question"]])
    lines: list[tuple[str, dict[str, Any]]] = [
        (label_of(row["capability"]), {"style": "italic", "color": FAINT})
    ]
    lines += [(line, {}) for line in wrap(question, inches=width, points=POINTS, lines=QUESTION_LINES)]
    for place, option in enumerate(row["options"][: len(LETTERS)]):
        (text,) = renderable([f"{LETTERS[place]}. {option}"])
        style = {"fontweight": "bold"} if place == row["answer"] else {}
        lines += [
            (line, style) for line in wrap(text, inches=width, points=POINTS + 0.5 * bool(style), lines=1)
        ]
    return lines
