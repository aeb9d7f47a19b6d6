"""The items of a source, counted in what is here of it, or as published: a bound before the pool is built."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from benchc.config.catalogue import Published, Source
from benchc.config.source_files import source_files
from benchc.demo.captions import CAPTION_SOURCE, CAPTIONS
from benchc.demo.world import SOURCES
from benchc.planning.amounts import Amount
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import read_table
from benchc.sources.conversion import CONVERTERS
from benchc.sources.error import SourceError
from benchc.sources.rows import read_rows


def task_counts(id_: str, source: Source, results: Path) -> Mapping[str, int] | None:
    """Return upper bounds on the items of a source by task type; None where they are unknown.

    They are the items in ``results``; else those that the run generates; else the rows of the source's files,
    of which the run may reject some. Unknown are those of a file that is not here or cannot be read. Raises
    TableError where the items in ``results`` cannot be read.
    """
    items = results / f"sources/{id_}.parquet"
    if items.exists():
        return Counter(read_table(items, ITEMS, [source.task_column])[source.task_column].drop_nulls())
    if source.generated is not None:
        return generated_counts(id_, source.task_column, source.generated.groups)
    try:
        paths = {name: Path(file.path) for name, file in source_files(id_, source).items()}
        if source.convert is not None:
            rows = CONVERTERS[source.convert.format](paths, source.convert.take)
            found = (getattr(row, source.task_column) for row in rows if row.problem is None)
            return Counter(filter(None, found))
        column = source.reader.category_column if source.task_column == "category" else None
        rows_found = read_rows(paths["tsv"], source.reader.columns, images=False)
        tasks = (row.values.get(column or source.task_column) for row in rows_found)
        return Counter(filter(None, tasks))  # rows without one are rejected
    except (SourceError, OSError):
        return None


def published_items(source: Source) -> Amount:
    """Return the items of a source as they are published, of which the run may reject some.

    Of a run that takes some of the images, they are estimated by the mean number of items of an image.
    """
    amount, images = published_amount(source.published), source.published.images
    take = None if source.convert is None else source.convert.take
    if amount.value is not None and isinstance(take, int) and images is not None and take < images:
        return Amount(round(amount.value * take / images), "estimate")
    return amount


def published_amount(published: Published) -> Amount:
    """Return the items of a data set as published, unknown where they are not."""
    return Amount(published.items, "estimate" if published.rounded else "at most")


def generated_counts(id_: str, task_column: str, groups: int) -> Counter[str]:
    """Return upper bounds on the items of a source that the run generates by task type."""
    counts: Counter[str] = Counter()
    if id_ == CAPTION_SOURCE:
        every = (category for categories in SOURCES.values() for category in categories)
        drawn = [replace(each, name=f"{each.name} caption") for each in every if each.name in CAPTIONS]
    else:
        drawn = [*SOURCES[id_]]
    for category in drawn:
        sizes = [len(options) for options in category.option_sets]
        task = category.name if task_column == "category" else category.family
        counts[task] += sum(sizes[group % len(sizes)] for group in range(groups))
    return counts
