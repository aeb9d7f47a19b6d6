"""Small VQA heads with random weights, saved like published ones."""

from pathlib import Path
from typing import Any

import torch
from tokenizers.processors import TemplateProcessing

from benchc.demo.tiny.tokenizer import BOS, EOS
from benchc.hugging_face import transformers
from tests.models.classes.common import IMAGE_SETTINGS, PATCH, QUESTIONS, SIDE, tokenizer

LABELS = ["red", "dark green", "2", "yes", "no", "left", "blue"]
SIZES = {"hidden_size": 48, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4}
MOST_TOKENS = 80


def save_vilt(folder: Path, **config: Any) -> Path:
    """Save a ViLT that keeps the aspect ratio of images; ``config`` overrides its settings."""
    tokens = _tokenizer()
    settings = {
        "vocab_size": len(tokens),
        "pad_token_id": tokens.pad_token_id,
        "max_position_embeddings": MOST_TOKENS,
        "image_size": SIDE,
        "patch_size": PATCH,
        "id2label": dict(enumerate(LABELS)),
        "label2id": {label: place for place, label in enumerate(LABELS)},
        **SIZES,
        **config,
    }
    torch.manual_seed(7)
    model = transformers.ViltForQuestionAnswering(transformers.ViltConfig(**settings))
    processor = transformers.ViltProcessor(
        image_processor=transformers.ViltImageProcessorPil(
            size={"shortest_edge": SIDE}, size_divisor=PATCH, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
    )
    return _saved(folder, model, processor)


def save_blip(folder: Path) -> Path:
    tokens = _tokenizer()
    text = {
        "vocab_size": len(tokens),
        "encoder_hidden_size": SIZES["hidden_size"],
        "max_position_embeddings": MOST_TOKENS,
        "bos_token_id": tokens.bos_token_id,
        "eos_token_id": tokens.eos_token_id,
        "sep_token_id": tokens.eos_token_id,
        "pad_token_id": tokens.pad_token_id,
        **SIZES,
    }
    torch.manual_seed(7)
    config = transformers.BlipConfig(
        text_config=text,
        # The default is 1e-10, with which all images look the same.
        vision_config={"image_size": SIDE, "patch_size": PATCH, "initializer_range": 0.02, **SIZES},
    )
    processor = transformers.BlipProcessor(
        image_processor=transformers.BlipImageProcessorPil(
            size={"height": SIDE, "width": SIDE}, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
    )
    return _saved(folder, transformers.BlipForQuestionAnswering(config), processor)


def _tokenizer() -> Any:
    tokens = tokenizer({}, questions=QUESTIONS[:2])
    ends = [(token, tokens.convert_tokens_to_ids(token)) for token in (BOS, EOS)]
    tokens.backend_tokenizer.post_processor = TemplateProcessing(
        single=f"{BOS} $A {EOS}", special_tokens=ends
    )
    return tokens


def _saved(folder: Path, model: Any, processor: Any) -> Path:
    # The initial weights give nearly the same answer to all; larger ones show every mistake.
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if not parameter.any():
                parameter.normal_(std=0.3)
            else:
                parameter.mul_(3.0 if "embeddings" in name else 6.0)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
