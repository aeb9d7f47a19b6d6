"""Classes of other kinds: image tokens of a codebook, a causal language model, linear attention."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

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


def emu3() -> tuple[Any, Any]:
    codes = [f"<|visual token {number:06}|>" for number in range(16)]
    tokens = tokenizer(
        {
            "image_token": "<image>",
            "boi_token": "<|image start|>",
            "eoi_token": "<|image end|>",
            "image_wrapper_token": "<|image token|>",
            "eof_token": "<|extra_201|>",
        },
        "<|extra_200|>",
        *codes,
    )
    config = transformers.Emu3Config(
        vq_config={
            "codebook_size": len(codes),
            "embed_dim": 4,
            "latent_channels": 4,
            "base_channels": 32,
            "channel_multiplier": [1, 1, 1, 1],
            "num_res_blocks": 1,
            "attn_resolutions": [],
            "hidden_size": 32,
        },
        text_config=text_sizes(tokens),
        vocabulary_map=tokens.get_vocab(),
    )
    processor = transformers.Emu3Processor(
        image_processor=transformers.Emu3ImageProcessor(min_pixels=SIDE * SIDE, max_pixels=4 * SIDE * SIDE),
        tokenizer=tokens,
        chat_template=chat_template("<image>"),
    )
    return transformers.Emu3ForConditionalGeneration(config), processor


def mllama() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<|image|>"}, "<|python_tag|>")
    text = text_sizes(tokens)
    config = transformers.MllamaConfig(
        vision_config={
            "hidden_size": 48,
            "intermediate_size": 96,
            "num_hidden_layers": 2,
            "num_global_layers": 1,
            "attention_heads": 4,
            "image_size": SIDE,
            "patch_size": PATCH,
            "vision_output_dim": 96,
            "max_num_tiles": 4,
            "intermediate_layers_indices": [0],
            "supported_aspect_ratios": [[1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1], [4, 1]],
        },
        text_config={
            **text,
            "cross_attention_layers": [1],
            "rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0},
        },
        image_token_index=tokens.image_token_id,
    )
    processor = transformers.MllamaProcessor(
        image_processor=transformers.MllamaImageProcessorPil(
            size=SQUARE, max_image_tiles=4, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        # Images must follow each other: text sees only those right before it.
        chat_template=chat_template("<|image|>").replace("<|image|>\n", "<|image|>"),
    )
    return transformers.MllamaForConditionalGeneration(config), processor


def phi4_multimodal() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<|image|>", "audio_token": "<|audio|>"})
    config = transformers.Phi4MultimodalConfig(
        **text_sizes(tokens),
        vision_config={
            # The processor counts the tokens of an image for these sizes.
            "image_size": 448,
            "crop_size": 448,
            "patch_size": 14,
            "image_token_id": tokens.image_token_id,
            **VISION_SIZES,
        },
        audio_config={
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_blocks": 1,
            "num_attention_heads": 2,
            "ext_pw_out_channel": 16,
            "depthwise_separable_out_channel": 16,
            "nemo_conv_channels": 8,
            "audio_token_id": tokens.audio_token_id,
        },
    )
    processor = transformers.Phi4MultimodalProcessor(
        image_processor=transformers.Phi4MultimodalImageProcessor(dynamic_hd=1),
        audio_processor=transformers.Phi4MultimodalFeatureExtractor(),
        tokenizer=tokens,
        chat_template=chat_template("<|image|>"),
    )
    return transformers.Phi4MultimodalForCausalLM(config), processor


def save_vision_adapter(model: Any, folder: Path) -> None:
    """Save an adapter in the files and names of Phi-4-multimodal's, with random weights."""
    layer = model.model.layers[0]
    names = {"self_attn.qkv_proj": layer.self_attn.qkv_proj, "mlp.down_proj": layer.mlp.down_proj}
    weights = {}
    for name, module in names.items():
        key = f"base_model.model.model.layers.0.{name}"
        weights[f"{key}.lora_A.weight"] = torch.randn(4, module.in_features)
        weights[f"{key}.lora_B.weight"] = torch.randn(module.out_features, 4)
    folder.mkdir()
    save_file(weights, folder / "adapter_model.safetensors")
    config = {
        "peft_type": "LORA",
        "r": 4,
        "lora_alpha": 8,
        "bias": "none",
        "rank_pattern": {},
        "use_dora": False,
    }
    (folder / "adapter_config.json").write_text(json.dumps(config))


def molmo2() -> tuple[Any, Any]:
    marks = (
        "im_patch",
        "im_col",
        "im_start",
        "low_res_im_start",
        "frame_start",
        "im_end",
        "frame_end",
        "im_low",
    )
    special = {"image_token": "<|image|>", "video_token": "<|video|>"}
    tokens = tokenizer(special, *(f"<{mark}>" for mark in marks))
    ids = {mark: tokens.convert_tokens_to_ids(f"<{mark}>") for mark in marks}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 12}
    text = text_sizes(tokens)
    config = transformers.Molmo2Config(
        vision_config={**VISION_SIZES, **heads, "image_size": [SIDE, SIDE], "patch_size": PATCH},
        adapter_config={
            **heads,
            "hidden_size": 48,
            "intermediate_size": 64,
            "text_hidden_size": 64,
            "vision_feature_layer": [1, 0],
        },
        text_config={**text, "additional_vocab_size": 8, "head_dim": 16},
        image_start_token_id=ids["im_start"],
        low_res_image_start_token_id=ids["low_res_im_start"],
        image_end_token_id=ids["im_end"],
        image_patch_id=ids["im_patch"],
        frame_start_token_id=ids["frame_start"],
        frame_end_token_id=ids["frame_end"],
    )
    processor = transformers.Molmo2Processor(
        image_processor=transformers.Molmo2ImageProcessor(
            size=SQUARE, patch_size=PATCH, max_crops=2, overlap_margins=[1, 1], **IMAGE_SETTINGS
        ),
        video_processor=transformers.Molmo2VideoProcessor(),
        tokenizer=tokens,
        chat_template=chat_template("<|image|>"),
    )
    return transformers.Molmo2ForConditionalGeneration(config), processor


def minicpmv4_6() -> tuple[Any, Any]:
    tokens = tokenizer(
        {
            "image_token": "<|image_pad|>",
            "video_token": "<|video_pad|>",
            "image_start_token": "<image>",
            "image_end_token": "</image>",
            "slice_start_token": "<slice>",
            "slice_end_token": "</slice>",
            "image_id_start_token": "<image_id>",
            "image_id_end_token": "</image_id>",
        }
    )
    config = transformers.MiniCPMV4_6Config(
        text_config={
            "model_type": "qwen3_5_text",
            **text_sizes(tokens),
            "head_dim": 16,
            "layer_types": ["linear_attention", "full_attention"],
            "linear_key_head_dim": 16,
            "linear_value_head_dim": 16,
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 4,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 10_000.0,
                "partial_rotary_factor": 0.5,
                "mrope_section": [2, 1, 1],
            },
        },
        vision_config={**VISION_SIZES, "image_size": 2 * SIDE, "patch_size": PATCH},
        insert_layer_id=0,
        image_size=SIDE,
        image_token_id=tokens.image_token_id,
        video_token_id=tokens.video_token_id,
    )
    settings = {"scale_resolution": SIDE, "patch_size": PATCH, "max_slice_nums": 2}
    processor = transformers.MiniCPMV4_6Processor(
        image_processor=transformers.MiniCPMV4_6ImageProcessorPil(**settings, **IMAGE_SETTINGS),
        video_processor=transformers.MiniCPMV4_6VideoProcessor(),
        tokenizer=tokens,
        chat_template=chat_template("<|image_pad|>"),
    )
    return transformers.MiniCPMV4_6ForConditionalGeneration(config), processor


def ernie4_5_vl_moe() -> tuple[Any, Any]:
    tokens = tokenizer(
        {
            "image_token": "<|IMAGE_PLACEHOLDER|>",
            "image_start_token": "<|IMAGE_START|>",
            "image_end_token": "<|IMAGE_END|>",
            "video_token": "<|VIDEO_PLACEHOLDER|>",
            "video_start_token": "<|VIDEO_START|>",
            "video_end_token": "<|VIDEO_END|>",
        }
    )
    names = [f"{kind}{role}_token_id" for kind in ("image", "video") for role in ("", "_start", "_end")]
    config = transformers.Ernie4_5_VLMoeConfig(
        text_config={
            **text_sizes(tokens),
            "moe_intermediate_size": [32, 16],
            "moe_num_experts": 2,
            "moe_k": 1,
            "moe_num_shared_experts": 1,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [2, 2, 4]},
        },
        vision_config={"depth": 2, "hidden_size": 64, "num_heads": 4, "intermediate_size": 96},
        **{name: getattr(tokens, name) for name in names},
    )
    processor = transformers.Ernie4_5_VLMoeProcessor(
        image_processor=transformers.Ernie4_5_VLMoeImageProcessorPil(
            size={"shortest_edge": 28 * 28, "longest_edge": 56 * 84}, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        video_processor=transformers.Ernie4_5_VLMoeVideoProcessor(draw_on_frames=False),
        chat_template=chat_template("<|IMAGE_START|><|IMAGE_PLACEHOLDER|><|IMAGE_END|>"),
    )
    return transformers.Ernie4_5_VLMoeForConditionalGeneration(config), processor


def paddleocr_vl() -> tuple[Any, Any]:
    tokens = tokenizer(
        {
            "image_token": "<|IMAGE_PLACEHOLDER|>",
            "video_token": "<|VIDEO_PLACEHOLDER|>",
            "vision_start_token": "<|IMAGE_START|>",
            "vision_end_token": "<|IMAGE_END|>",
        }
    )
    names = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id")
    config = transformers.PaddleOCRVLConfig(
        text_config={
            **text_sizes(tokens),
            "head_dim": 16,
            "rope_parameters": {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": [2, 3, 3]},
        },
        vision_config={**VISION_SIZES, "image_size": 56, "patch_size": 14},
        **{name: getattr(tokens, name) for name in names},
    )
    processor = transformers.PaddleOCRVLProcessor(
        image_processor=transformers.PaddleOCRVLImageProcessorPil(
            size={"shortest_edge": 28 * 28, "longest_edge": 56 * 84}, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        chat_template=chat_template("<|IMAGE_START|><|IMAGE_PLACEHOLDER|><|IMAGE_END|>"),
    )
    return transformers.PaddleOCRVLForConditionalGeneration(config), processor


def lfm3_vl() -> tuple[Any, Any]:
    tokens = tokenizer(
        {
            "image_token": "<|image_pad|>",
            "video_token": "<|video_pad|>",
            "vision_start_token": "<|vision_start|>",
            "vision_end_token": "<|vision_end|>",
        }
    )
    names = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id")
    config = transformers.Lfm3VlConfig(
        text_config={
            "model_type": "lfm3",
            **text_sizes(tokens),
            "head_dim": 16,
            "layer_types": ["sliding_attention", "full_attention"],
            "sliding_window": 24,
        },
        vision_config={
            "hidden_size": 64,
            "intermediate_size": 96,
            "patch_size": 14,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
        },
        projector_hidden_size=96,
        **{name: getattr(tokens, name) for name in names},
    )
    processor = transformers.Lfm3VlProcessor(
        image_processor=transformers.Qwen2VLImageProcessorPil(
            min_pixels=28 * 28,
            max_pixels=56 * 84,
            patch_size=14,
            merge_size=2,
            temporal_patch_size=2,
            **IMAGE_SETTINGS,
        ),
        tokenizer=tokens,
        video_processor=transformers.Qwen3VLVideoProcessor(),
        chat_template=chat_template("<|vision_start|><|image_pad|><|vision_end|>"),
    )
    return transformers.Lfm3VlForConditionalGeneration(config), processor


def hunyuan_vl() -> tuple[Any, Any]:
    tokens = tokenizer(
        {"image_token": "<image>", "image_start_token": "<|start|>", "image_end_token": "<|end|>"}
    )
    sizes = text_sizes(tokens)
    config = transformers.HunYuanVLConfig(
        text_config={
            **sizes,
            "head_dim": 16,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 10_000.0,
                "mrope_section": [2, 2, 2, 2],
            },
        },
        vision_config={
            **VISION_SIZES,
            "out_hidden_size": sizes["hidden_size"],
            "patch_size": PATCH,
            "max_image_size": 2 * SIDE,
        },
        image_token_id=tokens.image_token_id,
        im_start_id=tokens.image_start_token_id,
        im_end_id=tokens.image_end_token_id,
        im_newline_id=tokens.image_token_id,
        # Of the text, as in the published checkpoint.
        tie_word_embeddings=True,
    )
    processor = transformers.HunYuanVLProcessor(
        image_processor=transformers.HunYuanVLImageProcessorPil(
            size={"shortest_edge": SIDE * SIDE, "longest_edge": 2 * SIDE * SIDE},
            patch_size=PATCH,
            **IMAGE_SETTINGS,
        ),
        tokenizer=tokens,
        chat_template=chat_template("<|start|><image><|end|>"),
    )
    return transformers.HunYuanVLForConditionalGeneration(config), processor
