"""List the files of a run that other versions of libraries made than those that are installed.

A new version of a library reruns nothing, but may change the last digits of a number. To make files again,
delete them and run snakemake.
"""

from collections.abc import Sequence
from pathlib import Path

from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.versions import other_versions
from scripts.command import Parser, run


def main(argv: Sequence[str] | None = None, prog: str | None = None) -> None:
    parser = Parser(__spec__.name, __doc__, prog)
    parser.add_argument("run", type=Path, help="results/{name} of a run")
    folder = parser.parse_args(argv).run
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; give results/<name> of a run")
    if not any(folder.rglob("*.parquet")):
        raise InputError(f"{folder}: there is no table; give results/<name> of a run")
    found = other_versions(folder)
    for other in found:
        files = pluralize(other.tables, "file")
        print(f"{other.folder}: {files} made with {other.library} {other.recorded}, not {other.installed}")
    if not found:
        print(f"{folder}: all files were made with the installed versions")


if __name__ == "__main__":
    run(main)
