"""Assemble the groups whose two questions were kept into a release, a TSV in VLMEvalKit's format."""

import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from benchc.atomic import atomic_write
from benchc.benchmarks.naturalbench.curation.release import (
    as_tsv,
    check_groups,
    image_keys,
    read_release,
    release_rows,
)
from benchc.benchmarks.naturalbench.curation.samples import read_images
from benchc.command_line import Json
from benchc.errors import InputError
from benchc.images import ImageError, decode, pixel_hash
from benchc.pluralize import pluralize
from benchc.progress import track


def assemble(
    *,
    pairs: Path,
    captions: Path,
    questions: list[Path],
    kept: list[Path],
    subsets: Annotated[Mapping[str, str], Json],
    output: Path,
) -> None:
    """Assemble the groups whose two questions were kept into a release, a TSV in VLMEvalKit's format.

    Refuses groups of equal images, and two groups with the same images and questions.

    Args:
        pairs: curate/kept_pairs.parquet or curate/pairs.parquet
        captions: curate/captions.parquet
        questions: curate/questions/{round}.parquet, in order
        kept: curate/kept/{round}.parquet, in the same order
        subsets: the subset of the groups of each data set of captions
        output: curate/groups.tsv to write
    """
    _, samples, groups = read_release(pairs, captions, questions, kept)
    if not groups:
        raise InputError(
            "no pair has both questions of a type kept, so that there is no group to release; add captions, "
            "or raise curate.mine.pairs or curate.writer.more_rounds"
        )
    keys = image_keys(groups, samples)
    output.parent.mkdir(parents=True, exist_ok=True)
    # Photographs of a release may not fit into memory, and rows are in another order than captions.
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=".images.") as folder:
        files: dict[str, Path] = {}
        hashes: dict[str, str] = {}
        images = read_images(captions, keys)
        for key, data in track(images, label="assemble", unit="images", total=len(keys)):
            files[key] = Path(folder) / str(len(files))
            files[key].write_bytes(data)
            try:
                hashes[key] = pixel_hash([decode(data)])
            except ImageError as error:
                raise InputError(f"image {key}: {error}; remove or replace it") from error
        check_groups(groups, samples, hashes)
        with atomic_write(output) as file:
            rows = release_rows(groups, samples, subsets, lambda key: files[key].read_bytes())
            file.writelines(as_tsv(rows))
    print(f"{output}: {pluralize(len(groups), 'group')} of {pluralize(len(keys), 'image')}", file=sys.stderr)
