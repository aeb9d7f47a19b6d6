"""What the stages that ask a model share: open the model, ask it about all units, write the rows."""

import importlib
import json
import sys
from collections.abc import Container, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from benchc.errors import InputError
from benchc.models.asking import (
    OVER_HTTP,
    Answering,
    AskedModel,
    ImageSubstitute,
    Job,
    Scoring,
    ShownImages,
    is_on_server,
)
from benchc.models.constant_answers import constant_answers
from benchc.models.generation import Generation
from benchc.models.inference import MAX_BYTES, MAX_BYTES_TOGETHER, Ask, infer
from benchc.models.items import Item
from benchc.models.job_counts import counts_text
from benchc.models.label_mass import low_label_mass
from benchc.models.loaded import LoadedModel
from benchc.models.predictor import Answerer, Predictor
from benchc.models.protocol import CheckpointSource, Variants
from benchc.models.question import Question
from benchc.models.units import InPlaceOfImages, Recipes, UnitImages, unit_images, units_in
from benchc.prefetch import prefetch
from benchc.progress import track
from benchc.schemas.assignment import Assignment, read_assignment
from benchc.schemas.corrupted_images import check_corrupted
from benchc.schemas.parquet import TableType, write_table
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from benchc.schemas.predictions import CLEAN, ModelFooter
from benchc.schemas.revision import read_revision

# Enough to hide the slowest image of a batch, few enough for the memory.
UNITS_AHEAD = 4
# Of units that pass together through a model on a GPU: else it would wait for most of the next pass.
AHEAD_TOGETHER = 16
Cached = TypeVar("Cached", Predictor, Answerer)


def run_inference(
    model: AskedModel,
    scoring: Scoring | Answering,
    job: Job,
    pool: Path,
    items: Mapping[str, Item],
    table: TableType,
    cached: type[Cached],
    ask: Ask[Cached],
    output: Path,
    *,
    revision_file: Path | None = None,
    corrupted: Sequence[Path] = (),
    images: ShownImages | None = None,
    assignment: Path | None = None,
    substitute: ImageSubstitute | None = None,
    generation: Generation | None = None,
    severities: Container[int] | None = None,
    sampled: int | None = None,
    original_questions: bool = True,
) -> None:
    """Write the rows that ``ask`` yields for ``items`` of a ``pool`` to ``output``, a ``table``.

    Images of another run and absent weights are refused before the model is loaded.

    Args:
        model: how it is loaded; ``scoring``: how it is asked; ``job``: where, and with what cache
        revision_file: revisions/{model}.json with the commit of a model on the Hub
        corrupted: files of corrupted images; without, those of ``images`` are generated
        assignment: the corruptions and severities of each item; None: all
        substitute: what is shown in place of the images
        generation: of ``generate``
        severities: those to ask about; None: all
        sampled: how many items they are, for the footer
        original_questions: whether questions are asked as they are, so that worker processes can encode them
    """
    shown = images or ShownImages()
    image_facts = {} if substitute else _image_facts(pool, corrupted, shown)
    names = [substitute] if substitute else [path.stem for path in corrupted] or list(shown.recipes)
    if not names:
        raise InputError("no images are given; give --corrupted or --images.recipes")

    cells = assigned_cells(assignment, corrupted, shown)

    def sources() -> Iterable[UnitImages]:
        return _unit_images(pool, items, corrupted, shown, substitute, severities, cells)

    first = ((items[unit.item].question, unit.variants) for unit in islice(units_in(sources()), 1))
    with (
        _opened(model, scoring, generation, job, revision_file, first) as loaded,
        cached.CACHE(job.cache, loaded.identity, job.shard) as cache,
    ):
        cached_model = cached(loaded.model, cache, loaded.compute)
        if job.workers and loaded.encodes and original_questions:
            # Imported here because it imports torch.
            from benchc.models.prepare import prepared_units

            units = prepared_units(sources(), loaded.model, items, cache, job.workers)
        else:
            units = units_in(sources())
        fills = loaded.prefetches and loaded.together not in (None, "never")
        ahead, most_bytes = (AHEAD_TOGETHER, MAX_BYTES_TOGETHER) if fills else (UNITS_AHEAD, MAX_BYTES)
        units = prefetch(units, ahead) if loaded.prefetches or job.workers else units
        total = sum(_shown(items, cells, name) for name in names)
        progress = track(units, label=model.label, unit="units", total=total)
        rows = infer(cached_model, items, progress, ask, loaded.at_once, most_bytes)
    counts = counts_text(len(rows), cached.ROWS, cached_model.cached, cached_model.computed)
    print(f"{model.label}: {counts}", file=sys.stderr)
    if (constant := constant_answers(rows, items, shown=substitute is None)) is not None:
        print(f"warning: {model.label}: {constant}", file=sys.stderr)
    masses = [row["label_mass"] for row in rows if "label_mass" in row]
    if (low := low_label_mass(scoring, masses)) is not None:
        print(f"warning: {model.label}: {low}", file=sys.stderr)
    # But for adopted predictions, nothing depends on the cache: a resumed job writes the same bytes.
    facts: dict[str, Any] = {cached.ROWS: len(rows), **image_facts}
    footer = ModelFooter(
        identity=loaded.identity,
        label=model.label,
        pool=pool_digest(pool, QUESTION_COLUMNS),
        units_together=loaded.together,
        oom_splits=cached_model.oom_splits,
        adopted=cached_model.adopted,
        items=sampled,
        **facts,
    )
    write_table(pl.DataFrame(rows, schema=pl.Schema(table.columns)), output, table, footer)


def checkpoint_source(model: AskedModel, job: Job, revision_file: Path | None) -> CheckpointSource:
    """Return the checkpoint, its precision, device and settings.

    Raises InputError for an invalid revision file, and ModelError for a family that cannot be loaded: without
    this check, a misspelt name would load the checkpoint without the file of its family.
    """
    # By name, so that an edit of this check reruns no job.
    importlib.import_module("benchc.models.supported").check_family(model.family)
    return CheckpointSource(
        model.location,
        read_revision(revision_file, model.location).commit if revision_file else model.revision,
        model.dtype,
        model.device,
        dict(model.processor),
        model.family,
        model.trust_remote_code,
        model.auto_class,
        model.image_backend,
        model.compile,
        job.gpus,
        model.system_prompt,
        model.chat_template,
        model.attention,
        model.adapter,
        read_revision(job.adapter_file, model.adapter).commit if job.adapter_file else model.adapter_revision,
    )


def image_source(corrupted: Sequence[Path], shown: ShownImages) -> Sequence[Path] | Recipes:
    """Return the files of corrupted images, or the recipes to apply; InputError for these without a seed."""
    if corrupted:
        return corrupted
    if shown.seed is None:
        raise InputError("--images.recipes are given without a seed; give --images.seed")
    return Recipes(list(shown.recipes.values()), shown.seed, shown.alpha or "drop")


def _unit_images(
    pool: Path,
    items: Mapping[str, Item],
    corrupted: Sequence[Path],
    shown: ShownImages,
    substitute: ImageSubstitute | None,
    severities: Container[int] | None,
    cells: Assignment | None,
) -> Iterable[UnitImages]:
    if substitute is not None:
        return [InPlaceOfImages(substitute, list(items))]
    keys = {id_: item.image_keys for id_, item in items.items()}
    return unit_images(pool, keys, image_source(corrupted, shown), severities, cells)


def assigned_cells(
    assignment: Path | None, corrupted: Sequence[Path], shown: ShownImages
) -> Assignment | None:
    """Return the severities of each item by corruption; None without an assignment, where they have all.

    Raises InputError for files without their recipes, and as :func:`read_assignment`.
    """
    if assignment is None:
        return None
    names = [path.stem for path in corrupted] or [*shown.recipes]
    if absent := [name for name in names if name not in shown.recipes]:
        raise InputError(f"--assignment needs the recipe of {absent[0]}; give --images.recipes")
    return read_assignment(assignment, {name: shown.recipes[name].severities for name in names})


def _shown(items: Mapping[str, Item], cells: Assignment | None, corruption: str) -> int:
    """Return how many items are shown under a corruption."""
    return (
        len(items) if cells is None or corruption == CLEAN else len(items.keys() & cells[corruption].keys())
    )


def _image_facts(pool: Path, corrupted: Sequence[Path], shown: ShownImages) -> dict[str, object]:
    """Return the seed and alpha of the images; TableError where a file was made with others."""
    given = {"seed": shown.seed, "alpha": shown.alpha or (None if corrupted else "drop")}
    recipes = {name: json.loads(recipe.to_json()) for name, recipe in shown.recipes.items()}
    return check_corrupted(
        corrupted, pool, recipes, {name: value for name, value in given.items() if value is not None}
    )


def _opened(
    model: AskedModel,
    scoring: Scoring | Answering,
    generation: Generation | None,
    job: Job,
    revision_file: Path | None,
    first: Iterable[tuple[Question, Variants]],
) -> AbstractContextManager[LoadedModel[Any, Any]]:
    source = checkpoint_source(model, job, revision_file)
    if is_on_server(model, job):
        found: AbstractContextManager[LoadedModel[Any, Any]] = importlib.import_module(OVER_HTTP).opened(
            model, source, scoring, generation, job
        )
        return found
    if model.device == "cuda":
        # By name, so that an edit of this check reruns no job.
        importlib.import_module("benchc.models.cards").take_cards(model.label, source)
    # Imported here because it imports torch, which a server's job does without.
    from benchc.models.in_process import opened

    return opened(model, source, scoring, generation, first)
