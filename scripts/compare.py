"""Compare two finished runs: paired differences per model and corruption, and which inputs differ."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from benchc.atomic import write_text
from benchc.benchmarks.bench_c.metrics.bootstrap import DRAWS
from benchc.benchmarks.bench_c.metrics.comparison import compare
from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.benchmarks.bench_c.tables.comparison import comparison_markdown
from benchc.errors import InputError
from benchc.progress import track
from benchc.schemas.differing import differing_rows
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.provenance import Footer, Key, differing_facts
from scripts.bootstrap_arguments import add_draws
from scripts.command import run
from scripts.scores_arguments import left_out_note

# Where a run keeps the tables whose footers say how they were made; * is the name that a row gives.
STAGES = {
    "source": "sources/*.parquet",
    "pool": "pool/items.parquet",
    "corruption": "corrupted/*.parquet",
    "selector": "predictions/pool/*/*.parquet",
    "selection": "selection/*.parquet",
    "subset": "subsets/*.parquet",
    "target": "predictions/selected/*/*.parquet",
    "scores": "scores/*.parquet",
}
POOL_FACTS = ("question", "hint", "options", "answer", "task")


def main(argv: Sequence[str] | None = None, prog: str = "python -m scripts.compare") -> None:
    parser = argparse.ArgumentParser(prog=prog, description=__doc__)
    parser.add_argument("run_a", type=Path, metavar="RUN_A", help="results/{name} of a finished run")
    parser.add_argument("run_b", type=Path, metavar="RUN_B", help="another one; differences are B minus A")
    add_draws(parser, DRAWS)
    parser.add_argument("--output", type=Path, metavar="FILE", help="csv file for all differences")
    arguments = parser.parse_args(argv)
    runs = (arguments.run_a, arguments.run_b)
    scores = [scores_of(folder) for folder in runs]
    table = compare(scores[0], scores[1], arguments.draws, arguments.seed)
    inputs = differing_facts(*(footers_of(folder) for folder in runs))
    inputs += differing_rows("pool", *(pool_of(folder) for folder in runs))
    inputs += differing_rows("selected items", *(selected_of(folder) for folder in runs))
    if arguments.output is not None:
        write_text(arguments.output, table.write_csv())
    models = table["model"].unique(maintain_order=True).to_list()
    note = "".join(note_of(*run, models) for run in zip("AB", runs, scores, strict=True))
    print(comparison_markdown(table, inputs, (str(runs[0]), str(runs[1])), arguments.draws, note), end="")


def scores_of(folder: Path) -> dict[str, pl.DataFrame]:
    """Return the SCORES table of every model of a run."""
    paths = sorted(folder.glob("scores/*.parquet"))
    if not paths:
        raise InputError(f"{folder} holds no scores/*.parquet: give the folder of a finished run")
    return {path.stem: read_table(path, SCORES) for path in track(paths, label=str(folder), unit="files")}


def note_of(run: str, folder: Path, scores: Mapping[str, pl.DataFrame], models: Sequence[str]) -> str:
    """Return what the caption says of a run in which reads of these models are missing; else nothing."""
    items = set.intersection(*(set(scores[model]["id"]) for model in models))
    note = left_out_note([folder / f"scores/{model}.parquet" for model in models], len(items))
    return f" Run {run}:{note}" if note else ""


def footers_of(folder: Path) -> dict[Key, list[Footer]]:
    """Return the footers of a run's tables by stage and name; the batches of a model have one name."""
    footers: dict[Key, list[Footer]] = {}
    for stage, pattern in STAGES.items():
        for path in sorted(folder.glob(pattern)):
            name = path.parent.name if stage in ("selector", "target") else path.stem
            footers.setdefault((stage, name), []).append(read_footer(path))
    return footers


def pool_of(folder: Path) -> pl.DataFrame:
    return read_table(folder / "pool/items.parquet", POOL, ["id", *POOL_FACTS])


def selected_of(folder: Path) -> pl.DataFrame:
    selected = read_table(folder / "selection/selected.parquet", SELECTED)
    return selected.filter("kept").select("id", "kappa", "rank")


if __name__ == "__main__":
    run(main)
