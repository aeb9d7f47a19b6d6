"""Download the TSV of a source, with resume, retries and an MD5 check."""

from pathlib import Path

from benchc.sources.download import download
from scripts.command import Parser, run


def main() -> None:
    parser = Parser(__spec__.name, __doc__)
    parser.add_argument("--url", required=True, help="address of the TSV")
    parser.add_argument("--md5", help="expected MD5; default: no check")
    parser.add_argument(
        "--output",
        type=Path,
        required=True,
        help="file to write; an interrupted download is kept in <output>.part",
    )
    arguments = parser.parse_args()
    found = download(arguments.url, arguments.output, arguments.md5)
    print(f"{arguments.output}: MD5 {found}, {'as expected' if arguments.md5 else 'not checked'}")


if __name__ == "__main__":
    run(main)
