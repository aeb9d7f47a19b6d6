"""Time the opening of a prediction cache and the look-up of a job's units in it.

    make bench-cache

The cache has shards of equal size, and each unit the scores of five severities. A job opens it and looks up
consecutive units, those of one or several shards, in a random order. Compared are the indexes beside the
shards, the lines of shards without an index (of running or killed jobs), and a temporary SQLite table of all
lines, as jobs made until November 2026. The three alternate, each in a process of its own with one thread;
peak memory is that of the process, libraries included. Prints Markdown for docs/benchmarks.md.
"""

import argparse
import json
import os
import platform
import sqlite3
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path
from statistics import median

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy's libraries load
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from machine import peak_bytes, processor

from benchc.models.cache.unit_cache import (
    SUFFIX,
    PredictionCache,
    _lines_of,
    checked,
    identity_folder,
    index_file,
    line_of,
    shards_of,
    unit_key,
    units_of_shard,
)
from benchc.models.protocol import OptionScores
from benchc.randomness import generator_of

IDENTITY = {"model": "owner/name", "revision": "1"}
SEVERITIES, OPTIONS = 5, 4


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python speed/cache.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--units", type=int, default=1_000_000, help="default: %(default)s")
    parser.add_argument("--shards", type=int, nargs="+", default=[40, 400], help="default: %(default)s")
    parser.add_argument("--looked-up", type=int, default=21_352, help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=3, help="repetitions; default: %(default)s")
    parser.add_argument("--one", nargs=4, metavar=("WAY", "ROOT", "UNITS", "COUNT"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        way, root, units, count = arguments.one
        print(json.dumps(measured(way, Path(root), int(units), int(count))))
        return
    print(
        f"{date.today()}, {processor()}, Python {platform.python_version()}, numpy {np.__version__}; ", end=""
    )
    print(f"{arguments.units:,} units, of which {arguments.looked_up:,} are looked up; medians\n")
    print("| shards | way | open, s | look up, s | CPU, s | ratio of CPU | peak memory, MB |")
    print("|---:|---|---:|---:|---:|---:|---:|", flush=True)
    for shards in arguments.shards:
        with tempfile.TemporaryDirectory() as root:
            fill(Path(root), arguments.units, shards)
            found = [
                {
                    way: run(way, root, arguments.units, arguments.looked_up)
                    for way in ("sqlite", "lines", "indexes")
                }
                for _ in range(arguments.rounds)
            ]
        print_rows(shards, found)


def run(way: str, root: str, units: int, count: int) -> dict[str, float]:
    """Return what :func:`measured` returns, from a process of its own."""
    for shard in shards_of(identity_folder(Path(root), IDENTITY)):
        if way == "indexes":
            units_of_shard(shard, closed=True)
        else:
            index_file(shard).unlink(missing_ok=True)
    command = [sys.executable, __file__, "--one", way, root, str(units), str(count)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: dict[str, float] = json.loads(answer)
    return result


def print_rows(shards: int, found: list[dict[str, dict[str, float]]]) -> None:
    """Print the medians of rounds, of each way."""
    for way in found[0]:
        middle = {name: median(each[way][name] for each in found) for name in found[0][way]}
        ratio = median(each["sqlite"]["cpu"] / each[way]["cpu"] for each in found)
        cells = [str(shards), way, f"{middle['open']:.2f}", f"{middle['find']:.2f}", f"{middle['cpu']:.2f}"]
        cells += [f"{ratio:.1f}", f"{middle['memory']:.0f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


def fill(root: Path, units: int, shards: int) -> None:
    """Write a cache whose shards have equal numbers of units."""
    random = generator_of("speed of the cache")
    with PredictionCache(root, IDENTITY, "w") as cache:
        folder = cache.folder
    for shard, numbers in enumerate(np.array_split(np.arange(units), shards)):
        logits = random.normal(size=(len(numbers), SEVERITIES, OPTIONS)).astype(np.float32)
        mass = random.random((len(numbers), SEVERITIES), dtype=np.float32)
        with (folder / f"w{shard:03}{SUFFIX}").open("wb") as file:
            file.writelines(
                line_of(unit_key(*names(number)), PredictionCache.encoded(OptionScores(*scores)), split=False)
                for number, *scores in zip(numbers, logits, mass, strict=True)
            )


def names(number: int) -> tuple[str, list[str]]:
    return f"prompt {number}", [f"pixels {number} {severity}" for severity in range(SEVERITIES)]


def measured(way: str, root: Path, units: int, count: int) -> dict[str, float]:
    """Return the seconds of both steps, of the processor in both, and the peak memory in MB."""
    start, cpu = time.perf_counter(), time.process_time()
    wanted = generator_of("looked up").permutation(count).tolist()
    cache = SqliteTable(root) if way == "sqlite" else PredictionCache(root, IDENTITY, "w")
    opened = time.perf_counter()
    found = [cache.get(*names(number)) is not None for number in (*wanted, units)]
    assert found == [True] * count + [False]
    return {
        "open": opened - start,
        "find": time.perf_counter() - opened,
        "cpu": time.process_time() - cpu,
        "memory": peak_bytes() / 1e6,
    }


class SqliteTable:
    """All lines of a cache in a temporary table, 16 MB of which are in memory."""

    def __init__(self, root: Path) -> None:
        self.shards = shards_of(identity_folder(root, IDENTITY))
        self.database = sqlite3.connect("", isolation_level=None)
        self.database.execute("PRAGMA journal_mode = OFF")
        self.database.execute(f"PRAGMA cache_size = -{16 * 1024}")
        self.database.execute("CREATE TABLE units (key PRIMARY KEY, shard, start) WITHOUT ROWID")
        for place, path in enumerate(self.shards):
            rows = ((key, place, start) for key, start in _lines_of(path))
            self.database.execute("BEGIN")
            self.database.executemany("INSERT OR REPLACE INTO units VALUES (?, ?, ?)", rows)
            self.database.execute("COMMIT")

    def get(self, prompt_hash: str, image_hashes: list[str]) -> OptionScores | None:
        key = unit_key(prompt_hash, image_hashes)
        row = self.database.execute("SELECT shard, start FROM units WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        with self.shards[row[0]].open("rb") as file:
            file.seek(row[1])
            text = checked(file.readline())
        return None if text is None else PredictionCache.decoded(text.split(b" ")[2:])


if __name__ == "__main__":
    main()
