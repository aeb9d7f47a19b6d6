"""What the small random models of all classes share: questions, sizes, tokenizer, chat template."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tokenizers.processors import TemplateProcessing

from benchc.demo.tiny import processor
from benchc.demo.tiny.tokenizer import BOS, train_tokenizer
from benchc.hugging_face import transformers
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
    Question("How many dots are there?", ("1", "2", "three or four", "12"), hint="Count the black ones."),
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


def text_sizes(tokenizer: Any, model_type: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a text model's configuration: four heads of width 16, two of keys and values, and ``more``."""
    sizes = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 2048}
    named = {} if model_type is None else {"model_type": model_type}
    ends = ids(tokenizer, "bos", "eos", "pad")
    return {**named, "vocab_size": len(tokenizer), **sizes, **heads, **ends, **more}


def ids(tokenizer: Any, *roles: str, ending: str = "token_id") -> dict[str, int]:
    """Return settings such as ``image_token_id`` of the tokens with these roles."""
    return {f"{role}_{ending}": getattr(tokenizer, f"{role}_token_id") for role in roles}


def positions(*section: int, **more: Any) -> dict[str, Any]:
    """Return rope_parameters, in three dimensions if ``section`` says so."""
    rope = {"rope_type": "default", "rope_theta": 10_000.0, **more}
    return rope | {"mrope_section": [*section]} if section else rope


def images_of(name: str, ending: str = "Pil", **settings: Any) -> Any:
    """Return an image processor."""
    return getattr(transformers, f"{name}ImageProcessor{ending}")(**settings, **IMAGE_SETTINGS)


def built(
    name: str, config: dict[str, Any], images: Any, tokens: Any, image: str | None, **settings: Any
) -> tuple[Any, Any]:
    """Return a model and its processor.

    ``images``: the image processor; ``image``: what the chat template has in place of an image, None without
    a template; ``settings``: the processor's, and ``processor``, the name of one of another class.
    """
    settings |= {} if image is None else {"chat_template": chat_template(image)}
    kind = getattr(transformers, f"{settings.pop('processor', name)}Processor")
    made = kind(image_processor=images, tokenizer=tokens, **settings)
    ending = "CausalLM" if name in ("Phi4Multimodal", "Fuyu") else "ConditionalGeneration"
    config_of = getattr(transformers, f"{name}Config")
    return getattr(transformers, f"{name}For{ending}")(config_of(**config)), made


VISION_SIZES = {"hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4}
PATCHED = {"image_size": SIDE, "patch_size": PATCH, **VISION_SIZES}
CLIP = {"model_type": "clip_vision_model", "projection_dim": 48, **PATCHED}
SIGLIP = {"model_type": "siglip_vision_model", **PATCHED}
HEADLESS = {**SIGLIP, "vision_use_head": False}
SQUARE = {"height": SIDE, "width": SIDE}
PATCHES = (SIDE // PATCH) ** 2
# Parts of other configurations; the window is shorter than the prompts.
LINEAR = {
    "head_dim": 16,
    "layer_types": ["linear_attention", "full_attention"],
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 16,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
}
VECTORS = {"embed_dim": 4, "latent_channels": 4, "base_channels": 32, "channel_multiplier": [1, 1, 1, 1]}
SLIDING = {"layer_types": ["sliding_attention", "full_attention"], "sliding_window": 24}
