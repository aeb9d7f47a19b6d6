"""Convert NaturalBench as published to a TSV of groups.

The files are Parquet files of BaiqiL/NaturalBench on the Hub, or the JSON file of the repository's split
(.json or .json.xz), whose images are in a folder or a zip. Name the TSV in the source catalogue, with
`reader: {image_column: image_file}` and `task_column: category`.
"""

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchc.benchmarks.naturalbench.published_files import Published, hub_groups, split_groups, write_groups
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.sources.image_store import opened_images
from scripts.command import Parser, run


def main(argv: Sequence[str] | None = None, prog: str | None = None) -> None:
    parser = Parser(__spec__.name, __doc__, prog)
    add = parser.add_argument
    add("files", type=Path, nargs="+", metavar="FILE", help="Parquet files of the Hub, or the split's JSON")
    add("--images", type=Path, metavar="FOLDER", help="folder or zip of the images of the split")
    add("--output", type=Path, required=True, metavar="FILE.tsv", help="TSV to write")
    arguments = parser.parse_args(argv)
    splits = [".json" in path.suffixes for path in arguments.files]
    if any(splits) and len(splits) > 1:
        parser.error("a JSON file is given among others; give it alone")
    first, images = arguments.files[0], arguments.images
    if any(splits) and images is None:
        parser.error(f"{first} only names its images; give --images, the folder or zip that has them")
    if not any(splits) and images is not None:
        parser.error("--images is for a JSON file; leave it out, since Parquet files contain their images")
    if images is not None and not (images.is_dir() or zipfile.is_zipfile(images)):
        parser.error(f"--images {images} is neither a folder nor a zip; give one with the images of {first}")
    with ExitStack() as stack:
        if any(splits):
            groups = split_groups(first, stack.enter_context(opened_images(images)))
        else:
            groups = _of_hub(arguments.files)
        count = write_groups(track(groups, label="groups", unit="groups"), arguments.output)
    print(f"{arguments.output}: {pluralize(count, 'group')}, {pluralize(4 * count, 'row')}")


def _of_hub(paths: Sequence[Path]) -> Iterator[Published]:
    for path in paths:
        yield from hub_groups(path)


if __name__ == "__main__":
    run(main)
