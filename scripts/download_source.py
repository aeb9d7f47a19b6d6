"""Download a file of a source."""

from pathlib import Path

from benchc.sources.download import data_folder, download


def download_source(
    *,
    url: str,
    md5: str | None = None,
    mirrors: list[str] | None = None,
    size: int | None = None,
    output: Path,
) -> None:
    """Download a file of a source, with mirrors, resume, retries and an MD5 check.

    A file of the same name in the folder that the environment variable BENCHC_DATA names is taken instead.

    Args:
        url: address of the file
        md5: expected MD5; default: no check
        mirrors: addresses of the same file, tried in order where url fails
        size: bytes of the file; default: no check
        output: file to write; an interrupted download is kept in <output>.part
    """
    found = download(url, output, md5, mirrors=mirrors or (), size=size, folder=data_folder())
    print(f"{output}: MD5 {found}, {'as expected' if md5 else 'not checked'}")
