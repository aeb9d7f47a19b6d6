"""Corrupt the images of a folder, or those of a pool as the pipeline does.

A folder:

    python -m scripts.corrupt --images photos --corruption fog motion_blur --output corrupted
    python -m scripts.corrupt --images photos --corruption all --severities 1 3 5 --output corrupted

    python -m scripts.corrupt --images photos --own-files my_blur.py --corruption my_blur --output corrupted

Every image in photos is written losslessly to corrupted/{corruption}/{severity}/{image}.png; subfolders are
kept. Run the command again to resume: existing files are kept unless their source image has changed.
Unreadable images are skipped and listed at the end. The pixels depend on the seed and on the image's path in
the folder, not on the number of processes. corrupted/{corruption} also contains corruption.json, the recipe,
and sources.json, the source images.

A pool:

    python -m scripts.corrupt --items pool/items.parquet --recipe JSON --seed 1 --output corrupted/fog.parquet

The table has one row per image and severity of the recipe, in the order in which images first appear in the
pool, then by severity; an image that items share is stored once. Its bytes do not depend on the number of
processes. A killed job resumes from {output}.parts.
"""

import argparse
import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from benchc.corruptions.chunks import Job, write_corrupted
from benchc.errors import InputError
from benchc.images import ALPHAS, CODECS, DEFAULT_CODEC
from benchc.schemas.pool_images import IMAGE_COLUMNS, pool_digest, read_ids, unique_images, unique_keys
from scripts.argument_types import recipe_argument, seed_argument
from scripts.command import Parser, run

# Imported dynamically, so that editing a suite does not rerun the pipeline's jobs, which get recipes.
FOLDER = "benchc.corruptions.folder"

# Defaults of the options of each mode; they are set after checking that the other mode's are not given.
FOLDER_DEFAULTS = {
    "corruption": None,
    "severities": None,
    "suite": "imagenet-c",
    "engine": "benchc",
    "own_files": (),
}
ITEMS_DEFAULTS = {"recipe": None, "subset": None, "codec": DEFAULT_CODEC}


def main() -> None:
    arguments, error = parse_arguments()
    if arguments.images is None:
        corrupt_items(arguments)
        return
    folder = importlib.import_module(FOLDER)
    try:
        chosen = folder.choose(
            arguments.corruption,
            arguments.severities,
            arguments.suite,
            arguments.engine,
            arguments.own_files,
        )
    except InputError:
        raise
    except ValueError as unknown:
        error(str(unknown))
    written = folder.corrupt_folder(
        arguments.images,
        arguments.output,
        chosen,
        seed=arguments.seed or 0,
        alpha=arguments.alpha,
        workers=arguments.threads,
    )
    print(f"{arguments.output}: {written:,} images written", file=sys.stderr)


def corrupt_items(arguments: argparse.Namespace) -> None:
    """Write the table of corrupted images of a pool or a subset of it."""
    ids = set(read_ids(arguments.items, arguments.subset))
    job = Job(arguments.recipe, arguments.seed, arguments.alpha, arguments.codec)
    images = unique_images(arguments.items, ids)
    total = len(unique_keys(arguments.items, ids))
    facts = {"pool": pool_digest(arguments.items, IMAGE_COLUMNS)}
    write_corrupted(images, job, arguments.output, arguments.threads, total, facts)


def parse_arguments() -> tuple[argparse.Namespace, Callable[[str], NoReturn]]:
    """Return the arguments, and the function that ends the process with an error about them."""
    parser = Parser(__spec__.name, __doc__)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--images", type=Path, metavar="FOLDER", help="corrupt the images of this folder")
    source.add_argument("--items", type=Path, metavar="FILE", help="corrupt the images of pool/items.parquet")
    both = parser.add_argument_group("both")
    both.add_argument("--output", type=Path, required=True, help="folder or .parquet file to write")
    both.add_argument("--seed", type=seed_argument, help="the run's seed; default with --images: 0")
    both.add_argument(
        "--alpha",
        choices=ALPHAS,
        default="drop",
        help="how to handle transparency: discard the alpha channel, or composite over white; "
        "default: %(default)s",
    )
    both.add_argument(
        "--threads", type=int, default=1, help="number of worker processes; default: %(default)s"
    )
    folder = parser.add_argument_group("with --images")
    folder.add_argument(
        "--corruption", nargs="+", metavar="NAME", help="names, or all: the suite's default set"
    )
    folder.add_argument("--severities", type=int, nargs="+", help="default: all of the suite")
    folder.add_argument(
        "--suite",
        help=f"a suite in docs/corruptions.md; default: {FOLDER_DEFAULTS['suite']}",
    )
    folder.add_argument(
        "--engine",
        choices=["benchc", "imgaug"],
        help="imgaug: imgaug.augmenters.imgcorruptlike, with the 19 corruptions of imagenet-c; "
        f"default: {FOLDER_DEFAULTS['engine']}",
    )
    folder.add_argument(
        "--own-files",
        type=Path,
        nargs="+",
        metavar="FILE",
        help="Python files with corruptions of your own (docs/corruptions.md), which --corruption may name",
    )
    items = parser.add_argument_group("with --items")
    items.add_argument(
        "--recipe", type=recipe_argument, metavar="JSON", help="the corruption, from Recipe.to_json"
    )
    items.add_argument(
        "--subset",
        type=Path,
        nargs="?",
        metavar="FILE",
        help="subsets/{subset}.parquet: only these items; default: the whole pool",
    )
    items.add_argument(
        "--codec",
        choices=CODECS,
        help="lossless format of the stored images; ppm takes three bytes a pixel and is the fastest; "
        f"default: {DEFAULT_CODEC}",
    )
    arguments = parser.parse_args()
    mode, foreign = ("--images", ITEMS_DEFAULTS) if arguments.items is None else ("--items", FOLDER_DEFAULTS)
    for name in foreign:
        if getattr(arguments, name) is not None:
            parser.error(f"--{name.replace('_', '-')} does not go with {mode}")
    for name, default in {**FOLDER_DEFAULTS, **ITEMS_DEFAULTS}.items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, default)
    if arguments.images is not None and not arguments.corruption:
        parser.error("--images needs --corruption: names, or all for the suite's default set")
    if arguments.items is not None and (arguments.recipe is None or arguments.seed is None):
        parser.error("--items needs --recipe and --seed")
    if arguments.threads < 1:
        parser.error("--threads should be at least 1")
    return arguments, parser.error


if __name__ == "__main__":
    run(main)
