"""Corrupt the images of a folder."""

import sys
from pathlib import Path

from benchc.command_line import PositiveInt, Seed
from benchc.corruptions.folder import choose, corrupt_folder
from benchc.corruptions.registry import Engine
from benchc.pluralize import pluralize
from benchc.transparency import Alpha


def corrupt(
    images: Path,
    /,
    *,
    corruption: list[str],
    severities: tuple[PositiveInt, ...] = (),
    suite: str = "imagenet-c",
    engine: Engine = "benchc",
    own_files: tuple[Path, ...] = (),
    seed: Seed = 0,
    alpha: Alpha = "drop",
    threads: PositiveInt = 1,
    output: Path,
) -> None:
    """Corrupt the images of a folder.

        benchc corrupt photos --corruption fog motion_blur --output corrupted

    Every image in photos is written losslessly to corrupted/{corruption}/{severity}/{image}.png; subfolders
    are kept. Images that another call has written are left out, and so are other files, which are named. Run
    the command again to resume: existing files are kept unless their source image has changed; those of an
    image that was deleted are kept and named.
    Unreadable images are skipped and listed at the end. The pixels depend on the seed and on the image's path
    in the folder, not on the number of processes. corrupted/{corruption} also contains corruption.json, the
    recipe, and sources.json, the source images.

    Args:
        images: folder of the images to corrupt
        corruption: names, or all: the suite's default set
        severities: default: all of the suite
        suite: a suite in docs/corruptions.md
        engine: imgaug: imgaug.augmenters.imgcorruptlike, with the 19 corruptions of imagenet-c
        own_files: Python files with corruptions of your own (docs/corruptions.md), which --corruption may
            name
        seed: of the random numbers
        alpha: how to handle transparency: discard the alpha channel, or composite over white
        threads: number of worker processes
        output: folder to write
    """
    chosen = choose(corruption, severities, suite, engine, own_files)
    written = corrupt_folder(images, output, chosen, seed=seed, alpha=alpha, workers=threads)
    print(f"{output}: {pluralize(written, 'image')} written", file=sys.stderr)
