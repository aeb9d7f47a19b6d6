"""Download the TSV of a source: resumed where it broke off, retried, checked by its MD5."""

from pathlib import Path

from benchc.sources.download import download
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    parser.add_argument("--url", required=True, help="address of the TSV")
    parser.add_argument("--md5", help="MD5 that the file must have; without it nothing is checked")
    parser.add_argument(
        "--output", type=Path, required=True, help="file to write; <output>.part holds a beginning"
    )
    arguments = parser.parse_args()
    found = download(arguments.url, arguments.output, arguments.md5)
    print(
        f"{arguments.output}: MD5 {found}, {'as expected' if arguments.md5 else 'not compared with anything'}"
    )


if __name__ == "__main__":
    run(main)
