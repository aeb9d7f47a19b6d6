"""What infer and infer_orders share: load the model, predict, write the predictions."""

import argparse
import sys
from collections.abc import Callable, Container, Iterable, Mapping
from pathlib import Path

import polars as pl

from benchc.errors import InputError
from benchc.models.hub_cache import require_cached
from benchc.models.identity import prediction_identity
from benchc.models.inference import Row, infer, predict_unit, summary, tracked_units
from benchc.models.items import Item, refuse_open_questions
from benchc.models.predict import load_model
from benchc.models.prediction_cache import PredictionCache
from benchc.models.prediction_code import prediction_code
from benchc.models.predictor import Predictor
from benchc.models.question import Question
from benchc.models.registry import scorer_modules
from benchc.models.units import Unit
from benchc.schemas.parquet import TableType, write_table
from benchc.schemas.pool_images import QUESTION_COLUMNS, pool_digest
from scripts.inference_arguments import checkpoint_source, image_facts, image_source


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
    code = prediction_code(scorer_modules(arguments.family, arguments.scoring))
    source = checkpoint_source(arguments)
    if not Path(source.location).is_dir():
        require_cached(source.location, source.revision)
    scorer = load_model(source, arguments.family, arguments.scoring, arguments.threads)
    identity = prediction_identity(scorer, arguments.family, arguments.scoring)
    if identity["code"] != code:
        raise InputError("the code was edited while the model was loaded; run snakemake again")
    units = tracked_units(
        arguments.items,
        items,
        image_source(arguments),
        label=arguments.label or Path(arguments.location).name,
        severities=severities,
        ahead=arguments.device == "cuda",
    )
    with PredictionCache(arguments.cache, identity, arguments.shard) as cache:
        predictor = Predictor(scorer, cache)
        rows = infer(predictor, items, units, predict)
    print(summary(arguments.label or arguments.location, len(rows), predictor), file=sys.stderr)
    # But for adopted predictions, nothing depends on the cache: a resumed job writes the same bytes.
    footer = {
        **identity,
        **images,
        **({"label": arguments.label} if arguments.label else {}),
        "pool": pool_digest(arguments.items, QUESTION_COLUMNS),
        **(facts or {}),
        "predictions": len(rows),
        "oom_splits": predictor.oom_splits,
        **({"adopted": dict(predictor.adopted)} if predictor.adopted else {}),
    }
    write_table(pl.DataFrame(rows, schema=pl.Schema(table.columns)), arguments.output, table, footer)
