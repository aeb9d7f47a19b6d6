"""Split the groups into equal halves: one to tune models on, one to test them."""

import hashlib
from pathlib import Path

import polars as pl

from benchc.benchmarks.naturalbench.halves import halves, in_both
from benchc.benchmarks.naturalbench.schemas.groups import GROUPS
from benchc.benchmarks.naturalbench.schemas.halves import HALVES, TEST, TRAIN, HalvesFooter
from benchc.benchmarks.naturalbench.scored import benchmark_groups
from benchc.command_line import NaturalInt
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.schemas.parquet import read_table, write_table
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest, pool_images
from benchc.schemas.subset import SUBSET


def split_groups(
    *, pool: Path, groups: Path, seed: NaturalInt, output: Path, train: Path, test: Path, questions: Path
) -> None:
    """Split the groups into equal halves, by a hash of the seed and their names.

    Groups that share an image are in one half as far as the halves can then be equal. Groups from random
    pairs are in none.

    Args:
        pool: pool/items.parquet
        groups: pool/groups.parquet
        output: fine_tuning/halves.parquet to write: the half of each group
        train: ids of the items of the first half, to write (Parquet)
        test: ids of the items of the second half, to write (Parquet)
        questions: ids of each question's item about image 0, of the second half, to write (Parquet)
    """
    rows = benchmark_groups(read_table(groups, GROUPS))
    group_of = dict(rows.select("id", "group").iter_rows())
    images: dict[str, set[bytes]] = {}
    for id_, files in track(pool_images(pool, group_of), label="images", unit="items", total=len(group_of)):
        # By content, since sources need not name their images.
        digests = {hashlib.blake2b(data or b"", digest_size=16).digest() for _, data in files}
        images.setdefault(group_of[id_], set()).update(digests)
    half_of = halves(images, seed)
    shared, different = in_both(images, half_of), len(set().union(*images.values()))
    counts = [list(half_of.values()).count(half) for half in (TRAIN, TEST)]
    print(
        f"{pluralize(counts[0], 'group')} to train and {counts[1]:,} to test; of "
        f"{pluralize(different, 'image')}, {shared:,} are in both halves"
    )
    footer = HalvesFooter(
        pool=pool_digest(pool, QUESTION_COLUMNS), seed=seed, images=different, in_both=shared
    )
    table = pl.DataFrame({"group": list(half_of), "half": list(half_of.values())})
    write_table(table, output, HALVES, footer)
    tested = rows.join(table.filter(half=TEST), on="group", how="semi", maintain_order="left")
    trained = rows.join(table.filter(half=TRAIN), on="group", how="semi", maintain_order="left")
    for part, path in ((trained, train), (tested, test), (tested.filter(i_idx=0), questions)):
        write_table(part.select("id"), path, SUBSET)
