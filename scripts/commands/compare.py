"""Compare two finished runs of one benchmark, and name the inputs that differ."""

from pathlib import Path

from benchc.atomic import write_text
from benchc.command_line import Draws
from benchc.config.benchmarks import module_of
from benchc.errors import InputError
from benchc.schemas.models import read_models
from benchc.schemas.printed import csv_text
from benchc.user_output import refuse_overwriting


def compare(
    run_a: Path,
    run_b: Path,
    /,
    *,
    draws: Draws = 2000,
    seed: int = 0,
    output: Path | None = None,
) -> None:
    """Compare two finished runs of one benchmark: paired differences, and the inputs that differ.

    Args:
        run_a: results/{name} of a finished run
        run_b: results/{name} of another one; differences are B minus A
        draws: resamples of the items, at most 100,000
        seed: of the resamples
        output: CSV file to write all differences to
    """
    runs = (run_a, run_b)
    if output is not None:
        refuse_overwriting(output, runs)
    table, text = module_of(benchmark_of(*runs), "comparison").compare_runs(runs, draws, seed)
    if output is not None:
        write_text(output, csv_text(table))
    print(text, end="")


def benchmark_of(run_a: Path, run_b: Path) -> str:
    """Return the benchmark of both runs; raises InputError if they differ or one is not a run."""
    for folder in (run_a, run_b):
        if not folder.is_dir():
            raise InputError(f"{folder}: there is no such folder; give results/<name> of a finished run")
    a, b = (read_models(folder / "models.json").benchmark for folder in (run_a, run_b))
    if a != b:
        raise InputError(
            f"{run_a} is a run of {a}, and {run_b} is one of {b}; compare two runs of one benchmark"
        )
    return a
