"""Load a model for a job, and say what decides its predictions."""

from pathlib import Path

import torch

from benchc.closure import closure_digest, module_file
from benchc.errors import InputError
from benchc.models.protocol import ModelSource, Scorer
from benchc.models.registry import load_scorer, scorer_modules

ROOT = Path(__file__).resolve().parents[2]


def load_model(
    source: ModelSource, family: str, scoring: str, threads: int = 1
) -> tuple[Scorer, dict[str, str]]:
    """Return the scorer, and whatever decides its predictions besides prompt and pixels.

    ``family``: a model family (docs/models.md); ``scoring``: a key of ``SCORINGS``; ``threads``: of one
    forward pass. Sets the process's threads and deterministic algorithms of torch. Raises InputError where
    the model is to run on a GPU that torch does not find, or cannot be loaded.
    """
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True, warn_only=True)
    if source.device == "cuda" and not torch.cuda.is_available():
        raise InputError(
            f"{source.location}: this job was to have a GPU, but torch finds none; ask for a node that has "
            "one, or set `gpus: 0` in the model catalogue to read on the processor"
        )
    modules = scorer_modules(family, scoring)
    scorer = load_scorer(family, scoring, source)
    identity = {
        **scorer.identity(),
        "threads": str(threads),
        "scorer": closure_digest([module_file(module) for module in modules], ROOT),
    }
    return scorer, identity
