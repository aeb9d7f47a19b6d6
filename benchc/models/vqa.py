"""VQA heads of transformers, which have no chat template: they read a question about one image."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from benchc.models.chat import ChatModel
from benchc.models.protocol import ModelError
from benchc.pixels import Pixels


@dataclass
class VqaModel(ChatModel):
    """A VQA head with a decoder of its own for the answer, such as BLIP's."""

    has_template: ClassVar[bool] = False

    def render(self, text: str, images: int) -> str:
        """Return ``text``."""
        return text

    def encode(self, rendered: str, variants: Sequence[Sequence[Pixels]]) -> dict[str, Any]:
        """Return the model's input as a chat model does. Raises ModelError unless there is one image."""
        images = len(variants[0])
        if images != 1:
            raise ModelError(
                f"{self.name}: {type(self.model).__name__} reads one image, but the item has {images}; "
                "remove such items, or this model"
            )
        return super().encode(rendered, variants)

    def require_context(self, tokens: int) -> None:
        """Raise ModelError for a question of more tokens than the model reads."""
        limit = self.context()
        if limit is not None and tokens > limit:
            raise ModelError(
                f"{self.name}: the question has {tokens} tokens, but the model reads {limit} "
                "(max_position_embeddings in config.json); remove the item"
            )

    @property
    def decoder(self) -> Any:
        return getattr(self.model, "text_decoder", self.model)

    @property
    def end_tokens(self) -> list[int]:
        return [self.model.config.get_text_config().sep_token_id]

    def before_answer(self, inputs: Mapping[str, Any]) -> int:
        """Return 1: the decoder begins with a start token, and attends to the question."""
        return 1


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
