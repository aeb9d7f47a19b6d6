"""Measure reading, scores, the cube and its intervals of MLLM-IC at the paper's size and two smaller ones.

    python speed/cube.py [--models 11] [--items 1334 5338 21352] [--draws 2000]

The paper's run asks 11 models 21,352 questions under 40 corruptions at 5 severities and on clean images:
4.29 million predictions a model. Outcomes are random. Each size has its own process, so that the peak of its
memory is its own. Fails where the accuracy of a cell is not that of its scores.

Prints Markdown for docs/benchmarks.md. On a loaded machine only ratios are meaningful.
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import polars as pl
from machine import peak_bytes, processor, usable_cores

from benchc.benchmarks.mllm_ic.capabilities import capabilities
from benchc.benchmarks.mllm_ic.corruption_tree import levels_of
from benchc.benchmarks.mllm_ic.metrics.counts import counts
from benchc.benchmarks.mllm_ic.metrics.cube import cube
from benchc.benchmarks.mllm_ic.run_outcomes import read_run
from benchc.benchmarks.mllm_ic.schemas.capabilities import CAPABILITIES
from benchc.benchmarks.mllm_ic.schemas.outcomes import OUTCOMES, TIED_RIGHT, OutcomesFooter, scenarios
from benchc.corruptions.registry import corruptions_of, group_of
from benchc.corruptions.suites.mllm_ic import MLLM_IC
from benchc.schemas.parquet import write_table

CATEGORIES = {name: group_of(name, MLLM_IC) for name in corruptions_of(MLLM_IC)}
SEVERITIES = (1, 2, 3, 4, 5)
PER_PICTURE = 1.5  # questions


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python speed/cube.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--models", type=int, default=11)
    parser.add_argument("--items", type=int, nargs="+", default=[1_334, 5_338, 21_352])
    parser.add_argument("--draws", type=int, default=2_000)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)  # of the one size, in its own process
    arguments = parser.parse_args()
    if arguments.folder is not None:
        print(json.dumps(measured(arguments.folder, arguments.draws)))
        return
    print(
        f"{date.today()}, {usable_cores()} of {processor()}, Python "
        f"{platform.python_version()}, numpy {np.__version__}, polars {pl.__version__}: {arguments.models} "
        f"models, {arguments.draws:,} resamples\n"
    )
    head = ["questions", "predictions, millions", "read, s", "scores, s", "cube and intervals, s"]
    head += ["all, min", "s a million predictions", "peak, GB"]
    print(f"| {' | '.join(head)} |\n|{'---:|' * len(head)}")
    for items in arguments.items:
        with tempfile.TemporaryDirectory() as name:
            millions = write_outcomes(Path(name), arguments.models, items) / 1e6
            command = [sys.executable, __file__, "--draws", str(arguments.draws), "--folder", name]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout)
        steps = [found[step] for step in ("read", "scores", "cube")]
        cells = [f"{items:,}", f"{millions:.1f}", *(f"{value:.1f}" for value in steps)]
        cells += [f"{sum(steps) / 60:.2f}", f"{sum(steps) / millions:.2f}", f"{found['peak']:.2f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


def write_outcomes(folder: Path, models: int, items: int) -> int:
    """Write random outcomes and capabilities; return the number of predictions."""
    generator = np.random.default_rng(0)
    known = capabilities()
    # The largest capability has ten times the questions of the smallest, about as in SEED-Bench.
    sizes = 1 / (1 + np.arange(len(known)) % 10)
    chosen = generator.choice(len(known), items, p=sizes / sizes.sum())
    rows = [
        (
            f"made/{number:06}",
            *known[place],
            "made",
            f"made/{number:06}",
            0,
            f"picture {number // PER_PICTURE}",
        )
        for number, place in enumerate(chosen)
    ]
    table = pl.DataFrame(rows, schema=CAPABILITIES.columns, orient="row")
    write_table(table, folder / "capabilities.parquet", CAPABILITIES)
    names = [*CATEGORIES]
    width = len(scenarios(names, SEVERITIES))
    for model in range(models):
        codes = generator.integers(0, 1 + TIED_RIGHT, (items, width), np.int8)
        outcomes = pl.DataFrame(
            {"id": table["id"], "outcomes": pl.Series(codes, dtype=pl.Array(pl.Int8, width))}
        )
        footer = OutcomesFooter(
            label=f"model_{model}", pool="made", seed=0, corruptions=names, severities=SEVERITIES
        )
        path = folder / f"outcomes/model_{model}.parquet"
        write_table(outcomes.cast(OUTCOMES.columns), path, OUTCOMES, footer)
    return models * items * width


def measured(folder: Path, draws: int) -> dict[str, float]:
    """Return the seconds of each step and the peak memory of this process in GB."""
    seconds: dict[str, float] = {}

    @contextmanager
    def step(name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        seconds[name] = time.perf_counter() - start

    with step("read"):
        run = read_run(sorted(folder.glob("outcomes/*.parquet")), folder / "capabilities.parquet")
    with step("scores"):
        scores = pl.concat([counts(run, model) for model in run.codes])
    with step("cube"):
        levels = levels_of(MLLM_IC)
        rows = cube(run, {model: model for model in run.codes}, CATEGORIES, levels, draws, 0)
    np.testing.assert_allclose(rows["accuracy"], scores["correct"] / scores["n"], rtol=0, atol=1e-12)
    return seconds | {"peak": peak_bytes() / 1e9}


if __name__ == "__main__":
    main()
