"""Convert NaturalBench as published to a TSV of groups."""

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchc.benchmarks.naturalbench.published_files import Published, hub_groups, split_groups, write_groups
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.sources.image_store import opened_images
from benchc.user_output import refuse_overwriting


def naturalbench_tsv(files: list[Path], /, *, images: Path | None = None, output: Path) -> None:
    """Convert NaturalBench as published to a TSV of groups.

    The files are Parquet files of BaiqiL/NaturalBench on the Hub, or the JSON file of the repository's split
    (.json or .json.xz), whose images are in a folder or a zip. Name the TSV in the source catalogue, with
    `reader: {image_column: image_file}` and `task_column: category`.

    Args:
        files: Parquet files of the Hub, or the split's JSON
        images: folder or zip of the images of the split
        output: TSV to write
    """
    refuse_overwriting(output, files if images is None else [*files, images])
    first, is_split = files[0], any(".json" in path.suffixes for path in files)
    if is_split and len(files) > 1:
        raise InputError("a JSON file is given among others; give it alone")
    if is_split and images is None:
        raise InputError(f"{first} only names its images; give --images, the folder or zip that has them")
    if not is_split and images is not None:
        raise InputError(
            "--images is for a JSON file; leave it out, since Parquet files contain their images"
        )
    if images is not None and not (images.is_dir() or zipfile.is_zipfile(images)):
        raise InputError(
            f"--images {images} is neither a folder nor a zip; give one with the images of {first}"
        )
    with ExitStack() as stack:
        if images is not None:
            groups = split_groups(first, stack.enter_context(opened_images(images)))
        else:
            groups = _of_hub(files)
        count = write_groups(track(groups, label="groups", unit="groups"), output)
    print(f"{output}: {pluralize(count, 'group')}, {pluralize(4 * count, 'row')}")


def _of_hub(paths: Sequence[Path]) -> Iterator[Published]:
    for path in paths:
        yield from hub_groups(path)
