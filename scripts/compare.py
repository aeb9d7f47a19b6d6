"""Compare two finished runs of one benchmark: paired differences, and the inputs that differ."""

from collections.abc import Sequence
from pathlib import Path

from benchc.atomic import write_text
from benchc.config.benchmarks import module_of
from benchc.errors import InputError
from benchc.schemas.models import read_models
from scripts.argument_types import positive_argument
from scripts.command import Parser, run


def main(argv: Sequence[str] | None = None, prog: str | None = None) -> None:
    parser = Parser(__spec__.name, __doc__, prog)
    add = parser.add_argument
    add("run_a", type=Path, metavar="RUN_A", help="results/{name} of a finished run")
    add("run_b", type=Path, metavar="RUN_B", help="results/{name} of another one; differences are B minus A")
    add("--draws", type=positive_argument, default=2000, help="resamples of the items [%(default)s]")
    add("--seed", type=int, default=0, help="seed of the resamples [%(default)s]")
    add("--output", type=Path, metavar="FILE", help="CSV file to write all differences to")
    arguments = parser.parse_args(argv)
    runs = (arguments.run_a, arguments.run_b)
    compared = module_of(benchmark_of(*runs), "comparison").compare_runs
    table, text = compared(runs, arguments.draws, arguments.seed)
    if arguments.output is not None:
        write_text(arguments.output, table.write_csv())
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


if __name__ == "__main__":
    run(main)
