"""The interface of a model in this process: encoding, on the host, and asking, on the device, are apart."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from benchc.models import protocol
from benchc.models.encoding import Encoded
from benchc.models.protocol import OptionScores, Reply
from benchc.models.question import Question
from benchc.pixels import Pixels

Numbers = npt.NDArray[np.float32]


class ModelInterface(protocol.ModelInterface, Protocol):
    """A loaded model that is asked in one way.

    ``encodes_on_host``: whether encoding needs no device, so that another process may do it; ``one_by_one``:
    whether it is asked about each variant alone, since its numbers depend on the others.
    """

    one_by_one: bool

    @property
    def encodes_on_host(self) -> bool: ...

    def encode(self, question: Question, variants: Sequence[Sequence[Pixels]]) -> Encoded:
        """Return variants of a question's images as input of the model.

        All have the same number of images of the same sizes, so that no row needs padding.
        """

    def numbers(self, question: Question, encoded: Encoded) -> Numbers:
        """Return what decides the result under each variant, [V, n], before anything is chosen by it."""


class Scorer(ModelInterface, protocol.Scorer, Protocol):
    """A loaded model with a scoring of options."""

    def ask(self, question: Question, encoded: Encoded) -> OptionScores:
        """Score the options under each variant in one forward pass."""


class Generative(ModelInterface, protocol.Generative, Protocol):
    """A loaded model that answers in its own words."""

    def ask(self, question: Question, encoded: Encoded) -> list[Reply]:
        """Return the answer under each variant, generated as one batch."""
