"""Price a run before it is made: how many reads each stage needs, how many are there, how long they take.

Counts come from the run's own tables as far as it has them, otherwise they are bounds from the
configuration. Nothing is made or changed. Run it in the repository's root, as snakemake.
"""

import argparse
import json
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchc.atomic import write_text
from benchc.benchmarks.bench_c.schemas.selected import SELECTED
from benchc.config.batches import batches
from benchc.config.faults import ConfigError, shown
from benchc.config.load import Config, load
from benchc.config.yaml_file import YamlError, read_yaml
from benchc.corruptions.recipe import CLEAN
from benchc.errors import InputError
from benchc.planning.hours import Job, Price, Prices, seconds_per_read
from benchc.planning.known import Known, images_of, known_from_settings, known_from_sources, known_from_tables
from benchc.planning.report import plan_markdown
from benchc.planning.table import plan_rows
from benchc.rendering.counted import counted
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import iterate_groups, read_footer, read_table
from benchc.schemas.pool import POOL
from scripts.command import run

# The folder of predictions that a stage of the plan fills.
SUBSETS = {"selectors": "pool", "targets": "selected", "random subset": "unselected"}
# Items whose images are in memory at once.
GROUPS_AT_ONCE = 256
# The last line of an inference job's log.
COUNTS = re.compile(r"([\d,]+) reads, [\d,]+ from the store, ([\d,]+) new")


def main(argv: Sequence[str] | None = None, prog: str = "python -m scripts.plan") -> None:
    arguments = parse_arguments(argv, prog)
    output = None if arguments.output is None else output_path(arguments.output)
    config = read_config(arguments.config)
    name = config.settings.name
    results, logs = Path("results") / name, Path("logs") / name
    known, origin = known_of(config, results)
    done = done_reads(config, results)
    prices: Prices
    if arguments.seconds_per_read is None:
        prices = seconds_per_read(measured_jobs(config, results, logs))
        hours = measured_sentence(config, prices, logs)
    else:
        prices = dict.fromkeys(config.models, Price(arguments.seconds_per_read))
        hours = (
            f"hours: of one job at a time, at the {arguments.seconds_per_read:g} s a read that were given."
        )
    if output is not None:
        write_csv(output, plan_rows(config.settings, known, done, prices).write_csv())
    print(f"{arguments.config}: the run {name}. {origin}\n")
    measured = arguments.seconds_per_read is None
    print(plan_markdown(config.settings, known, done, prices, models_apart=measured) + f"- {hours}")


def parse_arguments(argv: Sequence[str] | None, prog: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog=prog, description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add(
        "config",
        type=Path,
        nargs="?",
        default=Path("config/config.yaml"),
        metavar="CONFIG",
        help="file of the run's configuration [%(default)s]",
    )
    add(
        "--seconds-per-read",
        type=positive,
        metavar="X",
        help="price of a read on your device, alike for all models, instead of what the run's own jobs took",
    )
    add("--output", metavar="FILE", help="csv file with one row a stage and model, to write")
    return parser.parse_args(argv)


def positive(text: str) -> float:
    """Return a finite number > 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number, such as 0.5")
    return value


def output_path(text: str) -> Path:
    """Return the file to write; raises InputError where it is a folder, or its folder is not there."""
    path = Path(text)
    if path.is_dir() or text.endswith(("/", os.sep)):
        raise InputError(f"--output: {text} is a folder; name a file, such as {path / 'plan.csv'}")
    if not path.parent.is_dir():
        raise InputError(f"--output: there is no folder {path.parent}; make it, or name another file")
    return path


def write_csv(path: Path, text: str) -> None:
    try:
        write_text(path, text)
    except OSError as error:
        raise InputError(
            f"--output: {path} cannot be written ({error.strerror}); name another file"
        ) from error


def read_config(path: Path) -> Config:
    """Return the configuration; its faults end the process, one line each, as snakemake words them."""
    try:
        raw = read_yaml(path)
    except FileNotFoundError as error:
        raise InputError(
            f"{path}: there is no such file; give a configuration, such as config/demo.yaml"
        ) from error
    except YamlError as error:
        raise InputError(f"{path}: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); give a YAML file") from error
    if not isinstance(raw, dict):
        raise InputError(f"{path}: the whole is {shown(raw)}, but must be a mapping as in config/config.yaml")
    try:
        return load(raw, Path.cwd(), file=str(path))
    except ConfigError as error:
        raise SystemExit("\n".join(f"error: {fault}" for fault in error.faults)) from error


def known_of(config: Config, results: Path) -> tuple[Known, str]:
    """Return the sizes of the run and a sentence that says where they come from."""
    pool, selected = results / "pool/items.parquet", results / "selection/selected.parquet"
    sources = {source: results / f"sources/{source}.parquet" for source in config.sources}
    if pool.exists():
        items = read_table(pool, POOL, ["id", "options"])
        images = images_of(iterate_groups(pool, POOL, "id", set(items["id"]), GROUPS_AT_ONCE))
        kept = read_table(selected, SELECTED) if selected.exists() else None
        known = known_from_tables(items, images, kept)
        known = replace(known, corrupted_bytes=corrupted_bytes(config, results))
        benchmark = (
            "The benchmark is not selected yet."
            if kept is None
            else f"Benchmark: {counted(known.kept or 0, 'item')} ({selected})."
        )
        return known, f"Pool: {counted(items.height, 'item')} ({pool}). {benchmark}"
    if all(path.exists() for path in sources.values()):
        columns = {source: entry.task_column for source, entry in config.sources.items()}
        items = {source: read_table(path, ITEMS, ["id", columns[source]]) for source, path in sources.items()}
        known = known_from_sources(items, columns, config.settings.pool)
        size = counted(known.pool or 0, "item")
        which = "source that is" if len(sources) == 1 else f"{len(sources)} sources that are"
        return known, f"Pool: {size}, from the {which} read."
    known = known_from_settings(config.settings.pool)
    if known.pool is None:
        return (
            known,
            "No source is read yet, and pool.total sets no bound: the size of the pool is not known.",
        )
    size = counted(known.pool, "item")
    return known, f"Nothing is counted yet: the pool has at most {size} (pool.total)."


def corrupted_bytes(config: Config, results: Path) -> int | None:
    """Return what the corrupted images take, where all are written."""
    corruptions = config.settings.corruptions
    folder = results / ("corrupted" if corruptions.corrupted == "files" else "benchmark")
    paths = [folder / f"{name}.parquet" for name in (CLEAN, *corruptions.types)]
    return sum(path.stat().st_size for path in paths) if all(path.exists() for path in paths) else None


def done_reads(config: Config, results: Path) -> dict[tuple[str, str], int]:
    """Return how many reads are in the run's predictions, by stage and model."""
    settings = config.settings
    done = {}
    for stage, subset in SUBSETS.items():
        for model in settings.selectors if stage == "selectors" else settings.targets:
            files = [results / f"predictions/{subset}/{model}/{batch}.parquet" for batch in batches(settings)]
            done[stage, model] = sum(reads_in(path) for path in files)
    for model in settings.targets:
        done["option order", model] = reads_in(results / f"orders/{model}.parquet")
    return {key: reads for key, reads in done.items() if reads}


def reads_in(path: Path) -> int:
    """Return how many reads a file of predictions holds; 0 where there is none."""
    return int(str(read_footer(path).get("reads", 0))) if path.exists() else 0


def measured_jobs(config: Config, results: Path, logs: Path) -> dict[str, list[Job]]:
    """Return the finished inference jobs of every model whose time and reads are on record."""
    jobs: dict[str, list[Job]] = {}
    for model in config.models:
        for subset in SUBSETS.values():
            for batch in batches(config.settings):
                job = f"infer/{subset}/{model}/{batch}"
                paths = (logs / f"benchmarks/{job}.jsonl", logs / f"{job}.log")
                if all(path.exists() for path in (*paths, results / f"predictions/{job[6:]}.parquet")):
                    jobs.setdefault(model, []).extend(job_of(*paths))
    return jobs


def job_of(benchmark: Path, log: Path) -> list[Job]:
    """Return the job that Snakemake's benchmark file and the log are of; none where one does not say."""
    counts = COUNTS.findall(log.read_text(errors="replace"))
    lines = benchmark.read_text(errors="replace").splitlines()
    if not counts or not lines:
        return []
    reads, computed = (int(text.replace(",", "")) for text in counts[-1])
    try:
        seconds = float(json.loads(lines[-1])["s"])
    except (ValueError, TypeError, KeyError):
        return []  # Cut off or edited: the job is not measured, and the plan does without.
    return [Job(seconds, reads, computed)] if 0 < seconds < float("inf") else []


def measured_sentence(config: Config, prices: Prices, logs: Path) -> str:
    """Return where hours come from, or how to get them."""
    without = [model for model in config.models if model not in prices]
    if not prices:
        return (
            "hours: not known, for no inference job of this run is measured; give --seconds-per-read X, or "
            f"plan again when the first has ended and its time stands in {logs}/benchmarks/infer."
        )
    lacking = f" Not measured yet: {', '.join(without)}." if without else ""
    return (
        "hours: of one job at a time, its start included, by what this run's own jobs took "
        f"({logs}/benchmarks).{lacking}"
    )


if __name__ == "__main__":
    run(main)
