"""A model that is ready to predict, wherever it runs."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from benchc.models.protocol import OptionScores, Scorer
from benchc.models.question import Question
from benchc.pixels import Pixels

# Returns the scores of a unit, and whether it was split to fit into the device's memory.
Compute = Callable[[Scorer, Question, Sequence[Sequence[Pixels]]], tuple[OptionScores, bool]]


class LoadedModel(NamedTuple):
    """A scorer and all that decides its predictions.

    ``at_once``: the units to predict at once, in threads if more than one. ``ahead``: whether images are
    loaded while the model runs.
    """

    scorer: Scorer
    identity: Mapping[str, str]
    compute: Compute
    at_once: int
    ahead: bool
