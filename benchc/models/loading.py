"""Load a model for a job, together with the identity of its predictions."""

from pathlib import Path

import torch

from benchc.closure import closure_digest, module_file
from benchc.errors import InputError
from benchc.models.protocol import CheckpointSource, Scorer
from benchc.models.registry import load_scorer, scorer_modules

ROOT = Path(__file__).resolve().parents[2]


def load_model(
    source: CheckpointSource, family: str, scoring: str, threads: int = 1
) -> tuple[Scorer, dict[str, str]]:
    """Return the scorer, and all that decides its predictions besides prompt and pixels.

    Sets torch's number of threads and deterministic algorithms for the process.

    Args:
        source: the checkpoint.
        family: a model family (docs/models.md).
        scoring: a key of ``SCORINGS``.
        threads: threads of a forward pass.

    Raises InputError where torch finds no GPU for the model, or where the model cannot be loaded.
    """
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True, warn_only=True)
    if source.device == "cuda" and not torch.cuda.is_available():
        raise InputError(
            f"{source.location}: the job needs a GPU, but torch finds none; request a node with one, or set "
            "`gpus: 0` in the model catalogue to run on the CPU"
        )
    modules = scorer_modules(family, scoring)
    scorer = load_scorer(family, scoring, source)
    identity = {
        **scorer.identity(),
        "threads": str(threads),
        "scorer": closure_digest([module_file(module) for module in modules], ROOT),
    }
    return scorer, identity
