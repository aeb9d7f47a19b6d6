"""Download the TSV of a source; interrupted downloads are resumed, and the MD5 is checked."""

import argparse
import sys
from pathlib import Path

from benchc.sources.download import download
from benchc.sources.error import SourceError
from scripts.command import run


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m scripts.download_source", description=__doc__)
    parser.add_argument("--url", required=True, help="address of the TSV")
    parser.add_argument("--md5", help="expected MD5; not checked unless given")
    parser.add_argument(
        "--output", type=Path, required=True, help="file to write; <output>.part is an incomplete download"
    )
    arguments = parser.parse_args()
    try:
        found = download(arguments.url, arguments.output, arguments.md5)
    except SourceError as error:
        sys.exit(str(error))
    print(f"{arguments.output}: MD5 {found}, {'as expected' if arguments.md5 else 'not checked'}")


if __name__ == "__main__":
    run(main)
