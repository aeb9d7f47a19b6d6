"""Price a run before it is made: how many predictions each stage needs, how many are there, how long they take.

Counts come from the run's own tables as far as it has them, otherwise they are bounds from the
configuration. Nothing is made or changed. Run it in the repository's root, as snakemake.
"""

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from benchc.atomic import write_text
from benchc.config.errors import ConfigError, shown
from benchc.config.load import Config, load
from benchc.config.yaml_file import YamlError, read_yaml
from benchc.errors import InputError
from benchc.planning.hours import Price, Prices, seconds_per_prediction
from benchc.planning.measured import measured_jobs, measured_sentence
from benchc.planning.plan import plan_of
from benchc.planning.report import plan_markdown
from benchc.planning.table import plan_rows
from scripts.command import run


def main(argv: Sequence[str] | None = None, prog: str = "python -m scripts.plan") -> None:
    arguments = parse_arguments(argv, prog)
    output = None if arguments.output is None else output_path(arguments.output)
    config = read_config(arguments.config)
    name = config.settings.name
    results, logs = Path("results") / name, Path("logs") / name
    plan = plan_of(config, results)
    prices: Prices
    if arguments.seconds_per_prediction is None:
        prices = seconds_per_prediction(
            measured_jobs(config.models, plan.subsets, plan.batches, results, logs)
        )
        hours = measured_sentence(list(config.models), prices, logs)
    else:
        prices = dict.fromkeys(config.models, Price(arguments.seconds_per_prediction))
        hours = (
            f"hours: of one job at a time, at the {arguments.seconds_per_prediction:g} s a prediction that "
            "were given."
        )
    if output is not None:
        write_csv(output, plan_rows(plan, prices).write_csv())
    print(f"{arguments.config}: the run {name}. {plan.origin}\n")
    print(plan_markdown(plan, prices, models_apart=arguments.seconds_per_prediction is None) + f"- {hours}")


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
        "--seconds-per-prediction",
        type=positive,
        metavar="X",
        help="price of a prediction on your device, alike for all models, instead of what the run's own jobs took",
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
        raise SystemExit("\n".join(f"error: {fault}" for fault in error.errors)) from error


if __name__ == "__main__":
    run(main)
