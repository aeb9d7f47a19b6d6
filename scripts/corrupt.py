"""Corrupt every image of a pool at every severity of one corruption.

Reads pool/items.parquet and writes one row for every item and severity, in the order of the pool and, within
an item, by severity. Images are stored as PNG. The output is byte for byte the same for any number of
threads.
"""

import argparse
import dataclasses

from benchc.corruptions.registry import CLEAN, SEVERITIES, SUITES
from benchc.corruptions.variants import Corruption, library_versions, variants, variants_frame
from benchc.progress import track
from benchc.tables.corrupted import CORRUPTED
from benchc.tables.parquet import read_table, write_table
from benchc.tables.pool import POOL
from scripts.command import run


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m scripts.corrupt",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--items", required=True, help="pool/items.parquet")
    parser.add_argument("--corruption", required=True, help=f"a corruption of the suite, or {CLEAN}")
    parser.add_argument(
        "--severities",
        type=int,
        nargs="+",
        help=f"rising, of 1 to 5; all five unless given, and 0 for {CLEAN}, whatever is given",
    )
    parser.add_argument("--suite", choices=list(SUITES), default="imagenet-c", help="default: %(default)s")
    parser.add_argument("--seed", type=int, required=True, help="the run's seed")
    parser.add_argument("--threads", type=int, default=1, help="worker processes; default: %(default)s")
    parser.add_argument("--output", required=True, help="corrupted/{corruption}.parquet")
    arguments = parser.parse_args()

    severities = (0,) if arguments.corruption == CLEAN else tuple(arguments.severities or SEVERITIES)
    try:
        corruption = Corruption(arguments.corruption, severities, arguments.seed, arguments.suite)
    except ValueError as error:
        parser.error(str(error))
    items = read_table(arguments.items, POOL)
    rows = track(
        variants(items, corruption, arguments.threads),
        label=f"corrupt {corruption.name}",
        unit="items",
        total=items.height,
    )
    footer = {**dataclasses.asdict(corruption), "libraries": library_versions()}
    write_table(variants_frame(rows), arguments.output, CORRUPTED, footer)


if __name__ == "__main__":
    run(main)
