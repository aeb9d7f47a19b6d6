"""Load a model by the modules of its family and its scoring."""

import importlib

from benchc.models.generation import Generation
from benchc.models.local import Generative, Scorer
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.registry import GENERATE, scorer_modules


def load_scorer(family: str | None, scoring: str, source: CheckpointSource) -> Scorer:
    """Load a model and wrap it in its scoring."""
    family_name, scoring_name = scorer_modules(family, scoring)
    chat = importlib.import_module(family_name).load(source)
    module = importlib.import_module(scoring_name)
    scorer: Scorer = (
        module.LetterScorer(chat)
        if scoring == "letter"
        else module.TextScorer(chat, length_normalised=scoring == "text_mean")
    )
    return scorer


def load_generator(family: str | None, source: CheckpointSource, generation: Generation) -> Generative:
    """Load a model that answers in its own words."""
    family_name, name = scorer_modules(family, GENERATE)
    chat = importlib.import_module(family_name).load(source)
    if not chat.generates:
        raise ModelError(
            f"{source.location}: is loaded by code of its own, which answers in its own words only on a "
            "server (docs/models.md); remove the model from those that generate"
        )
    model: Generative = importlib.import_module(name).Generator(chat, generation)
    return model
