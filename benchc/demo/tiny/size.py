"""The dimensions of a tiny model."""

from dataclasses import dataclass

HEAD_WIDTH = 24
MAX_POSITIONS = 4096


@dataclass(frozen=True)
class TinySize:
    """Widths and depths of a model for square pictures of ``picture_side`` pixels.

    Raises ValueError where HEAD_WIDTH does not divide ``hidden`` or ``patch`` the pictures' side.
    """

    hidden: int
    vision_layers: int
    text_layers: int
    patch: int
    picture_side: int

    def __post_init__(self) -> None:
        if self.hidden % HEAD_WIDTH:
            raise ValueError(f"hidden is {self.hidden}; choose a multiple of {HEAD_WIDTH}")
        if self.picture_side % self.patch:
            raise ValueError(f"patch is {self.patch}; choose a divisor of {self.picture_side}")

    @property
    def heads(self) -> int:
        """Attention heads."""
        return self.hidden // HEAD_WIDTH

    @property
    def patches(self) -> int:
        """Patches of a picture."""
        return (self.picture_side // self.patch) ** 2

    def text_sizes(self) -> dict[str, int]:
        """Return the part of a text model's configuration that depends on the size."""
        return {
            "hidden_size": self.hidden,
            "intermediate_size": 2 * self.hidden,
            "num_hidden_layers": self.text_layers,
            "num_attention_heads": self.heads,
            "num_key_value_heads": self.heads,
            "max_position_embeddings": MAX_POSITIONS,
        }

    def vision_sizes(self) -> dict[str, int]:
        """Return the part of a vision model's configuration that depends on the size."""
        return {
            "hidden_size": self.hidden,
            "intermediate_size": 2 * self.hidden,
            "num_hidden_layers": self.vision_layers,
            "num_attention_heads": self.heads,
        }
