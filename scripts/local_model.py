"""A model in the job's own process."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchc.errors import InputError
from benchc.models.hub_cache import require_cached
from benchc.models.identity import prediction_identity
from benchc.models.loaded import LoadedModel
from benchc.models.predict import answer, load_generative, load_model, predict
from benchc.models.prediction_code import prediction_code
from benchc.models.registry import GENERATE, scorer_modules
from scripts.inference_arguments import checkpoint_source, generation


@contextmanager
def opened(arguments: argparse.Namespace) -> Iterator[LoadedModel[Any, Any]]:
    """Load the checkpoint of the arguments of an inference job."""
    family, scoring, threads = arguments.family, arguments.scoring, arguments.threads
    code = prediction_code(scorer_modules(family, scoring))
    source = checkpoint_source(arguments)
    if not Path(source.location).is_dir():
        require_cached(source.location, source.revision)
    model = (
        load_generative(source, family, generation(arguments), threads)
        if scoring == GENERATE
        else load_model(source, family, scoring, threads)
    )
    identity = prediction_identity(model, family, scoring)
    if identity["code"] != code:
        raise InputError("the code was edited while the model was loaded; run snakemake again")
    compute = answer if scoring == GENERATE else predict
    yield LoadedModel(model, identity, compute, at_once=1, ahead=arguments.device == "cuda")
