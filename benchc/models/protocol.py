"""The interface between a loaded model and the pipeline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from benchc.errors import InputError
from benchc.finish import Finish
from benchc.models.attentions import Attention
from benchc.models.image_backends import ImageBackend
from benchc.models.question import Question
from benchc.pixels import Pixels


@dataclass(frozen=True)
class CheckpointSource:
    """A checkpoint, and how to load it."""

    location: str  # a Hub id, or a folder with the same files
    revision: str | None = None  # commit, tag or branch; None is the default branch
    dtype: str = "float32"  # float32 | bfloat16 | float16
    device: str = "cpu"  # cpu | cuda
    processor: Mapping[str, object] = field(default_factory=dict)  # image processor settings to override
    family: str | None = None  # checkpoints of other model types are refused; None accepts any
    trust_remote_code: bool = False  # run Python files of the checkpoint
    auto_class: str | None = None  # an Auto class of transformers; None is the first that fits
    image_backend: ImageBackend = "pil"  # the library of the image processor
    compile: bool = False  # compile the model's blocks by torch.compile
    gpus: int = 1  # among which a model on cuda is divided
    system_prompt: str | None = None  # text of the system message before each question
    chat_template: str | None = None  # in place of the checkpoint's; None is that one
    attention: Attention | None = None  # None is that of the class
    # A folder or Hub id of peft, which is merged; NO_ADAPTER where the model is used alone. None: no word.
    adapter: str | None = None
    adapter_revision: str | None = None  # as ``revision``


Variants = Sequence[Sequence[Pixels]]  # of the images of an item


class UnitInput(NamedTuple):
    """What a model is asked about: variants of a question's images.

    ``groups``: the same as input of the model (:class:`benchc.models.encoding.VariantGroup`), where it is
    encoded.
    """

    variants: Variants
    groups: Sequence[Any] | None = None


class OptionScores(NamedTuple):
    """The scores of a question's K options under V variants of its images."""

    logits: npt.NDArray[np.float32]  # [V, K]; softmax over K gives the option probabilities
    label_mass: npt.NDArray[np.float32]  # [V], total probability of the options' letters or texts, in [0, 1]


class Reply(NamedTuple):
    """A generated answer."""

    text: str  # without special tokens
    finish: Finish
    tokens: int  # generated ones; the one that ends the answer counts


class ModelError(InputError):
    """A model cannot be loaded, or does not support what it is asked for."""


class NoTextOnlyError(ModelError):
    """A model does not take a prompt without an image."""


def require_options(question: Question) -> None:
    """Raise ModelError for an open-ended question, which has no options to score."""
    if not question.options:
        raise ModelError(
            f"an open-ended question has no options to score: {question.question[:80]!r}; remove it from "
            "the subset"
        )


class ModelInterface(Protocol):
    """A loaded model that is asked in one way."""

    def identity(self) -> Mapping[str, str]:
        """Return all that decides what it returns besides prompt and pixels: revision, dtype, versions, …"""

    def prompt(self, question: Question, images: int) -> str:
        """Return the rendered prompt of a question with that many images."""


class Scorer(ModelInterface, Protocol):
    """A loaded model with a scoring of options. ``prompt`` raises ModelError for an open-ended question."""

    def score(self, question: Question, variants: Sequence[Sequence[Pixels]]) -> OptionScores:
        """Score the options under each variant of the question's images in one forward pass.

        All variants must have the same number of images of the same sizes, so that no row needs padding.
        """


class Generative(ModelInterface, Protocol):
    """A loaded model that answers in its own words."""

    def replies(self, question: Question, variants: Sequence[Sequence[Pixels]]) -> list[Reply]:
        """Return the answer under each variant of the question's images; sizes as for ``Scorer.score``."""
