"""Print a summary of a finished run, as Markdown for docs/benchmarks.md.

    python speed/run_summary.py results/real-items

Times are wall-clock seconds of jobs, from Snakemake's `benchmark:` files.
"""

import json
import platform
import sys
from collections import defaultdict
from datetime import date
from pathlib import Path

import polars as pl
from machine import processor

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchc.benchmarks.bench_c.schemas.kappa import KAPPA
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.letters import LETTERS
from benchc.schemas.parquet import read_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import PREDICTIONS


def main() -> None:
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        raise SystemExit("usage: python speed/run_summary.py results/NAME, after the run has finished")
    folder = Path(sys.argv[1])
    pool = read_table(folder / "pool/items.parquet", POOL, ["id", "source", "task", "options"])
    print(f"{date.today()}, {processor()}, {platform.python_version()}\n")
    print(
        f"Pool: {pool.height:,} items of {pool['source'].n_unique()} sources in {pool['task'].n_unique()} "
        f"task types{selection(folder)}.\n"
    )
    if any(folder.glob("predictions/*/*")):
        print_options(folder, pool)
    print_times(Path("logs") / folder.name / "benchmarks")


def selection(folder: Path) -> str:
    """Return how many items a run of Bench-C found inconsistent and selected; empty of another benchmark."""
    file = folder / "selection/kappa.parquet"
    if not file.exists():
        return ""
    kappa = read_table(file, KAPPA)
    inconsistent = kappa.filter(pl.col("kappa") > 0).height
    selected = read_table(folder / "selection/selected.parquet", SELECTED)["selected"].sum()
    return f"; κ > 0: {inconsistent:,} ({inconsistent / kappa.height:.1%}); selected: {selected:,}"


def print_options(folder: Path, pool: pl.DataFrame) -> None:
    """Print how often each option is predicted, clean and corrupted, by model."""
    letters = LETTERS[: pool["options"].list.len().max()]
    print(f"| model | predictions | {' | '.join(letters)} |")
    print(f"|---|---:|{'---:|' * len(letters)}")
    for path in sorted(folder.glob("predictions/*/*")):
        predictions = pl.concat(
            read_table(file, PREDICTIONS, ["logits"]) for file in sorted(path.glob("*.parquet"))
        )
        counts = dict(predictions["logits"].list.arg_max().value_counts().iter_rows())
        shares = [f"{counts.get(k, 0) / predictions.height:.1%}" for k in range(len(letters))]
        print(f"| {path.name} ({path.parent.name}) | {predictions.height:,} | {' | '.join(shares)} |")
    print()


def print_times(folder: Path) -> None:
    """Print jobs, seconds and peak memory by rule."""
    rules: dict[str, list[dict[str, float]]] = defaultdict(list)
    for path in sorted(folder.rglob("*.jsonl")):
        rule = path.relative_to(folder).parts[0].removesuffix(".jsonl")
        rules[rule].append(json.loads(path.read_text().splitlines()[-1]))
    print("| rule | jobs | total, s | longest job, s | peak memory of a job, MB |")
    print("|---|---:|---:|---:|---:|")
    for rule, jobs in rules.items():
        seconds = [job["s"] for job in jobs]
        memory = max((job["max_rss"] or 0) for job in jobs)
        print(f"| {rule} | {len(jobs)} | {sum(seconds):,.0f} | {max(seconds):,.0f} | {memory:,.0f} |")


if __name__ == "__main__":
    main()
