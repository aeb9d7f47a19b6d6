"""VQA heads of transformers, which have no chat template: they read a question about one image."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import torch

from benchc.models.chat import ChatModel
from benchc.models.protocol import ModelError
from benchc.pixels import Pixels


@dataclass
class VqaModel(ChatModel):
    """A VQA head."""

    has_template: ClassVar[bool] = False
    numbers_of_images: ClassVar[tuple[int, ...] | None] = (1,)

    def render(self, text: str, images: int) -> str:
        """Return ``text``."""
        return text

    def require_context(self, tokens: int) -> None:
        """Raise ModelError for a question of more tokens than the model reads."""
        limit = self.context()
        if limit is not None and tokens > limit:
            raise ModelError(
                f"{self.name}: the question has {tokens} tokens, but the model reads {limit} "
                f"({self.limited_by}); remove the item"
            )

    @property
    def limited_by(self) -> str:
        """What limits the tokens of a question."""
        return "max_position_embeddings in config.json"


@dataclass
class BlipModel(VqaModel):
    """BLIP's VQA head, which has a decoder of its own for the answer.

    It answers as `inference='generate'` of salesforce/BLIP at 056a169, models/blip_vqa.py: the question
    begins with [ENC] in place of [CLS], and the answer is the best of a beam search.
    """

    MOST_QUESTION_TOKENS: ClassVar[int] = 35
    MOST_ANSWER_TOKENS: ClassVar[int] = 9  # after the start token
    BEAMS: ClassVar[int] = 3
    VISION_EPSILON: ClassVar[float] = 1e-6  # of its layer norms, models/vit.py

    def __post_init__(self) -> None:
        if self._question_start >= self.model.config.text_config.vocab_size:
            raise ModelError(
                f"{self.name}: has no embedding of [ENC], token {self._question_start}, with which BLIP "
                "begins a question (see vocab_size); download the checkpoint again, or choose one with it"
            )
        # Converted checkpoints have the default of transformers, 1e-5.
        for module in self.model.vision_model.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.eps = self.VISION_EPSILON

    def encode(self, rendered: str, variants: Sequence[Sequence[Pixels]]) -> dict[str, Any]:
        """Return the model's input, in which the question begins with [ENC]."""
        inputs = super().encode(rendered, variants)
        ids = inputs["input_ids"].clone()
        ids[:, 0] = self._question_start
        return {**inputs, "input_ids": ids}

    @cached_property
    def _question_start(self) -> int:
        # BLIP adds [DEC] and [ENC] to BERT's tokenizer; those of converted checkpoints have neither.
        known: int | None = self.tokenizer.get_vocab().get("[ENC]")
        return self.model.config.text_config.bos_token_id + 1 if known is None else known

    def context(self) -> int | None:
        return self.MOST_QUESTION_TOKENS

    @property
    def limited_by(self) -> str:
        return "BLIP's code cuts it off"

    @property
    def decoder(self) -> Any:
        return self.model.text_decoder

    @property
    def end_tokens(self) -> list[int]:
        return [self.model.config.text_config.sep_token_id]

    def before_answer(self, inputs: Mapping[str, Any]) -> int:
        """Return 1: the decoder begins with a start token, and attends to the question."""
        return 1

    def search(self, most: int) -> dict[str, Any]:
        # The position embeddings are interpolated where `processor` sets another size than the checkpoint's.
        return {
            "max_new_tokens": min(most, self.MOST_ANSWER_TOKENS),
            "num_beams": self.BEAMS,
            "interpolate_pos_encoding": True,
        }

    def answer_tokens(self, output: Any, inputs: Mapping[str, Any]) -> Any:
        return output[:, 1:]  # after the decoder's start token


@dataclass
class ClosedListModel(VqaModel):
    """A VQA head that classifies: its answers are a closed list."""

    generates: ClassVar[bool] = False

    def __post_init__(self) -> None:
        config = self.model.config
        # transformers makes up labels for a config.json without any.
        if all(label == f"LABEL_{place}" for place, label in enumerate(self.labels)):
            raise ModelError(
                f"{self.name}: config.json does not name the answers of its classifier (id2label); "
                "download the checkpoint again, or choose one that was trained on answers"
            )
        if getattr(config, "max_image_length", -1) > 0:
            raise ModelError(
                f"{self.name}: draws {config.max_image_length} patches of a larger image at random "
                "(max_image_length in config.json); set it to -1 in a copy of the model"
            )

    @property
    def labels(self) -> list[str]:
        """The answers, in the order of the logits."""
        names = self.model.config.id2label
        return [str(names[place]) for place in range(len(names))]
