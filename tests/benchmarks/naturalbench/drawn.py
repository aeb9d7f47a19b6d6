"""Captioned pictures that the demo draws, and pairs of them, as files between stages."""

import hashlib
import io
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from benchc.benchmarks.naturalbench.curation.samples import Sample
from benchc.benchmarks.naturalbench.schemas.captions import CAPTIONS
from benchc.benchmarks.naturalbench.schemas.embeddings import EmbeddingsFooter
from benchc.benchmarks.naturalbench.schemas.mismatches import MISMATCHES, MismatchesFooter
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.demo.world import SOURCES, generate_group, render_images
from benchc.schemas.parquet import write_table
from tests.benchmarks.made import frame_of

SEED = 5


def drawn_captions(count: int, *, source: str = "drawn-scenes") -> pl.DataFrame:
    """Return ``count`` samples of type CAPTIONS; four in a row share a category, and most a question."""
    rows = []
    categories = [category for category in SOURCES[source] if category.images == 1]
    for number in range(count):
        category = categories[number // 4 % len(categories)]
        group = generate_group(source, category, number // (4 * len(categories)) * 5 + 4, SEED)
        position = number % 4 % len(group.answers)
        (image,) = render_images(source, category, number, position, group, SEED)
        file = io.BytesIO()
        image.convert("RGB").save(file, "PNG")
        name = f"{number:03}.png"
        caption = f"{group.options[group.answers[position]]}. {group.question}"
        key = (f"drawn/{name}", "drawn", f"drawn://{name}")
        rows.append((*key, None, file.getvalue(), caption, "English"))
    return frame_of(CAPTIONS, rows)


def pairs_of(names: Sequence[tuple[str, str]], method: str = "mined") -> pl.DataFrame:
    """Return pairs of samples by their ids, of type PAIRS."""
    hashes = (hashlib.blake2b(f"{a} {b}".encode(), digest_size=8).hexdigest() for a, b in names)
    return frame_of(PAIRS, [(pair, *both, method) for pair, both in zip(hashes, names, strict=True)])


def neighbours(captions: pl.DataFrame) -> pl.DataFrame:
    """Return pairs of samples that follow each other: some about one question, some about two."""
    return pairs_of([*pairwise(captions["id"])])


def embeddings_footer(encoder: str, queries: int = 1) -> EmbeddingsFooter:
    """Return the footer of embeddings by an encoder of the Hub."""
    named: Any = {"library": "open_clip", "name": "E", "pretrained": "tag", "commit": "c" * 40}
    made: Any = {"device": "cpu", "batch": 32, "truncated": 0, "torch": "2.0"}
    return EmbeddingsFooter(encoder=encoder, queries=queries, **named, **made)


def write_drawn(folder: Path, count: int) -> tuple[Path, Path]:
    """Write captions, mismatches and pairs of ``count`` pictures to ``folder``; return captions and pairs."""
    captions = drawn_captions(count)
    write_table(captions, folder / "captions.parquet", CAPTIONS)
    write_table(neighbours(captions), folder / "pairs.parquet", PAIRS)
    footer = MismatchesFooter(samples=count, mismatches=3 * count, left_out=0)
    write_table(frame_of(MISMATCHES), folder / "mismatches.parquet", MISMATCHES, footer)
    return folder / "captions.parquet", folder / "pairs.parquet"


def sample(name: str, caption: str = "A dog.", language: str = "English") -> Sample:
    """Return a sample whose image has this name."""
    return Sample(f"set/{name}", "set", f"set://{name}", caption, language)
