"""Predict with one model on questions without their images."""

import sys
from pathlib import Path

import polars as pl

from benchc.models.asking import AskedModel, ImageSubstitute, Job, Scoring
from benchc.models.hub.offline import work_offline
from benchc.models.inference import prediction_rows
from benchc.models.items import read_items, refuse_open_questions
from benchc.models.job import run_inference
from benchc.models.label_prompt import LabelPrompt
from benchc.models.predictor import Predictor
from benchc.models.protocol import NoTextOnlyError
from benchc.schemas.parquet import write_table
from benchc.schemas.predictions import PREDICTIONS, UnavailableFooter


def infer_without_images(
    *,
    model: AskedModel,
    scoring: Scoring,
    substitute: ImageSubstitute,
    label_prompt: LabelPrompt | None = None,
    job: Job | None = None,
    pool: Path,
    subset: Path | None = None,
    revision_file: Path | None = None,
    output: Path,
) -> None:
    """Predict with one model on each question alone, or with a grey image: the prior of post-hoc debiasing.

    Predictions are cached as those of infer are. Of a model that reads no question without an image, the
    table has no rows, and its footer says why.

    Args:
        scoring: how options are scored
        substitute: what is shown in place of the images, which is called the corruption
        pool: pool/items.parquet
        subset: subsets/questions.parquet: one item of each question
        revision_file: revisions/{model}.json with the commit of a model on the Hub
        output: predictions/questions/{model}/{substitute}.parquet to write
    """
    work_offline()
    items = read_items(pool, subset, label_prompt)
    refuse_open_questions(items)
    try:
        run_inference(
            model,
            scoring,
            job or Job(),
            pool,
            items,
            PREDICTIONS,
            Predictor,
            prediction_rows,
            output,
            revision_file=revision_file,
            substitute=substitute,
        )
    except NoTextOnlyError as error:
        # Whatever needs these predictions says why there are none.
        print(f"{model.label}: no predictions: {error}", file=sys.stderr)
        empty = pl.DataFrame(schema=pl.Schema(PREDICTIONS.columns))
        footer = UnavailableFooter(label=model.label, unavailable=str(error))
        write_table(empty, output, PREDICTIONS, footer)
