"""The files of a source: local ones, and where the run puts those that it downloads."""

from collections.abc import Mapping
from typing import NamedTuple

from benchc.config.catalogue import Source
from benchc.config.strict import is_address

VQAV2_FILES = ("questions", "annotations", "images")


class SourceFile(NamedTuple):
    """``path``: where the file is, or will be. ``url``: where it is downloaded from; ``md5``: what it has."""

    path: str
    url: str | None = None
    md5: str | None = None


def source_files(id_: str, source: Source) -> Mapping[str, SourceFile]:
    """Return the files that a source is read from by name: ``tsv``, or VQAV2_FILES; none of a generated one.

    Paths are as in the catalogue, and relative to the repository's root otherwise.
    """
    vqav2 = source.vqav2
    if vqav2 is not None:
        return {
            name: _vqav2_file(id_, name, getattr(vqav2, name), getattr(vqav2.md5, name))
            for name in VQAV2_FILES
        }
    if source.path is not None:
        return {"tsv": SourceFile(source.path)}
    if source.generated is not None:
        return {}
    return {"tsv": SourceFile(f"results/downloads/{id_}.tsv", source.url, source.md5)}


def _vqav2_file(id_: str, name: str, given: str, md5: str | None) -> SourceFile:
    return (
        SourceFile(f"results/downloads/{id_}/{name}", given, md5) if is_address(given) else SourceFile(given)
    )
