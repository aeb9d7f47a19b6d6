"""From the published forms of the data set to a TSV of groups.

The Parquet files of BaiqiL/NaturalBench on the Hub have one row a group. The split in the repository of the
paper (test_set.json) has four entries a group, and no image files.
"""

import base64
import csv
import hashlib
import io
import lzma
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from benchc.atomic import atomic_write
from benchc.benchmarks.naturalbench.places import ENGLISH, ORDER, SUBSETS
from benchc.benchmarks.naturalbench.schemas.groups import MINED
from benchc.csv_cells import QuotedTsv
from benchc.json_content import json_content
from benchc.sources.error import InvalidRowError, SourceError
from benchc.sources.hub_parquet import opened_parquet
from benchc.sources.image_store import ImageReader
from benchc.sources.item_images import ImageFile, image_of
from benchc.sources.item_text import are_texts, with_answer_words

COLUMNS = (
    *(
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
    ),
    *("image_file", "language", "method"),
)
# The suffix of a question by its type in the split, which has no white space before it.
SUFFIXES = {
    "yes_no": "Please answer Yes or No.",
    "mcq": "Please output the letter corresponding to the correct option.",
}
TYPES = {"yes_no": "yes_no", "mcq": "multiple_choice", "multiple_choice": "multiple_choice"}
LARGEST_SPLIT = 2**27  # bytes; the published one has a hundredth
# DOCCI's images are called test_01234.jpg, those of Flickr30K by a number.
DOCCI = re.compile(r"(train|test|qual_dev|qual_test)_\d+\.\w+")


class Published(NamedTuple):
    """A group as published. ``answers`` are in the order (q0, i0), (q0, i1), (q1, i0), (q1, i1)."""

    name: str
    questions: tuple[str, str]
    images: tuple[ImageFile, ImageFile]
    answers: tuple[str, ...]
    type: str
    subset: str


class SplitGroup(NamedTuple):
    """A group of the public split, whose ``images`` are file names."""

    name: str
    questions: tuple[str, str]
    images: tuple[str, str]
    answers: tuple[str, ...]
    type: str

    @property
    def subset(self) -> str:
        """Return the data set of the images, which their names tell."""
        return "DOCCI" if all(DOCCI.fullmatch(name) for name in self.images) else "Flickr30K"


def hub_groups(path: Path) -> Iterator[Published]:
    """Yield the groups of a Parquet file of the Hub, a few in memory. Raises SourceError, with the row."""
    with opened_parquet(path, "BaiqiL/NaturalBench") as file:
        kind = "Question_Type" if "Question_Type" in file.names else "Question Type"
        answers = [f"Image_{i}_Question_{q}" for q, i in ORDER]
        needed = ["Index", "Question_0", "Question_1", "Image_0", "Image_1", *answers, kind, "Source"]
        for where, row in file.rows(needed):
            yield _hub_group(where, row, answers, kind)


def _hub_group(where: str, row: Mapping[str, Any], answers: list[str], kind: str) -> Published:
    if str(row[kind]) not in TYPES:
        raise SourceError(
            f"{where}: has the type {row[kind]!r}; give {' or '.join(sorted(set(TYPES.values())))}"
        )
    texts = ("Question_0", "Question_1", *answers)
    absent = [name for name in texts if not isinstance(row[name], str)]
    if absent or row["Index"] is None:
        raise SourceError(f"{where}: has no {[*absent, 'Index'][0]}; fetch the file again")
    subset = str(row["Source"] or "")
    return Published(
        str(row["Index"]),
        (row["Question_0"], row["Question_1"]),
        (image_of(where, row["Image_0"]), image_of(where, row["Image_1"])),
        tuple(row[name] for name in answers),
        TYPES[row[kind]],
        SUBSETS.get(subset.lower(), subset),
    )


def read_split(path: Path) -> list[SplitGroup]:
    """Return the groups of the public split: a JSON list of [question and suffix, image, answer, type].

    The file may be packed by xz. Groups are called 0, 1, ...; suffixes are removed. Raises SourceError where
    the file is of another form, or four entries in a row are not two questions about two images.
    """
    try:
        with lzma.open(path) if path.suffix == ".xz" else path.open("rb") as file:
            data = file.read(LARGEST_SPLIT + 1)
        if len(data) > LARGEST_SPLIT:
            raise ValueError(f"more than {LARGEST_SPLIT:,} bytes")
        entries = json_content(data)
    except FileNotFoundError as error:
        raise SourceError(f"{path}: no such file; correct the path") from error
    except (OSError, EOFError, lzma.LZMAError, ValueError) as error:
        raise SourceError(f"{path}: cannot be read as JSON ({error}); fetch it again") from error
    if not isinstance(entries, list) or len(entries) % len(ORDER) or not all(map(_is_entry, entries)):
        raise SourceError(
            f"{path}: must be a list of [question, image, answer, type], four for each group, with the types "
            f"{' and '.join(SUFFIXES)}; give the split as published"
        )
    return [_split_group(path, number, entries[4 * number :][:4]) for number in range(len(entries) // 4)]


def _is_entry(entry: object) -> bool:
    return are_texts(entry) and len(entry) == 4 and entry[3] in SUFFIXES


def _split_group(path: Path, number: int, entries: list[list[str]]) -> SplitGroup:
    questions, images, answers, types = zip(*entries, strict=True)
    alike = (questions[0], questions[2], *images[:2]) == (questions[1], questions[3], *images[2:])
    if not alike or len(set(types)) > 1:
        raise SourceError(
            f"{path}: entries {4 * number} to {4 * number + 3} are not two questions about two images, each "
            "question with both images in turn; give the split as published"
        )
    stored = [question.removesuffix(SUFFIXES[types[0]]) for question in (questions[0], questions[2])]
    return SplitGroup(str(number), (stored[0], stored[1]), (images[0], images[1]), answers, TYPES[types[0]])


def split_groups(path: Path, read_image: ImageReader) -> Iterator[Published]:
    """Yield the groups of the public split with their images. Raises SourceError where one is missing."""
    for group in read_split(path):
        try:
            images = [ImageFile(read_image(name), name) for name in group.images]
        except InvalidRowError as error:
            raise SourceError(f"{path}: group {group.name}: {error}; add it to --images") from error
        yield Published(
            group.name, group.questions, (images[0], images[1]), group.answers, group.type, group.subset
        )


def write_groups(groups: Iterable[Published], path: Path) -> int:
    """Write groups as a TSV that ``read_source`` reads, atomically; return their number.

    Each image file is there once: later rows have the index of the first row with it. Options are Yes and No,
    or the letters A and B of options that the question's text contains, which stays as published. Raises
    SourceError where two groups have one name, or an answer is none of these words.
    """
    first: dict[bytes, tuple[int, str]] = {}  # of each image: the index of its row, and its name
    files: set[str] = set()
    names: set[str] = set()
    with atomic_write(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        writer = csv.DictWriter(text, COLUMNS, dialect=QuotedTsv)
        writer.writeheader()
        for number, group in enumerate(groups):
            if group.name in names:
                raise SourceError(f"{path}: two groups are called {group.name!r}; give each file once")
            names.add(group.name)
            for place, (q, i) in enumerate(ORDER):
                index, image = 4 * number + place, group.images[i]
                digest = hashlib.blake2b(image.bytes, digest_size=16).digest()
                if digest not in first:
                    name = _file_name(image, digest, files)
                    files.add(name)
                    first[digest] = index, name
                origin, name = first[digest]
                try:
                    words = with_answer_words({"answer": group.answers[place]})
                except InvalidRowError as error:
                    raise SourceError(f"{path}: group {group.name}: {error}; correct the file") from error
                values = {
                    "index": index,
                    "image": base64.b64encode(image.bytes).decode() if origin == index else origin,
                    "question": group.questions[q],
                    "category": group.type,
                    "l2-category": group.subset,
                    "group": group.name,
                    "q_idx": q,
                    "img_idx": i,
                    "image_file": name,
                    "language": ENGLISH,
                    "method": MINED,
                }
                writer.writerow({**values, **{name: words[name] for name in ("A", "B", "answer")}})
        text.detach()
    return len(names)


def _file_name(image: ImageFile, digest: bytes, taken: set[str]) -> str:
    """Return a name for an image that no other one has: that of its file, or a hash."""
    name = PurePosixPath(image.path or "").name
    return name if name and name not in taken else f"{digest.hex()}{PurePosixPath(name).suffix}"
