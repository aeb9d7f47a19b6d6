"""What the scripts that ask a model share: open the model, ask it about all units, write the rows."""

import argparse
import importlib
import sys
from collections.abc import Container, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from benchc.models.inference import Ask, infer
from benchc.models.items import Item
from benchc.models.job_counts import counts_text
from benchc.models.label_mass import low_label_mass
from benchc.models.loaded import LoadedModel
from benchc.models.predictor import Answerer, Predictor
from benchc.models.units import units_in
from benchc.prefetch import prefetch
from benchc.progress import track
from benchc.schemas.parquet import TableType, write_table
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from scripts.inference_arguments import image_facts, image_names, images_of, on_server

SERVED = "scripts.served_model"
# Enough to hide the slowest image of a batch, few enough for the memory.
UNITS_AHEAD = 4
Cached = TypeVar("Cached", Predictor, Answerer)


def run_inference(
    arguments: argparse.Namespace,
    items: Mapping[str, Item],
    table: TableType,
    cached: type[Cached],
    ask: Ask[Cached],
    *,
    severities: Container[int] | None = None,
    facts: Mapping[str, object] | None = None,
    as_given: bool = True,
) -> None:
    """Write the rows that ``ask`` yields for ``items`` to ``arguments.output``, a ``table``.

    Images of another run and absent weights are refused before the model is loaded. ``severities``: None
    takes all; ``facts`` are added to the footer. ``as_given``: whether the items' questions are asked as they
    are, so that worker processes can encode them.
    """
    images = image_facts(arguments)
    with _opened(arguments) as model:
        label = arguments.label or Path(arguments.location).name
        sources = images_of(arguments, items, severities)
        with cached.CACHE(arguments.cache, model.identity, arguments.shard) as cache:
            behind = cached(model.model, cache, model.compute)
            if arguments.workers and model.encodes and as_given:
                # Here, since it imports torch.
                from benchc.models.prepare import prepared_units

                units = prepared_units(sources, model.model, items, cache, arguments.workers)
            else:
                units = units_in(sources)
            units = prefetch(units, UNITS_AHEAD) if model.ahead or arguments.workers else units
            total = len(items) * len(image_names(arguments))
            rows = infer(
                behind, items, track(units, label=label, unit="units", total=total), ask, model.at_once
            )
    name = arguments.label or arguments.location
    print(f"{name}: {counts_text(len(rows), cached.ROWS, behind.cached, behind.computed)}", file=sys.stderr)
    masses = [row["label_mass"] for row in rows if "label_mass" in row]
    if (low := low_label_mass(arguments.scoring, masses)) is not None:
        print(f"warning: {name}: {low}", file=sys.stderr)
    # But for adopted predictions, nothing depends on the cache: a resumed job writes the same bytes.
    footer = {
        **model.identity,
        **images,
        **({"label": arguments.label} if arguments.label else {}),
        "pool": pool_digest(arguments.items, QUESTION_COLUMNS),
        **(facts or {}),
        **({"units_together": model.together} if model.together else {}),
        cached.ROWS: len(rows),
        "oom_splits": behind.oom_splits,
        **({"adopted": dict(behind.adopted)} if behind.adopted else {}),
    }
    write_table(pl.DataFrame(rows, schema=pl.Schema(table.columns)), arguments.output, table, footer)


def _opened(arguments: argparse.Namespace) -> AbstractContextManager[LoadedModel[Any, Any]]:
    if on_server(arguments):
        # By name, so that an edit of the code for servers reruns no job without one.
        served = importlib.import_module(SERVED)
        found: AbstractContextManager[LoadedModel[Any, Any]] = served.opened(arguments)
        return found
    # Here, since it imports torch, which a server's job does without.
    from scripts.local_model import opened

    return opened(arguments)
