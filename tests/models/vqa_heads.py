"""Small VQA heads with random weights, saved like published ones."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers.processors import TemplateProcessing

from benchc.demo.tiny.tokenizer import BOS, EOS
from benchc.hugging_face import transformers
from tests.models.classes.common import PATCH, QUESTIONS, SIDE, SQUARE, images_of, tokenizer

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
    sizes = {"size": {"shortest_edge": SIDE}, "size_divisor": PATCH}
    processor = transformers.ViltProcessor(image_processor=images_of("Vilt", **sizes), tokenizer=tokens)
    return _saved(folder, _enlarged(model), processor)


BLIP_WORDS = ("how", "many", "dots", "are", "there", "black", "ones", "red", "two", "no", "##s", ".", "?")


def save_blip(folder: Path, words: Sequence[str] = BLIP_WORDS, **text: Any) -> Path:
    """Save a BLIP as its converted checkpoints: with BERT's tokenizer, which has neither [DEC] nor [ENC].

    ``words``: of the tokenizer; ``text`` overrides settings of its text model.
    """
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    tokens = transformers.BertTokenizer({word: place for place, word in enumerate(vocabulary)})
    settings = {
        "vocab_size": len(vocabulary) + 2,
        "encoder_hidden_size": SIZES["hidden_size"],
        "max_position_embeddings": MOST_TOKENS,
        "bos_token_id": len(vocabulary),
        "sep_token_id": tokens.sep_token_id,
        "pad_token_id": tokens.pad_token_id,
        **SIZES,
        **text,
    }
    torch.manual_seed(7)
    config = transformers.BlipConfig(
        text_config=settings,
        # The default is 1e-10, with which all images look the same.
        vision_config={"image_size": SIDE, "patch_size": PATCH, "initializer_range": 0.02, **SIZES},
    )
    processor = transformers.BlipProcessor(image_processor=images_of("Blip", size=SQUARE), tokenizer=tokens)
    model = _enlarged(transformers.BlipForQuestionAnswering(config))
    with torch.no_grad():
        # Some answers end.
        model.text_decoder.cls.predictions.bias[tokens.sep_token_id] += 1.5
    return _saved(folder, model, processor)


def _tokenizer() -> Any:
    tokens = tokenizer({}, questions=QUESTIONS[:2])
    ends = [(token, tokens.convert_tokens_to_ids(token)) for token in (BOS, EOS)]
    ended = TemplateProcessing(single=f"{BOS} $A {EOS}", special_tokens=ends)
    tokens.backend_tokenizer.post_processor = ended
    return tokens


def _enlarged(model: Any) -> Any:
    """Return ``model`` with larger weights: the initial ones give nearly the same answer to all."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if not parameter.any():
                parameter.normal_(std=0.3)
            else:
                parameter.mul_(3.0 if "embeddings" in name else 6.0)
    return model


def _saved(folder: Path, model: Any, processor: Any) -> Path:
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return folder
