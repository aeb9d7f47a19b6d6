"""The dimensions of a tiny model."""

from dataclasses import dataclass
from typing import Any

from benchc.command_line import PositiveInt
from benchc.errors import InputError

IMAGE_SIDE = 48  # pixels: the input size of every tiny model
HEAD_WIDTH = 24
MAX_POSITIONS = 4096


@dataclass(frozen=True)
class TinySize:
    """Widths and depths of a model for square images.

    Raises InputError unless HEAD_WIDTH divides ``hidden`` and an image has an even number of patches a side.

    Attributes:
        hidden: width of all layers, a multiple of 24
        vision_layers: layers of the vision tower
        text_layers: layers of the language model
        patch: side of a patch in pixels: 1, 2, 3, 4, 6, 8, 12 or 24
        image_side: side of an image in pixels
    """

    hidden: PositiveInt
    vision_layers: PositiveInt
    text_layers: PositiveInt
    patch: PositiveInt
    image_side: PositiveInt = IMAGE_SIDE

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
