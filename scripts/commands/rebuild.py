"""Make a finished run again from its export."""

from pathlib import Path

from benchc.export import rebuild as of_export


def rebuild(folder: Path, /, *, trust: bool = False) -> None:
    """Make the folder of a finished run again from its export, and check every file that it reads.

    Questions and images that the export does not have are read from the publishers' files, which are
    downloaded, corrupted again, and compared with the run's by their hashes. `benchc evaluate` does the same
    where it is needed. The folder is below results/exported.

    Args:
        folder: what `benchc export` wrote
        trust: make it also where its author's code runs, or servers are asked that the author chose
    """
    print(f"{of_export.rebuild(folder, root=Path.cwd(), trusted=trust)}: has the files of the run")
