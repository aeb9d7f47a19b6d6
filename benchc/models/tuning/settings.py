"""How a model is fine-tuned. Imports no torch, since the rules use it, too."""

from dataclasses import dataclass
from typing import Literal, get_args

from benchc.command_line import NaturalInt, PositiveInt
from benchc.models.asking import Scoring

Modality = Literal["images", "text"]
SCORINGS: tuple[str, ...] = get_args(Scoring)
ENVIRONMENT = "transformers"  # the one that has peft


@dataclass(frozen=True, kw_only=True)
class TuningSettings:
    """Low-rank adaptation (LoRA; Hu et al., 2022) of a model's linear layers.

    Attributes:
        epochs: passes over the examples
        batch: examples of a step
        learning_rate: of AdamW, at its highest
        rank: of the matrices that are learned
        alpha: their product counts alpha / rank times
        modules: names of the layers that are adapted; default: all linear layers but the language head
        seed: of the matrices and of the order of examples
    """

    epochs: PositiveInt
    batch: PositiveInt
    learning_rate: float
    rank: PositiveInt
    alpha: PositiveInt
    modules: tuple[str, ...] | None = None
    seed: NaturalInt


def obstacle(
    *, scoring: object, family: object, server: object, trust_remote_code: object, env: object
) -> str | None:
    """Return why a model of the catalogue cannot be tuned, from its keys; None if it can."""
    # Imported here because it imports numpy.
    from benchc.models.remote_code_families import OF_CHECKPOINT, OF_PACKAGE

    if server is not None:
        return "a server answers for it (server)"
    if trust_remote_code or family in (*OF_CHECKPOINT, *OF_PACKAGE):
        return "it is loaded by code of its own"
    if scoring not in SCORINGS:
        return f"it has no probabilities of options (scoring: {scoring})"
    if env != ENVIRONMENT:
        return f"peft is only in the environment {ENVIRONMENT} (env: {env})"
    return None
