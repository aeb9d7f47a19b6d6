"""Load a model by the modules of its family and its scoring."""

import importlib

from benchc.models.generation import Generation
from benchc.models.local import Generative, Scorer
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.registry import CLASSIFY, GENERATE, VQASCORE, scorer_modules
from benchc.models.vqa import ClosedListModel


def load_scorer(family: str | None, scoring: str, source: CheckpointSource) -> Scorer:
    """Load a model and wrap it in its scoring."""
    family_name, scoring_name = scorer_modules(family, scoring)
    chat = importlib.import_module(family_name).load(source)
    if not chat.has_template:
        raise ModelError(
            f"{source.location}: {type(chat.model).__name__} scores no options; set `scoring: "
            f"{GENERATE if chat.generates else CLASSIFY}` in the model catalogue, and list the model only "
            "where open-ended questions are asked"
        )
    module = importlib.import_module(scoring_name)
    scorer: Scorer = (
        module.LetterScorer(chat)
        if scoring == "letter"
        else module.TextScorer(chat, length_normalised=scoring != "text", ended=scoring == VQASCORE)
    )
    return scorer


def load_generator(family: str | None, source: CheckpointSource, generation: Generation) -> Generative:
    """Load a model that answers in its own words."""
    family_name, name = scorer_modules(family, GENERATE)
    chat = importlib.import_module(family_name).load(source)
    if isinstance(chat, ClosedListModel):
        raise ModelError(
            f"{source.location}: {type(chat.model).__name__} answers from a closed list; set `scoring: "
            f"{CLASSIFY}` in the model catalogue"
        )
    if not chat.generates:
        raise ModelError(
            f"{source.location}: is loaded by code of its own, which answers in its own words only on a "
            "server (docs/models.md); remove the model from those that generate"
        )
    model: Generative = importlib.import_module(name).Generator(chat, generation)
    return model


def load_classifier(family: str | None, source: CheckpointSource) -> Generative:
    """Load a model that answers from a closed list."""
    family_name, name = scorer_modules(family, CLASSIFY)
    chat = importlib.import_module(family_name).load(source)
    if not isinstance(chat, ClosedListModel):
        raise ModelError(
            f"{source.location}: the model has no closed list of answers; choose another `scoring` than "
            f"{CLASSIFY} in the model catalogue"
        )
    model: Generative = importlib.import_module(name).Classifier(chat)
    return model
