"""What every way of asking a model gives back, and what the pipeline needs to know of a loaded model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from benchc.errors import InputError
from benchc.models.question import Question

# One image: uint8[H, W, 3], RGB.
Image = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class ModelSource:
    """Where a model comes from and how it is held."""

    location: str  # a Hub id, or a folder in the Hub's form
    revision: str | None = None  # of the Hub id; None takes the newest
    dtype: str = "float32"  # float32 | bfloat16 | float16
    device: str = "cpu"  # cpu | cuda
    processor: Mapping[str, object] = field(default_factory=dict)  # image processor settings to override


class OptionScores(NamedTuple):
    """The answers of one model to one question under V variants of its images."""

    logits: npt.NDArray[np.float32]  # [V, K]; softmax over K gives the option probabilities
    label_mass: npt.NDArray[np.float32]  # [V], probability of the options in the whole vocabulary, in [0, 1]


class ModelError(InputError):
    """A model cannot be loaded, or cannot answer in the way that it was asked to."""


def require_options(question: Question) -> None:
    """Raise ModelError for an open question, which has no options to score."""
    if not question.options:
        raise ModelError(
            f"an open question has no options to score: {question.question[:80]!r}; leave it out of "
            "the subset"
        )


class Scorer(Protocol):
    """A loaded model together with the way its options are scored."""

    def identity(self) -> Mapping[str, str]:
        """Return whatever decides a prediction besides its prompt and pixels: revision, dtype, versions, …"""

    def prompt(self, question: Question, images: int) -> str:
        """Return the text that the model reads for a question with that many images.

        Raises ModelError for an open question.
        """

    def score(self, question: Question, variants: Sequence[Sequence[Image]]) -> OptionScores:
        """Score the options under each variant of the question's images in one forward pass.

        All variants hold the same number of images of the same sizes, so no row needs padding and no
        prediction depends on another item.
        """
