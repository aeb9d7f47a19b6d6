"""Convert a data set of several files to one TSV in VLMEvalKit's format."""

import csv
import io
import json
from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from benchc.atomic import atomic_write
from benchc.csv_cells import QuotedTsv
from benchc.progress import track
from benchc.sources import vqav2
from benchc.sources.error import InvalidRowError, SourceError
from benchc.sources.formats import Format, OpenQuestion
from benchc.sources.image_choice import Take
from benchc.sources.image_store import opened_images

# The questions of a data set's files, by name, on the images taken.
Converter = Callable[[Mapping[str, Path], Take], list[OpenQuestion]]
CONVERTERS: Mapping[Format, Converter] = {"vqav2": vqav2.read_questions}

COLUMNS = (
    "index",
    "image",
    "image_path",
    "image_name",
    "question",
    "answer",
    "answers",
    "category",
    "l2_category",
    "problem",
)


def convert(format: Format, files: Mapping[str, Path], take: Take, output: Path) -> int:
    """Write a data set as a TSV that is read with the options CONVERTED; return the number of its rows.

    Args:
        format: whose files they are
        files: those of FORMATS by name; ``images`` is a folder, or a zip that is not unpacked
        take: the number of images to take, the first in the order of a hash of their ids, so that fewer are a
            subset; a file with their ids or names, one per line; or None for all whose files are there
        output: TSV to write. Of the rows on one image, the first has its file, unchanged, and the others the
            index of that row. A row with a problem is no item.

    Raises SourceError where the files cannot be read, contradict each other, or lack an image that ``take``
    names or counts. Memory: that of the texts, and of one image.
    """
    questions = CONVERTERS[format](files, take)
    holders: dict[str, str] = {}
    missing: dict[str, str] = {}
    with opened_images(files["images"]) as read, atomic_write(output) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        rows = csv.DictWriter(text, COLUMNS, dialect=QuotedTsv)
        rows.writeheader()
        for one in track(questions, label=f"convert to {output.name}", unit="questions"):
            image = holders.get(one.image, "")
            if not image and one.image not in missing:
                try:
                    image = b64encode(read(one.image)).decode()
                    holders[one.image] = one.index
                except InvalidRowError as refusal:
                    missing[one.image] = str(refusal)
            rows.writerow(
                vars(one)
                | {
                    "image": image,
                    "image_path": "" if one.image in missing else one.image,
                    "image_name": PurePosixPath(one.image).stem,
                    "answers": json.dumps(one.answers),
                    "problem": one.problem or missing.get(one.image),
                }
            )
        if missing and take is not None:
            raise SourceError(
                f"{files['images']}: {len(missing)} of the {len(missing) + len(holders)} images of "
                f"take_images cannot be used, first {next(iter(missing.values()))}; restore them, or list "
                "others in a file for take_images"
            )
        text.detach()
    return len(questions)
