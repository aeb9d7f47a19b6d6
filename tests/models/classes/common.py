"""What the small random models of all classes share: questions, sizes, tokenizer, chat template."""

from collections.abc import Mapping
from typing import Any

from benchc.demo.tiny.tokenizer import train_tokenizer
from benchc.models.question import Question

QUESTIONS = (
    Question("Which colour is the square?", ("red", "dark green", "blue")),
    Question(
        "How many dots are there?", ("1", "2", "three or four", "12"), hint="Count the black ones only."
    ),
)
PATCH = 8
SIDE = 32  # pixels of an image or tile
IMAGE_SETTINGS = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}


def tokenizer(special: Mapping[str, str], *more: str) -> Any:
    """Return a byte-level tokenizer. ``special``: special tokens by role; ``more``: without one."""
    texts = [f" {text}" for question in QUESTIONS[:2] for text in (*question.options, *"ABCD")] * 20
    numbered = {f"more_{number}_token": token for number, token in enumerate(more)}
    return train_tokenizer(texts, {**special, **numbered})


def text_sizes(tokenizer: Any) -> dict[str, Any]:
    """Return the sizes in a text model's configuration: four heads of width 16, two of keys and values."""
    return {
        "vocab_size": len(tokenizer),
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 2048,
        **{f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in ("bos", "eos", "pad")},
    }


VISION_SIZES = {"hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4}
