"""List the files of a run that other versions of libraries made."""

from pathlib import Path

from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.versions import other_versions


def versions(run: Path, /) -> None:
    """List the files of a run that other versions of libraries made than those that are installed.

    A new version of a library reruns nothing, but may change the last digits of a number. To make files
    again, delete them and run snakemake.

    Args:
        run: results/{name} of a run
    """
    if not run.is_dir():
        raise InputError(f"{run}: there is no such folder; give results/<name> of a run")
    if not any(run.rglob("*.parquet")):
        raise InputError(f"{run}: there is no table; give results/<name> of a run")
    found = other_versions(run)
    for other in found:
        files = pluralize(other.tables, "file")
        print(f"{other.folder}: {files} made with {other.library} {other.recorded}, not {other.installed}")
    if not found:
        print(f"{run}: all files were made with the installed versions")
