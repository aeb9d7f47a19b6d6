"""The files of a source: local ones, and where the run puts those that it downloads."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from benchc.config.catalogue import Source
from benchc.config.strict import is_address
from benchc.sources.reader_options import CONVERTED, ReaderOptions
from benchc.sources.rows import data_file

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

    A generated source has none. Paths are as in the catalogue, but that of a folder is that of its data file;
    else they are relative to the working directory. Raises SourceError as :func:`data_file`.
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
        given = Path(source.path)
        return {"tsv": SourceFile(str(data_file(given)) if given.is_dir() else source.path)}
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


def max_rejected(source: Source) -> float:
    """Return the share of a source's rows above which rejected ones stop the run.

    Of a conversion, all may be rejected: their images need not be there.
    """
    return 1.0 if source.convert is not None else source.reader.max_rejected


def reader_options(source: Source) -> ReaderOptions:
    """Return how the data file of a source differs from the standard columns."""
    if source.convert is not None:
        return replace(CONVERTED, task_column=source.task_column)
    # In one order, so that another one in the catalogue reruns nothing.
    exclude = {
        column: values if isinstance(values, str) else sorted(values)
        for column, values in sorted(source.reader.exclude.items())
    }
    columns = dict(sorted(source.reader.columns.items()))
    given = source.reader.model_dump(exclude={"max_rejected"}) | {"exclude": exclude, "columns": columns}
    return ReaderOptions(**given, task_column=source.task_column)
