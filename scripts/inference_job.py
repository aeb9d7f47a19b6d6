"""What infer and infer_orders share: load the model, predict, write the predictions."""

import argparse
import importlib
import sys
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

import polars as pl

from benchc.models.inference import Row, infer, predict_unit, summary, tracked_units
from benchc.models.items import Item, refuse_open_questions
from benchc.models.loaded import LoadedModel
from benchc.models.prediction_cache import PredictionCache
from benchc.models.predictor import Predictor
from benchc.models.question import Question
from benchc.models.units import Unit
from benchc.schemas.parquet import TableType, write_table
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from scripts.inference_arguments import image_facts, image_source, on_server

SERVED = "scripts.served_model"


def run_inference(
    arguments: argparse.Namespace,
    items: Mapping[str, Item],
    table: TableType,
    *,
    severities: Container[int] | None = None,
    predict: Callable[[Predictor, Question, Unit], Iterable[Row]] = predict_unit,
    facts: Mapping[str, object] | None = None,
) -> None:
    """Write the rows that ``predict`` yields for ``items`` to ``arguments.output``, a ``table``.

    Items without options, images of another run and absent weights are refused before the model is loaded.
    ``severities``: None takes all; ``facts`` are added to the footer.
    """
    refuse_open_questions(items)
    images = image_facts(arguments)
    with _opened(arguments) as model:
        units = tracked_units(
            arguments.items,
            items,
            image_source(arguments),
            label=arguments.label or Path(arguments.location).name,
            severities=severities,
            ahead=model.ahead,
        )
        with PredictionCache(arguments.cache, model.identity, arguments.shard) as cache:
            predictor = Predictor(model.scorer, cache, model.compute)
            rows = infer(predictor, items, units, predict, model.at_once)
    print(summary(arguments.label or arguments.location, len(rows), predictor), file=sys.stderr)
    # But for adopted predictions, nothing depends on the cache: a resumed job writes the same bytes.
    footer = {
        **model.identity,
        **images,
        **({"label": arguments.label} if arguments.label else {}),
        "pool": pool_digest(arguments.items, QUESTION_COLUMNS),
        **(facts or {}),
        "predictions": len(rows),
        "oom_splits": predictor.oom_splits,
        **({"adopted": dict(predictor.adopted)} if predictor.adopted else {}),
    }
    write_table(pl.DataFrame(rows, schema=pl.Schema(table.columns)), arguments.output, table, footer)


def _opened(arguments: argparse.Namespace) -> AbstractContextManager[LoadedModel]:
    if on_server(arguments):
        # By name, so that an edit of the code for servers reruns no job without one.
        found: AbstractContextManager[LoadedModel] = importlib.import_module(SERVED).opened(arguments)
        return found
    # Here, since it imports torch, which a server's job does without.
    from scripts.local_model import opened

    return opened(arguments)
