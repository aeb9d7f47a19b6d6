"""The sources of a run: how many items each has, from where that is known, and what is to be downloaded."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchc.config.catalogue import Source
from benchc.config.load import Config
from benchc.config.source_files import source_files
from benchc.planning.amounts import Amount, disk_text, total
from benchc.planning.source_size import published_items, task_counts
from benchc.rendering.markdown import markdown
from benchc.sources.download import data_folder, file_in


@dataclass(frozen=True)
class SourceSize:
    """The size of a source: at most so many ``items``, known ``from_`` its files or what is published.

    ``download``: bytes that the run downloads of it.
    """

    id: str
    items: Amount
    from_: str
    download: Amount


def source_sizes(config: Config, results: Path) -> Iterator[SourceSize]:
    """Yield the size of each source of a run, also those beside the pool; raises as :func:`task_counts`."""
    for id_, source in config.all_sources.items():
        counts = task_counts(id_, source, results)
        if counts is not None:
            items = Amount(sum(counts.values()), "exact" if _is_read(id_, results) else "at most")
            from_ = "settings" if source.generated is not None else "its files"
        else:
            items = published_items(source)
            from_ = "–" if items.value is None else "published"
        yield SourceSize(id_, items, from_, _download(id_, source))


def _is_read(id_: str, results: Path) -> bool:
    return (results / f"sources/{id_}.parquet").exists()


def _download(id_: str, source: Source) -> Amount:
    files = source_files(id_, source).values()
    absent = [
        file
        for file in files
        if file.url is not None and not Path(file.path).exists() and file_in(data_folder(), file.url) is None
    ]
    if not absent:
        return Amount(0)
    if all(file.size is not None for file in absent):
        return Amount(sum(file.size or 0 for file in absent))
    size = source.published.megabytes
    # Of several files, some may be here.
    return Amount(None if size is None else 1e6 * size, "exact" if len(absent) == len(files) else "at most")


def sources_markdown(config: Config, results: Path) -> str:
    """Return the table of the sources and, where something is to be downloaded, its size."""
    sizes = list(source_sizes(config, results))
    rows = [[size.id, size.items.text(), size.from_, _text(size.download)] for size in sizes]
    text = markdown(["source", "items", "known from", "to download"], rows)
    missing = [
        f"{id_} ({file.path})"
        for id_, source in config.all_sources.items()
        for file in source_files(id_, source).values()
        if source.path is not None and not Path(file.path).exists()
    ]
    if missing:
        text += f"\nFiles that are not here, and have no address: {', '.join(missing)}.\n"
    known = total(size.download for size in sizes if size.download.value is not None)
    unknown = [size.id for size in sizes if size.download.value is None]
    if not known.value and not unknown:
        return f"{text}\nNothing is to be downloaded for the sources.\n"
    parts = [known.text(disk_text)] if known.value else []
    if unknown:
        parts.append(f"what is not published of {', '.join(unknown)}")
    return f"{text}\nTo download for the sources: {' and '.join(parts)}.\n"


def _text(download: Amount) -> str:
    return "–" if download.value == 0 else download.text(disk_text)
