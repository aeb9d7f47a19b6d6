"""Classes of other kinds: image tokens of a codebook, or that see each other, linear attention, and more."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from benchc.hugging_face import transformers
from tests.models.classes.common import (
    HEADLESS,
    LINEAR,
    PATCH,
    PATCHED,
    PATCHES,
    SIDE,
    SLIDING,
    SQUARE,
    VECTORS,
    VISION_SIZES,
    built,
    ids,
    images_of,
    positions,
    text_sizes,
    tokenizer,
)
from tests.models.classes.qwen import QWEN, qwen_built

IMAGE = {"boi_token": "<start_of_image>", "eoi_token": "<end_of_image>", "image_token": "<image_soft_token>"}
AUDIO = {"boa_token": "<start_of_audio>", "eoa_token": "<end_of_audio>", "audio_token": "<audio_soft_token>"}


def gemma3() -> tuple[Any, Any]:
    tokens = tokenizer(IMAGE)
    config = {
        "text_config": text_sizes(tokens, head_dim=16, query_pre_attn_scalar=16, **SLIDING),
        "vision_config": HEADLESS,
        "mm_tokens_per_image": PATCHES // 4,
        **ids(tokens, "boi", "eoi", "image", ending="token_index"),
    }
    images = images_of("Gemma3", size=SQUARE)
    return built("Gemma3", config, images, tokens, "<start_of_image>", image_seq_length=PATCHES // 4)


def _deep(tokens: Any, **more: Any) -> dict[str, Any]:
    """Return the configuration of a text model that gets an embedding in each of its four layers."""
    layers = {**SLIDING, "layer_types": 2 * SLIDING["layer_types"], "num_hidden_layers": 4}
    own = {"vocab_size_per_layer_input": len(tokens), "hidden_size_per_layer_input": 8}
    return text_sizes(tokens, **{**layers, **own, "head_dim": 16, "num_kv_shared_layers": 2, **more})


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
    pooled = {"patch_size": 4, "pooling_kernel_size": 2}
    heads = {"num_key_value_heads": 4, "head_dim": 12}
    config = {
        "text_config": _deep(
            tokens, global_head_dim=16, use_bidirectional_attention="vision", final_logit_softcapping=1.0
        ),
        "vision_config": {**VISION_SIZES, **pooled, **heads, "position_embedding_size": 64},
        "audio_config": None,
        **ids(tokens, "boi", "eoi", "image", "boa", "audio"),
        "video_token_id": tokens.convert_tokens_to_ids("<|video|>"),
        "eoa_token_index": tokens.eoa_token_id,
    }
    return built(
        "Gemma4",
        config,
        transformers.Gemma4ImageProcessorPil(max_soft_tokens=70, **pooled),
        tokens,
        "<|image|>",
        feature_extractor=transformers.Gemma4AudioFeatureExtractor(),
        video_processor=transformers.Gemma4VideoProcessor(),
        image_seq_length=70,
    )


def gemma3n() -> tuple[Any, Any]:
    tokens = tokenizer(IMAGE | AUDIO)
    side = 4  # features of an image
    config = {
        "text_config": _deep(
            tokens,
            intermediate_size=[96] * 4,
            activation_sparsity_pattern=[0.5, 0.0, 0.0, 0.0],
            altup_num_inputs=2,
            laurel_rank=4,
        ),
        "vision_config": {
            "model_args": {"channel_multiplier": 0.05, "msfa_output_resolution": side},
            "vocab_offset": len(tokens),
            "vocab_size": 8,
        },
        "audio_config": {
            "hidden_size": 16,
            "conf_num_attention_heads": 2,
            "conf_num_hidden_layers": 1,
            "sscp_conv_channel_size": [4, 4],
            "vocab_offset": len(tokens) + 8,
            "vocab_size": 8,
        },
        "vision_soft_tokens_per_image": side * side,
        **ids(tokens, "boi", "eoi", "image", "boa", "eoa", "audio"),
    }
    images = images_of("Siglip", size={"height": 2 * SIDE, "width": 2 * SIDE})
    audio = transformers.Gemma3nAudioFeatureExtractor()
    more = {"feature_extractor": audio, "image_seq_length": side * side}
    return built("Gemma3n", config, images, tokens, "<image_soft_token>", **more)


def paligemma() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image>"})
    images = images_of("Siglip", size=SQUARE, image_seq_length=PATCHES)
    processor = transformers.PaliGemmaProcessor(image_processor=images, tokenizer=tokens)
    config = transformers.PaliGemmaConfig(
        # The processor adds tokens for places and segments.
        text_config=text_sizes(tokens, "gemma", head_dim=16),
        vision_config={**HEADLESS, "projection_dim": 64},
        image_token_index=tokens.image_token_id,
        projection_dim=64,
        hidden_size=64,
    )
    return transformers.PaliGemmaForConditionalGeneration(config), processor


SIZE = {"shortest_edge": 28 * 28, "longest_edge": 56 * 84}
ENDS = ("image", "video", "vision_start", "vision_end")


def emu3() -> tuple[Any, Any]:
    codes = [f"<|visual token {number:06}|>" for number in range(16)]
    special = {
        "image_token": "<image>",
        "boi_token": "<|image start|>",
        "eoi_token": "<|image end|>",
        "image_wrapper_token": "<|image token|>",
        "eof_token": "<|extra_201|>",
    }
    tokens = tokenizer(special, "<|extra_200|>", *codes)
    more = {"codebook_size": len(codes), "num_res_blocks": 1, "attn_resolutions": [], "hidden_size": 32}
    config = {"vq_config": {**VECTORS, **more}, "vocabulary_map": tokens.get_vocab()}
    config |= {"text_config": text_sizes(tokens)}
    images = transformers.Emu3ImageProcessor(min_pixels=SIDE * SIDE, max_pixels=4 * SIDE * SIDE)
    return built("Emu3", config, images, tokens, "<image>")


def mllama() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<|image|>"}, "<|python_tag|>")
    sizes = {name: size for name, size in PATCHED.items() if name != "num_attention_heads"}
    config = {
        "vision_config": {
            **sizes,
            "num_global_layers": 1,
            "attention_heads": 4,
            "vision_output_dim": 96,
            "max_num_tiles": 4,
            "intermediate_layers_indices": [0],
            "supported_aspect_ratios": [[1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1], [4, 1]],
        },
        "text_config": text_sizes(tokens, cross_attention_layers=[1], rope_parameters=positions()),
        "image_token_index": tokens.image_token_id,
    }
    images = images_of("Mllama", size=SQUARE, max_image_tiles=4)
    model, processor = built("Mllama", config, images, tokens, "<|image|>")
    # Images must follow each other: text sees only those right before it.
    processor.chat_template = processor.chat_template.replace("<|image|>\n", "<|image|>")
    return model, processor


def phi4_multimodal() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<|image|>", "audio_token": "<|audio|>"})
    config = {
        **text_sizes(tokens),
        "vision_config": {
            # The processor counts the tokens of an image for these sizes.
            **{"image_size": 448, "crop_size": 448, "patch_size": 14, **VISION_SIZES},
            "image_token_id": tokens.image_token_id,
        },
        "audio_config": {
            **{"hidden_size": 16, "intermediate_size": 16, "num_blocks": 1, "num_attention_heads": 2},
            **{"ext_pw_out_channel": 16, "depthwise_separable_out_channel": 16, "nemo_conv_channels": 8},
            "audio_token_id": tokens.audio_token_id,
        },
    }
    images = transformers.Phi4MultimodalImageProcessor(dynamic_hd=1)
    audio = transformers.Phi4MultimodalFeatureExtractor()
    return built("Phi4Multimodal", config, images, tokens, "<|image|>", audio_processor=audio)


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
    config = {"peft_type": "LORA", "r": 4, "lora_alpha": 8, "bias": "none", "rank_pattern": {}}
    (folder / "adapter_config.json").write_text(json.dumps({**config, "use_dora": False}))


def molmo2() -> tuple[Any, Any]:
    starts = ("im_start", "low_res_im_start", "im_end", "im_patch", "frame_start", "frame_end")
    settings = ("image_start", "low_res_image_start", "image_end", "image_patch", "frame_start", "frame_end")
    marks = ("im_patch", "im_col", "im_start", "low_res_im_start", "frame_start", "im_end", "frame_end")
    special = {"image_token": "<|image|>", "video_token": "<|video|>"}
    tokens = tokenizer(special, *(f"<{mark}>" for mark in (*marks, "im_low")))
    numbers = tokens.convert_tokens_to_ids([f"<{mark}>" for mark in starts])
    heads = {"num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 12}
    features = {"hidden_size": 48, "intermediate_size": 64, "text_hidden_size": 64}
    config = {
        "vision_config": {**VISION_SIZES, **heads, "image_size": [SIDE, SIDE], "patch_size": PATCH},
        "adapter_config": {**heads, **features, "vision_feature_layer": [1, 0]},
        "text_config": text_sizes(tokens, additional_vocab_size=8, head_dim=16),
        **{
            f"{name}{'_id' if name == 'image_patch' else '_token_id'}": number
            for name, number in zip(settings, numbers, strict=True)
        },
    }
    crops = {"patch_size": PATCH, "max_crops": 2, "overlap_margins": [1, 1]}
    images, videos = images_of("Molmo2", "", size=SQUARE, **crops), transformers.Molmo2VideoProcessor()
    return built("Molmo2", config, images, tokens, "<|image|>", video_processor=videos)


def minicpmv4_6() -> tuple[Any, Any]:
    special = {"image_token": "<|image_pad|>", "video_token": "<|video_pad|>"}
    for role in ("image", "slice", "image_id"):
        special |= {f"{role}_start_token": f"<{role}>", f"{role}_end_token": f"</{role}>"}
    tokens = tokenizer(special)
    rope = positions(2, 1, 1, partial_rotary_factor=0.5)
    config = {
        "text_config": text_sizes(tokens, "qwen3_5_text", **LINEAR, rope_parameters=rope),
        "vision_config": {**PATCHED, "image_size": 2 * SIDE},
        "insert_layer_id": 0,
        "image_size": SIDE,
        **ids(tokens, "image", "video"),
    }
    images = images_of("MiniCPMV4_6", scale_resolution=SIDE, patch_size=PATCH, max_slice_nums=2)
    videos = transformers.MiniCPMV4_6VideoProcessor()
    return built("MiniCPMV4_6", config, images, tokens, "<|image_pad|>", video_processor=videos)


def ernie4_5_vl_moe() -> tuple[Any, Any]:
    special = {
        f"{kind}{role}_token": f"<|{kind.upper()}_{role.strip('_').upper() or 'PLACEHOLDER'}|>"
        for kind in ("image", "video")
        for role in ("", "_start", "_end")
    }
    tokens = tokenizer(special)
    experts = {"moe_intermediate_size": [32, 16], "moe_num_experts": 2, "moe_k": 1}
    shared = {"moe_num_shared_experts": 1, "rope_parameters": positions(2, 2, 4)}
    config = {
        "text_config": text_sizes(tokens, **experts, **shared),
        "vision_config": {"depth": 2, "hidden_size": 64, "num_heads": 4, "intermediate_size": 96},
        **ids(tokens, *(role.removesuffix("_token") for role in special)),
    }
    videos = transformers.Ernie4_5_VLMoeVideoProcessor(draw_on_frames=False)
    shown = "<|IMAGE_START|><|IMAGE_PLACEHOLDER|><|IMAGE_END|>"
    images = images_of("Ernie4_5_VLMoe", size=SIZE)
    return built("Ernie4_5_VLMoe", config, images, tokens, shown, video_processor=videos)


def paddleocr_vl() -> tuple[Any, Any]:
    marks = ("<|IMAGE_PLACEHOLDER|>", "<|VIDEO_PLACEHOLDER|>", "<|IMAGE_START|>", "<|IMAGE_END|>")
    tokens = tokenizer({f"{role}_token": mark for role, mark in zip(ENDS, marks, strict=True)})
    config = {
        "text_config": text_sizes(tokens, head_dim=16, rope_parameters=positions(2, 3, 3)),
        "vision_config": {**VISION_SIZES, "image_size": 56, "patch_size": 14},
        **ids(tokens, *ENDS),
    }
    shown = f"{marks[2]}{marks[0]}{marks[3]}"
    return built("PaddleOCRVL", config, images_of("PaddleOCRVL", size=SIZE), tokens, shown)


def lfm3_vl() -> tuple[Any, Any]:
    tokens = tokenizer({f"{role}_token": mark for role, mark in zip(ENDS, QWEN.values(), strict=True)})
    vision = {"hidden_size": 64, "patch_size": 14, "num_key_value_heads": 2}
    config = {
        "text_config": text_sizes(tokens, "lfm3", head_dim=16, **SLIDING),
        "vision_config": {**VISION_SIZES, **vision},
        "projector_hidden_size": 96,
        **ids(tokens, *ENDS),
    }
    return qwen_built("Lfm3Vl", config, tokens, video_processor=transformers.Qwen3VLVideoProcessor())


def hunyuan_vl() -> tuple[Any, Any]:
    special = {"image_token": "<image>", "image_start_token": "<|start|>", "image_end_token": "<|end|>"}
    tokens = tokenizer(special)
    sizes = text_sizes(tokens, head_dim=16, rope_parameters=positions(2, 2, 2, 2))
    sides = {"patch_size": PATCH, "max_image_size": 2 * SIDE}
    config = {
        "text_config": sizes,
        "vision_config": {**VISION_SIZES, "out_hidden_size": sizes["hidden_size"], **sides},
        "image_token_id": tokens.image_token_id,
        "im_start_id": tokens.image_start_token_id,
        "im_end_id": tokens.image_end_token_id,
        "im_newline_id": tokens.image_token_id,
        # Of the text, as in the published checkpoint.
        "tie_word_embeddings": True,
    }
    size = {"shortest_edge": SIDE * SIDE, "longest_edge": 2 * SIDE * SIDE}
    images = images_of("HunYuanVL", size=size, patch_size=PATCH)
    return built("HunYuanVL", config, images, tokens, "<|start|><image><|end|>")
