"""Download a file of a source."""

from pathlib import Path

from benchc.sources.download import download


def download_source(*, url: str, md5: str | None = None, output: Path) -> None:
    """Download a file of a source, with resume, retries and an MD5 check.

    Args:
        url: address of the file
        md5: expected MD5; default: no check
        output: file to write; an interrupted download is kept in <output>.part
    """
    found = download(url, output, md5)
    print(f"{output}: MD5 {found}, {'as expected' if md5 else 'not checked'}")
