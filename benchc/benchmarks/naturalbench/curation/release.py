"""The release: a TSV in VLMEvalKit's format, four rows for each group, and a record of how it was made."""

import base64
import csv
import hashlib
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchc.benchmarks.naturalbench.curation.content import question_key
from benchc.benchmarks.naturalbench.curation.groups import Group, groups_of
from benchc.benchmarks.naturalbench.curation.samples import Sample, read_samples
from benchc.benchmarks.naturalbench.schemas.captions import ShortenedFooter
from benchc.benchmarks.naturalbench.schemas.kept import KEPT
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS
from benchc.csv_cells import QuotedTsv
from benchc.errors import InputError
from benchc.schemas.parquet import read_footer, read_table

COLUMNS = (
    "index",
    "image",
    "question",
    "A",
    "B",
    "answer",
    "category",
    "l2-category",
    "group",
    "q_idx",
    "img_idx",
    "image_file",
    "language",
    "method",
    "pair",
    "sample",
    "round",
)
ITEMS = tuple((q_idx, i_idx) for q_idx in (0, 1) for i_idx in (0, 1))

ENCODER_FACTS = ("library", "name", "pretrained", "commit", "device", "batch")

Samples = Mapping[str, tuple[Sample, Sample]]


class Release(NamedTuple):
    """The pairs that were used (type PAIRS), the two samples of each, and the groups."""

    pairs: pl.DataFrame
    samples: Samples
    groups: list[Group]


def read_release(pairs: Path, captions: Path, questions: Sequence[Path], kept: Sequence[Path]) -> Release:
    """Return what a release is made of.

    ``questions`` and ``kept`` have one file for each round, in order. Raises InputError where they are of
    other rounds, and what `read_table` and `read_samples` raise.
    """
    if len(questions) != len(kept):
        raise InputError("--questions and --kept are not of the same rounds; give one file of each round")
    used = read_table(pairs, PAIRS)
    rounds = [
        (read_table(asked, QUESTIONS), read_table(answered, KEPT))
        for asked, answered in zip(questions, kept, strict=True)
    ]
    return Release(used, read_samples(captions, used), groups_of(used, rounds))


def image_keys(groups: Sequence[Group], samples: Samples) -> list[str]:
    """Return the keys of the groups' images, each once."""
    return list(dict.fromkeys(sample.image for group in groups for sample in samples[group.pair]))


def check_groups(groups: Sequence[Group], samples: Samples, hashes: Mapping[str, str]) -> None:
    """Raise InputError where the two images of a group are equal, or two groups have the same content.

    The content of a group is its images and its questions; ``hashes``: the pixel hash of each image by key.
    """
    seen: dict[object, Group] = {}
    for group in groups:
        both = samples[group.pair]
        images = [hashes[sample.image] for sample in both]
        if images[0] == images[1]:
            raise InputError(
                f"pair {group.pair}: its images {both[0].image} and {both[1].image} are equal; remove one of "
                "them from its data set"
            )
        questions = frozenset(question_key(each.question, each.options) for each in group.questions)
        earlier = seen.setdefault((frozenset(images), questions), group)
        if earlier is not group:
            raise InputError(
                f"pairs {earlier.pair} and {group.pair}: have the same images and the same {group.type} "
                "questions; answer those of one pair with Unanswerable in a review"
            )


def release_rows(
    groups: Sequence[Group],
    samples: Samples,
    subsets: Mapping[str, str],
    image: Callable[[str], bytes],
) -> Iterator[list[str]]:
    """Yield the header and four rows for each group, in the order of ``ITEMS``, as texts.

    The first row of an image has its file in base64, and the others that row's index, as VLMEvalKit reads it.

    Args:
        groups: in the order of the rows.
        samples: of each pair.
        subsets: name of the subset of each data set of captions; of images of two data sets, both.
        image: returns an image's file by its key.
    """
    yield list(COLUMNS)
    first: dict[str, str] = {}
    index = 0
    for group in groups:
        both = samples[group.pair]
        subset = " + ".join(dict.fromkeys(subsets[sample.dataset] for sample in both))
        for q_idx, i_idx in ITEMS:
            question, sample = group.questions[q_idx], both[i_idx]
            known = first.get(sample.image)
            if known is None:
                first[sample.image] = str(index)
            yield [
                str(index),
                base64.b64encode(image(sample.image)).decode() if known is None else known,
                question.question,
                *question.options,
                # Question 0 has answer 0 for image 0, question 1 for image 1.
                "AB"[q_idx ^ i_idx],
                group.type,
                subset,
                group.id,
                str(q_idx),
                str(i_idx),
                f"{sample.dataset}/{sample.name}",
                sample.language,
                group.method,
                group.pair,
                sample.id,
                str(question.round),
            ]
            index += 1


def as_tsv(rows: Iterator[list[str]]) -> Iterator[bytes]:
    """Yield each row as a line of a TSV file in UTF-8."""
    for row in rows:
        line = io.StringIO()
        csv.writer(line, QuotedTsv).writerow(row)
        yield line.getvalue().encode()


def counts_of(groups: Sequence[Group], samples: Samples, subsets: Mapping[str, str]) -> dict[str, object]:
    """Return how many groups, images and items a release has, and its groups by type, subset and method."""
    by_subset = Counter(
        " + ".join(dict.fromkeys(subsets[sample.dataset] for sample in samples[group.pair]))
        for group in groups
    )
    return {
        "groups": len(groups),
        "items": len(ITEMS) * len(groups),
        "images": len(image_keys(groups, samples)),
        "groups_by_type": dict(sorted(Counter(group.type for group in groups).items())),
        "groups_by_subset": dict(sorted(by_subset.items())),
        "groups_by_method": dict(sorted(Counter(group.method for group in groups).items())),
    }


def encoder_facts(embeddings: Sequence[Path], weights: Mapping[str, Sequence[Path]]) -> dict[str, object]:
    """Return facts about the encoders of embeddings by id; ``weights``: their own files, which are hashed."""
    return {
        id_: {name: footer.get(name) for name in ENCODER_FACTS}
        | {"sha256": {str(file): sha256_of(file) for file in weights.get(id_, ())}}
        for footer in map(read_footer, embeddings)
        for id_ in [str(footer["encoder"])]
    }


def shortening_facts(captions: Path) -> dict[str, object]:
    """Return how the captions of samples were shortened; empty where they were not."""
    footer = read_footer(captions)
    names = [field.name for field in fields(ShortenedFooter) if field.name != "captions"]
    return {name: footer[name] for name in names if name in footer}


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
