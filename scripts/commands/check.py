"""Check a run before it starts: sources, models, encoders, time and disk."""

import sys
from collections import Counter
from pathlib import Path

from tqdm import tqdm

from benchc.checking.check import check as findings_of
from benchc.config.load import read_config
from benchc.pluralize import pluralize
from benchc.printable import printable

LEVEL_WIDTH = 9
# Of subjects that are not ids. A longer id shifts the text of its line.
SUBJECT_WIDTHS = (14, 28)


def check(
    config: Path = Path("config/config.yaml"),
    /,
    *,
    no_models: bool = False,
    no_network: bool = False,
) -> None:
    """Check a run before it starts: sources, pool, models, encoders, time, disk, fonts and cluster.

    Reads the sources that are on this machine, loads its models, and tries each on three items, as the run
    does. Asks each server one question. Downloads nothing and makes no results. Lists all errors; the exit
    status is 1 if the run would fail.

    Args:
        config: the run's configuration
        no_models: load no models and encoders, only say where they are
        no_network: ask no servers, of models and of other endpoints
    """
    read = read_config(config)
    print(f"{config}: run {read.settings.name}")
    least, most = SUBJECT_WIDTHS
    width = min(most, max([least, *map(len, (*read.all_sources, *read.models))]))
    levels: Counter[str] = Counter()
    stage = None
    for finding in findings_of(read, config, load=not no_models, network=not no_network):
        if finding.stage != stage:
            stage = finding.stage
            write(f"\n{stage}")
        levels[finding.level] += 1
        line = f"  {finding.level:{LEVEL_WIDTH}}{finding.subject:{width}}  {finding.text}"
        write(printable(line))
    counts = f"{pluralize(levels['error'], 'error')}, {pluralize(levels['warning'], 'warning')}"
    if levels["error"]:
        print(f"\nerror: {config}: {counts}; mend what the lines above say, and check again")
        raise SystemExit(1)
    print(f"\n{counts}")


def write(line: str) -> None:
    """Print a line at once, above the progress bars of what takes long."""
    tqdm.write(line, file=sys.stdout)
    sys.stdout.flush()
