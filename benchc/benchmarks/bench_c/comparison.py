"""Compare two finished runs of Bench-C: their targets' scores, and the inputs that differ."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from benchc.benchmarks.bench_c.metrics.comparison import compare, largest_difference
from benchc.benchmarks.bench_c.schemas.scores import SCORES
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.benchmarks.bench_c.tables.comparison import comparison_markdown
from benchc.benchmarks.bench_c.targets import check_footers, excluded_items, excluded_note
from benchc.config.differing import differing_settings
from benchc.errors import InputError
from benchc.progress import track
from benchc.schemas.differing import differing_rows
from benchc.schemas.footer_diff import Footer, Key, differing_facts
from benchc.schemas.parquet import read_footer, read_table
from benchc.schemas.pool import POOL

# The tables of a run whose footers record how they were made; * is the name in the printed table.
STAGES = {
    "source": "sources/*.parquet",
    "pool": "pool/items.parquet",
    "corruption": "corrupted/*.parquet",
    "benchmark images": "benchmark/*.parquet",
    "selector": "predictions/pool/*/*.parquet",
    "selection": "selection/*.parquet",
    "subset": "subsets/*.parquet",
    "target": "predictions/selected/*/*.parquet",
    "scores": "scores/*.parquet",
}
POOL_FACTS = ("question", "hint", "options", "answer", "task")


def compare_runs(runs: tuple[Path, Path], draws: int, seed: int) -> tuple[pl.DataFrame, str]:
    """Return the differences of two runs, the second minus the first, as a table and as Markdown.

    ``runs``: folders of finished runs; ``draws``, ``seed``: of the resamples of items. Raises InputError
    where a run is not finished, or the two have nothing in common.
    """
    a, b = runs
    scores = [_scores(folder) for folder in runs]
    selected = [_selected(folder) for folder in runs]
    table = compare(scores[0], scores[1], (selected[0], selected[1]), draws, seed)
    inputs = differing_facts(_footers(a), _footers(b))
    inputs += differing_rows("pool", _pool(a), _pool(b))
    inputs += differing_rows("selected items", *selected)
    models = table["model"].unique(maintain_order=True).to_list()
    note = "".join(_note(*run, models) for run in zip("AB", runs, scores, strict=True))
    largest = largest_difference(scores[0], scores[1])
    settings = differing_settings(a, b)
    return table, comparison_markdown(table, settings, inputs, (str(a), str(b)), draws, largest, note)


def _scores(folder: Path) -> dict[str, pl.DataFrame]:
    paths = sorted(folder.glob("scores/*.parquet"))
    if not paths:
        raise InputError(f"{folder} has no scores/*.parquet; give the folder of a finished run")
    check_footers({path.stem: path for path in paths}, {path.stem: read_footer(path) for path in paths})
    return {path.stem: read_table(path, SCORES) for path in track(paths, label=str(folder), unit="files")}


def _note(run: str, folder: Path, scores: Mapping[str, pl.DataFrame], models: Sequence[str]) -> str:
    """Return a sentence for the caption where predictions of these models are missing in a run."""
    items = set.intersection(*(set(scores[model]["id"]) for model in models))
    footers = [read_footer(folder / f"scores/{model}.parquet") for model in models]
    note = excluded_note(len(items), excluded_items(footers, len(items)))
    return f" Run {run}:{note}" if note else ""


def _footers(folder: Path) -> dict[Key, list[Footer]]:
    """Return the footers of a run's tables by stage and name; the files of a model have one name."""
    footers: dict[Key, list[Footer]] = {}
    for stage, pattern in STAGES.items():
        for path in sorted(folder.glob(pattern)):
            name = path.parent.name if stage in ("selector", "target") else path.stem
            footers.setdefault((stage, name), []).append(read_footer(path))
    return footers


def _pool(folder: Path) -> pl.DataFrame:
    return read_table(folder / "pool/items.parquet", POOL, ["id", *POOL_FACTS])


def _selected(folder: Path) -> pl.DataFrame:
    selected = read_table(folder / "selection/selected.parquet", SELECTED)
    return selected.filter("selected").select("id", "kappa", "rank")
