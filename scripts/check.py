"""Check a run before it starts: sources, pool, models, encoders, time, disk, fonts and cluster.

Reads the sources that are on this machine, loads its models, and tries each on three items, as the run does.
Downloads and writes nothing. Lists all errors; the exit status is 1 if the run would fail. Run it in the
repository's root, like snakemake.
"""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from benchc.checking.check import check
from benchc.pluralize import pluralize
from scripts.command import Parser, printable, run
from scripts.plan import read_config

LEVEL_WIDTH = 9
# Of subjects that are not ids. A longer id shifts the text of its line.
SUBJECT_WIDTHS = (14, 28)


def main(argv: Sequence[str] | None = None, prog: str = "python -m scripts.check") -> None:
    parser = Parser(__spec__.name, __doc__, prog)
    add, default = parser.add_argument, Path("config/config.yaml")
    add("config", type=Path, nargs="?", default=default, help="the run's configuration [%(default)s]")
    add("--no-models", action="store_true", help="load no models and encoders, only say where they are")
    arguments = parser.parse_args(argv)
    config = read_config(arguments.config)
    print(f"{arguments.config}: run {config.settings.name}")
    least, most = SUBJECT_WIDTHS
    width = min(most, max(least, *map(len, (*config.sources, *config.models))))
    levels: Counter[str] = Counter()
    stage = None
    for finding in check(config, load=not arguments.no_models):
        if finding.stage != stage:
            stage = finding.stage
            write(f"\n{stage}")
        levels[finding.level] += 1
        line = f"  {finding.level:{LEVEL_WIDTH}}{finding.subject:{width}}  {finding.text}"
        write(printable(line))
    print(f"\n{pluralize(levels['error'], 'error')}, {pluralize(levels['warning'], 'warning')}")
    if levels["error"]:
        raise SystemExit(1)


def write(line: str) -> None:
    """Print a line at once, above the progress bars of what takes long."""
    tqdm.write(line, file=sys.stdout)
    sys.stdout.flush()


if __name__ == "__main__":
    run(main)
