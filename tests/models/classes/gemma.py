"""Gemma 3 and 4, whose image tokens see each other, and PaliGemma, whose whole prompt does."""

from typing import Any

from benchc.hugging_face import transformers
from tests.models.classes.common import (
    IMAGE_SETTINGS,
    PATCH,
    SIDE,
    VISION_SIZES,
    chat_template,
    text_sizes,
    tokenizer,
)

SQUARE = {"height": SIDE, "width": SIDE}
PATCHES = (SIDE // PATCH) ** 2
LAYERS = ["sliding_attention", "full_attention"]


def gemma3() -> tuple[Any, Any]:
    special = {
        "boi_token": "<start_of_image>",
        "eoi_token": "<end_of_image>",
        "image_token": "<image_soft_token>",
    }
    tokens = tokenizer(special)
    config = transformers.Gemma3Config(
        text_config={
            **text_sizes(tokens),
            "head_dim": 16,
            "query_pre_attn_scalar": 16,
            "layer_types": LAYERS,
            # Shorter than the prompts.
            "sliding_window": 24,
        },
        vision_config={
            "model_type": "siglip_vision_model",
            "image_size": SIDE,
            "patch_size": PATCH,
            "vision_use_head": False,
            **VISION_SIZES,
        },
        mm_tokens_per_image=PATCHES // 4,
        boi_token_index=tokens.boi_token_id,
        eoi_token_index=tokens.eoi_token_id,
        image_token_index=tokens.image_token_id,
    )
    processor = transformers.Gemma3Processor(
        image_processor=transformers.Gemma3ImageProcessorPil(size=SQUARE, **IMAGE_SETTINGS),
        tokenizer=tokens,
        image_seq_length=PATCHES // 4,
        chat_template=chat_template("<start_of_image>"),
    )
    return transformers.Gemma3ForConditionalGeneration(config), processor


def gemma4() -> tuple[Any, Any]:
    special = {
        "boi_token": "<|image>",
        "eoi_token": "<image|>",
        "image_token": "<|image|>",
        "boa_token": "<|audio>",
        "eoa_token": "<audio|>",
        "audio_token": "<|audio|>",
    }
    tokens = tokenizer(special, "<|video|>")
    config = transformers.Gemma4Config(
        text_config={
            **text_sizes(tokens),
            "num_hidden_layers": 4,
            "head_dim": 16,
            "global_head_dim": 16,
            "layer_types": 2 * LAYERS,
            "num_kv_shared_layers": 2,
            "sliding_window": 24,
            "vocab_size_per_layer_input": len(tokens),
            "hidden_size_per_layer_input": 8,
            "use_bidirectional_attention": "vision",
            "final_logit_softcapping": 1.0,
        },
        vision_config={
            **VISION_SIZES,
            "num_key_value_heads": 4,
            "head_dim": 12,
            "patch_size": 4,
            "pooling_kernel_size": 2,
            "position_embedding_size": 64,
        },
        audio_config=None,
        boi_token_id=tokens.boi_token_id,
        eoi_token_id=tokens.eoi_token_id,
        image_token_id=tokens.image_token_id,
        video_token_id=tokens.convert_tokens_to_ids("<|video|>"),
        boa_token_id=tokens.boa_token_id,
        eoa_token_index=tokens.eoa_token_id,
        audio_token_id=tokens.audio_token_id,
    )
    settings = {"patch_size": 4, "max_soft_tokens": 70, "pooling_kernel_size": 2}
    processor = transformers.Gemma4Processor(
        feature_extractor=transformers.Gemma4AudioFeatureExtractor(),
        image_processor=transformers.Gemma4ImageProcessorPil(**settings),
        tokenizer=tokens,
        video_processor=transformers.Gemma4VideoProcessor(),
        chat_template=chat_template("<|image|>"),
        image_seq_length=70,
    )
    return transformers.Gemma4ForConditionalGeneration(config), processor


def gemma3n() -> tuple[Any, Any]:
    special = {
        "boi_token": "<start_of_image>",
        "eoi_token": "<end_of_image>",
        "image_token": "<image_soft_token>",
        "boa_token": "<start_of_audio>",
        "eoa_token": "<end_of_audio>",
        "audio_token": "<audio_soft_token>",
    }
    tokens = tokenizer(special)
    side = 4  # features of an image
    config = transformers.Gemma3nConfig(
        text_config={
            **text_sizes(tokens),
            "num_hidden_layers": 4,
            "intermediate_size": [96] * 4,
            "activation_sparsity_pattern": [0.5, 0.0, 0.0, 0.0],
            "head_dim": 16,
            "layer_types": 2 * LAYERS,
            "num_kv_shared_layers": 2,
            "sliding_window": 24,
            "vocab_size_per_layer_input": len(tokens),
            "hidden_size_per_layer_input": 8,
            "altup_num_inputs": 2,
            "laurel_rank": 4,
        },
        vision_config={
            "model_args": {"channel_multiplier": 0.05, "msfa_output_resolution": side},
            "vocab_offset": len(tokens),
            "vocab_size": 8,
        },
        audio_config={
            "hidden_size": 16,
            "conf_num_attention_heads": 2,
            "conf_num_hidden_layers": 1,
            "sscp_conv_channel_size": [4, 4],
            "vocab_offset": len(tokens) + 8,
            "vocab_size": 8,
        },
        vision_soft_tokens_per_image=side * side,
        boi_token_id=tokens.boi_token_id,
        eoi_token_id=tokens.eoi_token_id,
        image_token_id=tokens.image_token_id,
        boa_token_id=tokens.boa_token_id,
        eoa_token_id=tokens.eoa_token_id,
        audio_token_id=tokens.audio_token_id,
    )
    processor = transformers.Gemma3nProcessor(
        feature_extractor=transformers.Gemma3nAudioFeatureExtractor(),
        image_processor=transformers.SiglipImageProcessorPil(
            size={"height": 2 * SIDE, "width": 2 * SIDE}, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        chat_template=chat_template("<image_soft_token>"),
        image_seq_length=side * side,
    )
    return transformers.Gemma3nForConditionalGeneration(config), processor


def paligemma() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image>"})
    processor = transformers.PaliGemmaProcessor(
        image_processor=transformers.SiglipImageProcessorPil(
            size=SQUARE, image_seq_length=PATCHES, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
    )
    config = transformers.PaliGemmaConfig(
        # The processor adds tokens for places and segments.
        text_config={"model_type": "gemma", **text_sizes(tokens), "head_dim": 16},
        vision_config={
            "model_type": "siglip_vision_model",
            "image_size": SIDE,
            "patch_size": PATCH,
            "vision_use_head": False,
            "projection_dim": 64,
            **VISION_SIZES,
        },
        image_token_index=tokens.image_token_id,
        projection_dim=64,
        hidden_size=64,
    )
    return transformers.PaliGemmaForConditionalGeneration(config), processor
