"""How many predictions a rerun computes: those whose model, prompt or pixels differ from the cached ones."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from benchc.config.catalogue import Source
from benchc.config.load import Config
from benchc.config.source_files import reader_options, source_files
from benchc.corruptions.own_suite import suite_with
from benchc.corruptions.recipe import CLEAN
from benchc.corruptions.variants import variants_of_image
from benchc.images import pixel_hash
from benchc.models.cache.unit_cache import model_folder
from benchc.models.prediction_code import ENTRY, prediction_code
from benchc.planning.amounts import Amount
from benchc.planning.dry_run import PlannedJob
from benchc.planning.plan import plan_of
from benchc.planning.size import ASSIGNMENT_FILE, RunSize, assignment_of
from benchc.planning.stages import Work, work_of
from benchc.randomness import seed_of
from benchc.schemas.items import ITEMS
from benchc.schemas.parquet import iterate_groups, read_footer, read_table
from benchc.schemas.pool import POOL
from benchc.schemas.pool_images import pool_images
from benchc.schemas.predictions import KEY
from benchc.sources.pool import choose, task_types
from benchc.sources.vlmevalkit import opened_source

# Items on whose images a corruption is applied again, to see whether its pixels differ.
SAMPLE = 3
# Inputs of an inference job that change its prompts and pixels, but not its model.
SHOWN = ("pool", "subsets", "corrupted", "benchmark")
# Params of an inference job that decide all of its predictions.
OF_MODEL = ("model.", "scoring:", "label_prompt", "generation", "content of ")
ASKED = ["question", "options", "hint"]


@dataclass(frozen=True)
class Renewed:
    """What the predictions in a run's files no longer hold for.

    ``size``: of the pool as it will be. ``items``: those of it that are new or ask something else.
    ``corruptions``: those whose pixels differ.
    """

    size: RunSize
    items: frozenset[str]
    corruptions: frozenset[str]


def expected_predictions(
    config: Config, results: Path, jobs: Sequence[PlannedJob], cache: Path
) -> Amount | None:
    """Return about how many predictions ``jobs`` compute if subsets of the pool keep their items.

    They are those without a prediction of the same model, prompt and pixels in the run's files, which the
    cache has too. Whether a corruption's pixels differ is tried on a few items. None where the run has no
    pool, or a source is not on this machine. Raises InputError where a table or a source cannot be read.
    """
    pool = results / "pool/items.parquet"
    planned = {Path(output): job for job in jobs for output in job.outputs}
    if not pool.exists():
        return None
    renewed = _renewed(config, results, planned)
    if renewed is None:
        return None
    before = read_table(pool, POOL, ["id"]).height
    stages = plan_of(config, results, renewed.size).stages
    count = sum(
        _of_work(each, results, planned, renewed, before, cache) for each in work_of(stages, results, {})
    )
    return Amount(round(count), "estimate")


def _of_work(
    work: Work,
    results: Path,
    planned: Mapping[Path, PlannedJob],
    renewed: Renewed,
    before: int,
    cache: Path,
) -> float:
    """Return the predictions that one model computes anew in one stage.

    ``before``: items of the present pool.
    """
    paths = [results / output.format(model=work.model) for output in work.stage.outputs]
    if not (work.distinct.value and planned.keys() & set(paths)):
        return 0
    needed = work.stage.predictions.value or 0
    kept = 0
    rows_per_item = needed / (work.stage.items.value or 1)
    for path in paths:
        if path.exists() and not (path in planned and _computes_all(planned[path], path, planned, cache)):
            kept += _rows_kept(path, None if work.stage.own_items else renewed)
    if work.stage.own_items:
        return max(0, needed - kept)
    # A new item is taken into a subset as often as the others were.
    share = (work.stage.items.value or 0) / before if work.stage.items.value != renewed.size.pool.value else 0
    return max(0, needed - kept) + share * len(renewed.items) * rows_per_item


def _rows_kept(path: Path, renewed: Renewed | None) -> int:
    """Return how many predictions of a file still hold; all where its items are of no ``renewed`` pool."""
    rows = pl.read_parquet(path, columns=[*KEY], glob=False)
    if renewed is None:
        return rows.height
    if renewed.size.assignment is not None:
        clean, others = rows.filter(corruption=CLEAN), rows.filter(pl.col("corruption") != CLEAN)
        rows = pl.concat([clean, others.join(renewed.size.assignment, on=KEY, how="semi")])
    ids = renewed.size.options or {}
    stays = pl.col("id").is_in(list(ids.keys() - renewed.items))
    return rows.filter(stays, ~pl.col("corruption").is_in(list(renewed.corruptions))).height


def _computes_all(job: PlannedJob, path: Path, planned: Collection[Path], cache: Path) -> bool:
    """Return whether a job asks another model than the one that made ``path``, or asks it in another way.

    Also where the cache has no predictions of that model.
    """
    if any(cause.startswith(OF_MODEL) for cause in job.causes):
        return True
    if any(Path(file) in planned and Path(file).parent.name not in SHOWN for file in job.inputs):
        return True
    facts = read_footer(path)
    modules, code = facts.get("modules"), facts.get("code")
    return (
        not model_folder(cache, str(facts.get("model", ""))).is_dir()
        or not modules
        or prediction_code(str(modules).split(), str(facts.get("entry", ENTRY))) != code
    )


def _renewed(config: Config, results: Path, planned: Collection[Path]) -> Renewed | None:
    pool = results / "pool/items.parquet"
    texts = read_table(pool, POOL, ["id", "options"])
    options = dict(zip(texts["id"], texts["options"].list.len().fill_null(0), strict=True))
    items: frozenset[str] = frozenset()
    if pool in planned:
        sources = {
            id_: _source(id_, source, results / f"sources/{id_}.parquet", planned)
            for id_, source in config.sources.items()
        }
        found = {id_: frame for id_, frame in sources.items() if frame is not None}
        if len(found) < len(sources):
            return None
        columns = {id_: source.task_column for id_, source in config.sources.items()}
        limits = config.settings.pool
        ids = choose(task_types(found, columns), limits.per_task, limits.total).items["id"]
        now = {row[0]: row for frame in found.values() for row in frame.select("id", "asked", "count").rows()}
        old = {frame["id"][0]: _asked(frame)["asked"][0] for frame in _rows(pool, options)}
        options = {id_: now[id_][2] for id_ in ids}
        items = frozenset(id_ for id_ in ids if now[id_][1] != old.get(id_))
    assignment = assignment_of(results)
    corruptions = _renewed_corruptions(config, results, planned, assignment)
    # One that is made again is not known.
    kept = assignment if results / ASSIGNMENT_FILE not in planned else None
    return Renewed(RunSize(Amount(len(options)), options, assignment=kept), items, corruptions)


def _source(id_: str, source: Source, path: Path, planned: Collection[Path]) -> pl.DataFrame | None:
    """Return the items of a source as they will be, without images; None where its file is not here."""
    if path.exists() and path not in planned:
        return _asked(read_table(path, ITEMS))
    if source.generated is not None or source.convert is not None:
        return None
    tsv = Path(source_files(id_, source)["tsv"].path)
    if not tsv.exists():
        return None
    with opened_source(tsv, id_, reader_options(source)) as found:
        return pl.concat(map(_asked, found.frames()))


def _rows(pool: Path, ids: Iterable[str]) -> Iterator[pl.DataFrame]:
    for rows in iterate_groups(pool, POOL, "id", set(ids)):
        yield from rows.iter_slices(1)


def _asked(items: pl.DataFrame) -> pl.DataFrame:
    """Return items with ``asked``, a digest of what a model is asked, and ``count``, their options."""

    def digest(row: Mapping[str, object], images: Iterable[Mapping[str, bytes | None]]) -> str:
        found = hashlib.blake2b(repr([row[name] for name in ASKED]).encode(), digest_size=16)
        for image in images:
            found.update(hashlib.blake2b(image["bytes"] or b"").digest())
        return found.hexdigest()

    rows = items.select(ASKED).iter_rows(named=True)
    asked = [digest(row, images or ()) for row, images in zip(rows, items["images"].to_list(), strict=True)]
    return items.drop("images").with_columns(
        asked=pl.Series(asked, dtype=pl.String), count=pl.col("options").list.len().fill_null(0)
    )


def _renewed_corruptions(
    config: Config, results: Path, planned: Collection[Path], assignment: pl.DataFrame | None
) -> frozenset[str]:
    """Return the corruptions whose pixels or severities are not those of the predictions to replace.

    ``assignment``: the present one; without, every item has all severities of the run.
    """
    chosen, seed = config.settings.corruptions, config.settings.seed
    recorded: dict[tuple[str, str], dict[int, str]] = {}
    columns = ["id", "corruption", "severity", "image_hash"]
    files = (results.glob(f"{folder}/*/*/*.parquet") for folder in ("predictions", "answers"))
    for path in sorted(set().union(*files) & set(planned)):
        frame = pl.read_parquet(path, columns=columns, glob=False)
        ids = sorted(frame["id"].unique(), key=lambda id_: seed_of("rerun", id_))[:SAMPLE]
        for id_, name, severity, found in frame.filter(pl.col("id").is_in(ids)).iter_rows():
            recorded.setdefault((name, id_), {})[severity] = found
    images = dict(pool_images(results / "pool/items.parquet", {id_ for _, id_ in recorded}))
    suite = suite_with(chosen.suite, chosen.own_files)
    renewed = set()
    for name in (CLEAN, *chosen.types):
        recipe = config.settings.recipe(name, suite)
        if recipe.imported:
            if results / f"corrupted/{name}.parquet" in planned:
                renewed.add(name)
            continue
        # The severities of an image are one unit of the cache.
        whole = [0] if name == CLEAN else list(chosen.severities)
        for (corruption, id_), hashes in recorded.items():
            if corruption != name or id_ not in images or name in renewed:
                continue
            # An assignment changes the severities of an item without a change of its pixels.
            levels = whole if assignment is None else [level for level in whole if level in hashes]
            made = [
                variants_of_image(key, data, recipe, levels, seed, chosen.alpha) for key, data in images[id_]
            ]
            if hashes != {level: pixel_hash([each[level] for each in made]) for level in levels}:
                renewed.add(name)
    return frozenset(renewed)
