"""The files of a source: local ones, and where the run puts those that it downloads."""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from benchc.config.catalogue import Source
from benchc.config.strict import is_address
from benchc.sources.reader_options import CONVERTED, ReaderOptions

DOWNLOADS = "results/downloads"


class SourceFile(NamedTuple):
    """``path``: where the file is, or will be. ``url``: where it is downloaded from, or from ``mirrors``.

    ``md5`` and ``size`` in bytes: what the download must have, where that is known.
    """

    path: str
    url: str | None = None
    md5: str | None = None
    size: int | None = None
    mirrors: tuple[str, ...] = ()

    @property
    def addresses(self) -> tuple[str, ...]:
        """Where the file may be downloaded, in order; none of a local file."""
        return () if self.url is None else (self.url, *self.mirrors)


def source_files(id_: str, source: Source) -> Mapping[str, SourceFile]:
    """Return the files that a source is made of by name: ``tsv``, or those of its ``convert``.

    A generated source has none. Paths are as in the catalogue, else relative to the working directory.
    """
    convert = source.convert
    if convert is not None:
        return {
            name: SourceFile(
                f"{DOWNLOADS}/{id_}/{name}",
                given,
                convert.md5.get(name),
                convert.bytes.get(name),
                tuple(convert.mirrors.get(name, ())),
            )
            if is_address(given)
            else SourceFile(given)
            for name, given in convert.files.items()
        }
    if source.path is not None:
        return {"tsv": SourceFile(source.path)}
    if source.generated is not None:
        return {}
    path = f"{DOWNLOADS}/{id_}.tsv"
    return {"tsv": SourceFile(path, source.url, source.md5, source.bytes, tuple(source.mirrors))}


def published_text(source: Source) -> str | None:
    """Return how many items a source has as published; None where that is unknown, or some are taken."""
    published = source.published
    if published.items is None or (source.convert is not None and source.convert.take is not None):
        return None
    return f"{'about ' if published.rounded else ''}{published.items:,}"


def reader_options(source: Source) -> ReaderOptions:
    """Return how the TSV of a source differs from the standard columns."""
    if source.convert is not None:
        return replace(CONVERTED, task_column=source.task_column)
    # In one order, so that another one in the catalogue reruns nothing.
    exclude = {
        column: values if isinstance(values, str) else sorted(values)
        for column, values in sorted(source.reader.exclude.items())
    }
    return ReaderOptions(**source.reader.model_dump() | {"exclude": exclude}, task_column=source.task_column)
