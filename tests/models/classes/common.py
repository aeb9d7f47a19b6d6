"""What the small random models of all classes share: questions, sizes, tokenizer, chat template."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tokenizers.processors import TemplateProcessing

from benchc.demo.tiny import processor
from benchc.demo.tiny.tokenizer import BOS, train_tokenizer
from benchc.models.question import Question
from benchc.pixels import Pixels


def variants(images: int = 1) -> list[list[Pixels]]:
    """Return three variants of some images.

    Of Qwen-VL's classes, an image has two rows of three tokens, and so fewer positions than tokens.
    """
    rng = np.random.default_rng(3)
    return [[rng.integers(0, 256, (64, 80, 3), dtype=np.uint8) for _ in range(images)] for _ in range(3)]


QUESTIONS = (
    Question("Which colour is the square?", ("red", "dark green", "blue")),
    Question(
        "How many dots are there?", ("1", "2", "three or four", "12"), hint="Count the black ones only."
    ),
    Question(
        "Is it a dog?", ("Yes", "No"), prompt="Is it a dog? Please answer yes or no.", labels=("Yes", "No")
    ),
)
PATCH = 8
SIDE = 32  # pixels of an image or tile
IMAGE_SETTINGS = {"image_mean": [0.5] * 3, "image_std": [0.5] * 3}


def tokenizer(special: Mapping[str, str], *more: str, questions: Sequence[Question] = QUESTIONS) -> Any:
    """Return a byte-level tokenizer that adds a BOS token.

    ``special``: special tokens by role; ``more``: without one; ``questions``: those whose options are tokens.
    """
    texts = [f" {text}" for question in questions for text in (*question.options, *"ABCD")]
    texts += [label for question in questions for label in question.labels]  # after a line break
    numbered = {f"more_{number}_token": token for number, token in enumerate(more)}
    found = train_tokenizer(texts * 20, {**special, **numbered})
    found.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"{BOS} $A", special_tokens=[(BOS, found.bos_token_id)]
    )
    return found


def chat_template(image: str) -> str:
    """Return that of the demo's models after a BOS token, which then comes from template and tokenizer."""
    return "{{ bos_token }}" + processor.chat_template(image)


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
