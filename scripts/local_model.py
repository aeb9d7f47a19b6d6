"""A model in the job's own process."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchc.errors import InputError
from benchc.models.hub_cache import require_cached
from benchc.models.identity import prediction_identity
from benchc.models.loaded import LoadedModel
from benchc.models.predict import load_model, predict
from benchc.models.prediction_code import prediction_code
from benchc.models.registry import scorer_modules
from scripts.inference_arguments import checkpoint_source


@contextmanager
def opened(arguments: argparse.Namespace) -> Iterator[LoadedModel]:
    """Load the checkpoint of the arguments of an inference job."""
    code = prediction_code(scorer_modules(arguments.family, arguments.scoring))
    source = checkpoint_source(arguments)
    if not Path(source.location).is_dir():
        require_cached(source.location, source.revision)
    scorer = load_model(source, arguments.family, arguments.scoring, arguments.threads)
    identity = prediction_identity(scorer, arguments.family, arguments.scoring)
    if identity["code"] != code:
        raise InputError("the code was edited while the model was loaded; run snakemake again")
    yield LoadedModel(scorer, identity, predict, at_once=1, ahead=arguments.device == "cuda")
