"""A model in the job's own process."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benchc.errors import InputError
from benchc.models.asking import Answering, AskedModel, Scoring
from benchc.models.generation import Generation
from benchc.models.hub.cached import require_cached
from benchc.models.identity import prediction_identity
from benchc.models.loaded import LoadedModel
from benchc.models.predict import (
    Passes,
    answer_units,
    load_classifying,
    load_generative,
    load_model,
    predict_units,
)
from benchc.models.prediction_code import prediction_code
from benchc.models.protocol import CheckpointSource
from benchc.models.registry import ANSWERING, CLASSIFY, scorer_modules


@contextmanager
def opened(
    asked: AskedModel, source: CheckpointSource, scoring: Scoring | Answering, generation: Generation | None
) -> Iterator[LoadedModel[Any, Any]]:
    """Load the checkpoint of an inference job; ``generation``: where the scoring is ``generate``."""
    family, threads = asked.family, asked.threads
    code = prediction_code(scorer_modules(family, scoring))
    if not Path(source.location).is_dir():
        require_cached(source.location, source.revision)
    model: Any
    if generation is not None:
        model = load_generative(source, family, generation, threads)
    elif scoring == CLASSIFY:
        model = load_classifying(source, family, threads)
    else:
        model = load_model(source, family, scoring, threads)
    identity = prediction_identity(model, family, scoring)
    if identity["code"] != code:
        raise InputError("the code was edited while the model was loaded; run snakemake again")
    together = asked.units_together
    if together != "never":
        # The last bits depend on the units that pass together, or may, after the passes that are checked.
        identity["units_together"] = together
    passes = Passes(together)
    compute = partial(answer_units if scoring in ANSWERING else predict_units, passes=passes)
    yield LoadedModel(
        model,
        identity,
        compute,
        at_once=1,
        prefetches=asked.device == "cuda",
        encodes=model.encodes_on_host,
        together=together,
    )
    if together == "if_equal":
        text = (
            f"units passed one by one after pass {passes.checked:,}, whose bits differ if they pass together"
            if passes.differ
            else f"units passed together; in the {passes.checked:,} passes that were checked, no bit differs"
        )
        print(f"{asked.label}: {text} (`units_together`)", file=sys.stderr)
