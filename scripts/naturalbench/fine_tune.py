"""Tune one model on the items of a subset, with their images or on the text alone."""

import importlib
from pathlib import Path
from typing import cast

from benchc.models.asking import AskedModel, Job, Scoring
from benchc.models.hub.offline import work_offline
from benchc.models.items import read_items, refuse_open_questions
from benchc.models.job import checkpoint_source
from benchc.models.label_prompt import LabelPrompt
from benchc.models.protocol import ModelError, NoTextOnlyError
from benchc.models.tuning.settings import Modality, TuningSettings
from benchc.transparency import Alpha


def fine_tune(
    *,
    model: AskedModel,
    scoring: Scoring,
    modality: Modality,
    tuning: TuningSettings,
    label_prompt: LabelPrompt | None = None,
    alpha: Alpha = "drop",
    job: Job | None = None,
    cache: Path = Path("results/models"),
    pool: Path,
    subset: Path | None = None,
    revision_file: Path | None = None,
    output: Path,
) -> None:
    """Tune one model on the right answers of items, with their images or on the text alone.

    What was learned is kept in the cache under a digest of all that decides it: a further run with the same
    model, items and settings learns nothing again. A killed job goes on after its last epoch.

    Args:
        scoring: how options are scored, whose prompts and answers are learned
        modality: whether the model is shown the images; without, none is read
        alpha: how transparency is handled
        cache: folder of what was learned, which runs share
        pool: pool/items.parquet
        subset: ids of the items; default: the whole pool
        revision_file: revisions/{model}.json with the commit of a model on the Hub
        output: folder of the tuned model to write, in the Hub's format
    """
    work_offline()
    items = read_items(pool, subset, label_prompt)
    refuse_open_questions(items)
    given = job or Job()
    source = checkpoint_source(model, given, revision_file)
    if model.device == "cuda":
        # By name, so that an edit of this check reruns no job.
        importlib.import_module("benchc.models.cards").take_cards(model.label, source)
    # Imported here because they import torch.
    from benchc.models.chat import ChatInterface
    from benchc.models.predict import load_model
    from benchc.models.tuning.examples import examples_of
    from benchc.models.tuning.tuned import identity_of_tuning, save_tuned, tune

    examples = examples_of(pool, items, scoring, modality)
    # A model in this process, as the configuration's checks ensure.
    scorer = cast(ChatInterface, load_model(source, model.family, scoring, model.threads))
    identity = identity_of_tuning(scorer, examples, tuning, family=model.family, scoring=scoring, alpha=alpha)
    label = f"{model.label} ({modality})"
    try:
        tune(scorer, examples, tuning, identity, cache=cache, label=label, alpha=alpha)
    except NoTextOnlyError as error:
        raise ModelError(
            f"{model.label}: {error}; remove text from fine_tuning.modality, or the model from "
            "fine_tuning.models"
        ) from error
    save_tuned(scorer, source, output)
