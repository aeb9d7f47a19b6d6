"""What `benchc check` checks in a run of R-Bench alone: its cells, imported images, and files of others."""

from collections.abc import Iterator
from pathlib import Path
from typing import cast

from benchc.benchmarks.r_bench.planning.plan import task_items, task_sizes
from benchc.benchmarks.r_bench.settings import Settings
from benchc.benchmarks.r_bench.tasks import TASK_LABELS
from benchc.benchmarks.r_bench.workflow import RECORDINGS
from benchc.checking.answers import check_answers, check_file
from benchc.checking.finding import Finding, reason
from benchc.checking.language_model import check_language_model
from benchc.checking.pool import PoolFound
from benchc.config.load import Config
from benchc.errors import InputError
from benchc.pluralize import pluralize
from benchc.schemas.imported_images import IMPORTED_IMAGES
from benchc.schemas.parquet import read_table
from benchc.schemas.predictions import KEY


def check(config: Config, pool: PoolFound, *, load: bool, network: bool) -> Iterator[Finding]:
    """Yield what is right and wrong; nothing is loaded. ``network``: whether the judge is asked."""
    del load
    settings = cast(Settings, config.settings)
    if settings.imported_images is not None:
        yield _imported(settings, Path(settings.imported_images), pool)
    elif pool.size is not None and not settings.assignment.cross:
        yield from _cells(settings, pool)
    if settings.judge.kind == "llm":
        own = Path(settings.judge.recordings or RECORDINGS)
        yield from check_language_model("judge", settings.judge, own, network=network)
    chosen = settings.corruptions
    for id_, one in settings.answers_from.items():
        yield check_answers(
            f"answers_from.{id_}.file", one.file, chosen.types, chosen.severities, pool.all_ids, assigned=True
        )
    files: dict[str, str] = {}
    for id_, judged in settings.judgements_from.items():
        files |= {f"judgements_from.{id_}.{kind}": getattr(judged, kind) for kind in ("dis", "ref", "com")}
    files |= {f"people[{number}]": file for number, file in enumerate(settings.people)}
    if settings.judge.scores is not None:
        files["judge.scores"] = settings.judge.scores
    for key, file in files.items():
        yield check_file(key, file)


def _cells(settings: Settings, pool: PoolFound) -> Iterator[Finding]:
    """Yield how many images the items of each task are shown on, of those that the settings ask for."""
    assert pool.size is not None
    wanted = settings.assignment.per_task * len(settings.corruptions.types)
    items = task_items(settings, pool.size)
    for task, size in task_sizes(settings, pool.size, Path("results") / settings.name).items():
        count, cells = int(items[task].value or 0), int(size.cells.value or 0)
        if count:
            text = f"{pluralize(count, 'item')} for {cells:,} of {wanted:,} corrupted images"
            if cells < wanted:
                text += "; add items, or raise assignment.per_item, for as many under each dimension"
            yield Finding("pool", "ok" if cells == wanted else "warning", TASK_LABELS[task], text)


def _imported(settings: Settings, path: Path, pool: PoolFound) -> Finding:
    """Return what a file of imported images has of the run's items and corruptions."""
    if not path.is_file():
        text = f"{path} does not exist; `benchc r-bench-pairs` writes it (docs/r-bench.md)"
        return Finding("corruptions", "error", "images", text)
    try:
        rows = read_table(path, IMPORTED_IMAGES, [*KEY])
    except InputError as error:
        return Finding("corruptions", "error", "images", reason(error))
    if absent := sorted(pool.ids - set(rows["id"])):
        text = f"{path} has no image of {pluralize(len(absent), 'item')} of the pool, first {absent[0]}"
        return Finding("corruptions", "error", "images", f"{text}; convert both files again")
    found = set(rows["corruption"])
    if lacking := [name for name in settings.corruptions.types if name not in found]:
        text = f"{path} has no image under {', '.join(lacking)}; remove them from corruptions.types"
        return Finding("corruptions", "error", "images", text)
    text = f"{pluralize(rows.height, 'image')} under {pluralize(len(found), 'corruption')} in {path}"
    return Finding("corruptions", "ok", "images", text)
