"""Choose items that illustrate low, medium and high kappa."""

from collections import Counter
from collections.abc import Sequence

import polars as pl

from benchc.errors import InputError, recreate

BANDS = ("low", "medium", "high")


def band_of(kappa: float, largest: float) -> str:
    """Return the third of the range [0, ``largest``] that ``kappa`` is in; an end counts to the lower one."""
    return BANDS[sum(3 * kappa > step * largest for step in (1, 2))]


def examples_by_kappa(items: pl.DataFrame, *, each: int, ids: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the rows of ``items`` for figure 9, with their band.

    ``items``: id, source, task, question, image_keys and kappa of every item of the pool. Bands are the
    thirds of [0, largest kappa]. From each, ``each`` items are taken, nearest to 0, to the middle or to the
    largest kappa, with as few repeated questions and images, then sources, then tasks as possible; ties go to
    the first id. ``ids`` replace this choice. Rows are
    sorted by band, kappa and id. Raises InputError where the pool is empty or lacks one of ``ids``.
    """
    if items.is_empty():
        raise InputError(f"the pool has no items to show; {recreate('pool')}")
    largest = float(items["kappa"].to_numpy().max())
    banded = items.sort("id").with_columns(
        pl.Series("band", [band_of(kappa, largest) for kappa in items.sort("id")["kappa"]], pl.Enum(BANDS))
    )
    if ids is not None:
        absent = [id_ for id_ in ids if id_ not in set(items["id"])]
        if absent:
            raise InputError(f"the pool has no item {absent[0]!r}; name others")
        chosen = list(ids)
    else:
        chosen = [
            id_
            for band, aim in zip(BANDS, (0.0, largest / 2, largest), strict=True)
            for id_ in _spread(banded.filter(pl.col("band") == band), aim, each)
        ]
    return banded.filter(pl.col("id").is_in(chosen)).sort("band", "kappa", "id")


def _spread(items: pl.DataFrame, aim: float, count: int) -> list[str]:
    rows = sorted(
        items.select("id", "source", "task", "question", "image_keys", "kappa").rows(),
        key=lambda row: (abs(row[-1] - aim), row[0]),
    )
    shown: Counter[tuple[str, str]] = Counter()  # by the kind of value, too
    chosen: list[str] = []

    def preference(row: tuple[str, str, str, str, list[str], float]) -> tuple[int, int, int]:
        _, source, task, question, images, _ = row
        repeated = shown["question", question] + sum(shown["image", key] for key in images)
        return repeated, shown["source", source], shown["task", task]

    while rows and len(chosen) < count:
        # The first of the least shown: rows are in order of preference.
        row = min(rows, key=preference)
        rows.remove(row)
        id_, source, task, question, images, _ = row
        shown.update([("source", source), ("task", task), ("question", question)])
        shown.update(("image", key) for key in images)
        chosen.append(id_)
    return chosen
