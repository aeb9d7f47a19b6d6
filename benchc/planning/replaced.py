"""A run whose folder of results has those of another one: of the same name, but made from other sources."""

from pathlib import Path

from benchc.config.differing import differing_origin
from benchc.config.load import Config
from benchc.config.resolved import resolved

# A folder of a run that no run has.
NOTHING = "nothing"


def replaced_run(config: Config, results: Path) -> str:
    """Return what a run would replace in the folder ``results``; "" if that is its own, or of none.

    Raises InputError where the record of the configuration there cannot be read.
    """
    differing = differing_origin(results, resolved(config, str(results), Path.cwd()))
    if not differing:
        return ""
    return (
        f"{results} was made by another configuration ({'; '.join(differing)}): running this one replaces "
        "its results, none of which count as done here; to keep them, give this run another name"
    )


def own_tables(config: Config, results: Path) -> Path:
    """Return the folder of a run's tables, ``results``; one that is not there if these are another run's."""
    return results / NOTHING if replaced_run(config, results) else results
