"""The dimensions of a tiny model."""

from dataclasses import dataclass
from typing import Any

from benchc.errors import InputError

HEAD_WIDTH = 24
MAX_POSITIONS = 4096


@dataclass(frozen=True)
class TinySize:
    """Widths and depths of a model for square images of ``image_side`` pixels.

    Raises InputError unless HEAD_WIDTH divides ``hidden`` and an image has an even number of patches a side.
    """

    hidden: int
    vision_layers: int
    text_layers: int
    patch: int
    image_side: int

    def __post_init__(self) -> None:
        if self.hidden % HEAD_WIDTH:
            raise InputError(f"hidden is {self.hidden}; choose a multiple of {HEAD_WIDTH}")
        # Two families merge patches two by two.
        if self.image_side % (2 * self.patch):
            raise InputError(f"patch is {self.patch}; choose a divisor of {self.image_side // 2}")

    @property
    def heads(self) -> int:
        """Attention heads."""
        return self.hidden // HEAD_WIDTH

    @property
    def patches(self) -> int:
        """Patches of an image."""
        return (self.image_side // self.patch) ** 2

    def text_config(self, tokenizer: Any) -> dict[str, int]:
        """Return the configuration of a text model with this tokenizer."""
        return {
            "vocab_size": len(tokenizer),
            "bos_token_id": tokenizer.bos_token_id,
            "eos_token_id": tokenizer.eos_token_id,
            "pad_token_id": tokenizer.pad_token_id,
            "hidden_size": self.hidden,
            "intermediate_size": 2 * self.hidden,
            "num_hidden_layers": self.text_layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.heads,
            "max_position_embeddings": MAX_POSITIONS,
        }

    def vision_sizes(self) -> dict[str, int]:
        """Return the sizes in a vision model's configuration."""
        return {
            "hidden_size": self.hidden,
            "intermediate_size": 2 * self.hidden,
            "num_hidden_layers": self.vision_layers,
            "num_attention_heads": self.heads,
        }
