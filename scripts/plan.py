"""Estimate the cost of a run: predictions by stage, how many exist, device time, and disk.

Counts are exact where the run's tables exist, otherwise upper bounds, estimates, or unknown. Nothing is
computed or changed. Run it in the repository's root, like snakemake.
"""

from collections.abc import Sequence
from pathlib import Path

from benchc.atomic import write_text
from benchc.config.load import Config, load
from benchc.config.yaml_file import YamlError, read_yaml
from benchc.errors import InputError
from benchc.models.supported import is_supported
from benchc.planning.amounts import Amount
from benchc.planning.plan import plan_markdown, plan_of
from benchc.planning.rates import Rate, measured_rates
from benchc.planning.stages import work_of, work_table
from benchc.pluralize import pluralize
from scripts.command import Parser, run


def main(argv: Sequence[str] | None = None, prog: str = "python -m scripts.plan") -> None:
    parser = Parser(__spec__.name, __doc__, prog)
    add, default = parser.add_argument, Path("config/config.yaml")
    add("config", type=Path, nargs="?", default=default, help="the run's configuration [%(default)s]")
    add(
        "--seconds-per-prediction",
        type=positive,
        metavar="X",
        help="rate of every model, instead of those measured on finished jobs of this run, or of others",
    )
    add("--output", type=Path, metavar="FILE", help="csv file to write, one row per stage and model")
    arguments = parser.parse_args(argv)
    config = read_config(arguments.config)
    name = config.settings.name
    results, given = Path("results") / name, arguments.seconds_per_prediction
    plan = plan_of(config, results)
    rates = measured_rates(config.models, Path("logs") / name, results, config.settings.asking_rule)
    if given is not None:
        rates = dict.fromkeys(config.models, Rate(Amount(given)))
    if arguments.output is not None:
        table = work_table(work_of(plan.stages, results, rates))
        try:
            write_text(arguments.output, table.write_csv())
        except OSError as error:
            raise InputError(f"--output {arguments.output}: {error.strerror}; name another file") from error
    text = plan_markdown(plan, results, rates, arguments.config)
    print(f"{arguments.config}: run {name}\n\n{text}", end="")
    unsupported = [
        f"{id_} ({model.family})" for id_, model in config.models.items() if not is_supported(model.family)
    ]
    if unsupported:
        print(
            f"- {pluralize(len(unsupported), 'model')} of families that are not supported yet "
            f"(docs/models.md), so the run will not start: {', '.join(unsupported)}."
        )


def positive(text: str) -> float:
    """Return a finite number > 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise ValueError
    return value


def read_config(path: Path) -> Config:
    """Return the configuration. Raises InputError where the file cannot be read or is invalid."""
    try:
        raw = read_yaml(path)
    except (OSError, YamlError) as error:
        reason = f"cannot be read ({error.strerror})" if isinstance(error, OSError) else error
        raise InputError(f"{path}: {reason}; see config/config.yaml for an example") from error
    if not isinstance(raw, dict):
        raise InputError(f"{path}: not a mapping of keys to values; see config/config.yaml for an example")
    return load(raw, Path.cwd(), file=str(path))


if __name__ == "__main__":
    run(main)
