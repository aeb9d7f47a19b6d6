"""How a tiny model is trained. Imports no torch, since the rules use it, too."""

from dataclasses import dataclass
from typing import Literal

from benchc.command_line import NaturalInt, PositiveInt


@dataclass(frozen=True)
class TrainingSettings:
    """How to train.

    Attributes:
        scoring: how options are scored; text_mean is trained like text, and classify, answers from a closed
            list, is always and only of the family vilt
        text_share: fraction of a letter model's steps, at the start, that train on option texts, since its
            vision tower does not learn from letters alone
        steps: training steps
        batch: images per step
        learning_rate: of the weight matrices (Muon)
        noise: share of items with noise added, 0 to 1
        seed: of the weights, batches and noise
    """

    scoring: Literal["letter", "text", "text_mean", "classify"]
    text_share: float
    steps: PositiveInt
    batch: PositiveInt
    learning_rate: float
    noise: float
    seed: NaturalInt
