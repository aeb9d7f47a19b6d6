"""Classes with a vision tower of fixed size, some of which cut an image into tiles."""

from typing import Any

import torch

from benchc.hugging_face import transformers
from tests.models.classes.common import (
    CLIP,
    HEADLESS,
    IMAGE_SETTINGS,
    PATCH,
    PATCHED,
    PATCHES,
    SIDE,
    SIGLIP,
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

PINPOINTS = [[SIDE, 2 * SIDE], [2 * SIDE, SIDE], [2 * SIDE, 2 * SIDE]]
# Of an image whose shorter side is resized, and then cropped.
CROPPED = {"size": {"shortest_edge": SIDE}, "crop_size": SQUARE}
LLAVA = {"patch_size": PATCH, "vision_feature_select_strategy": "default", "num_additional_image_tokens": 1}


def llava() -> tuple[Any, Any]:
    return of_clip("Llava")


def of_clip(name: str, **more: Any) -> tuple[Any, Any]:
    """Return a model with CLIP's tower and a Llama."""
    tokens = tokenizer({"image_token": "<image>"})
    config = {"vision_config": CLIP, "text_config": text_sizes(tokens, "llama"), **more}
    config |= ids(tokens, "image", ending="token_index")
    return built(name, config, images_of("CLIP", **CROPPED), tokens, "<image>", processor="Llava", **LLAVA)


def pixtral() -> tuple[Any, Any]:
    """Return a LLaVA with the tower of Pixtral, whose images have as many tokens as their sizes give."""
    return _pixtral("Llava", {"vision_feature_layer": -1, "vision_feature_select_strategy": "full"})


def mistral3() -> tuple[Any, Any]:
    merge = {"spatial_merge_size": 2}
    return _pixtral("Mistral3", merge, **merge)


def _pixtral(name: str, more: dict[str, Any], **settings: Any) -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "[IMG]"}, "[IMG_BREAK]", "[IMG_END]")
    config = {
        "vision_config": {"model_type": "pixtral", **PATCHED, "image_size": 2 * SIDE},
        "text_config": text_sizes(tokens, "mistral", head_dim=16),
        "image_token_index": tokens.image_token_id,
        **more,
    }
    images = images_of("Pixtral", size={"longest_edge": 2 * SIDE}, patch_size=PATCH)
    return built(name, config, images, tokens, "[IMG]", processor="Pixtral", patch_size=PATCH, **settings)


def llava_next() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image>"})
    return _llava_next(tokens, text_sizes(tokens, "llama"), "<image>")


def falcon2_vlm() -> tuple[Any, Any]:
    """Return a LLaVA-NeXT with the language model of Falcon2-VLM.

    As of that one, there is no chat template, and the token of an image is beyond the embedding.
    """
    tokens = tokenizer({})
    text = text_sizes(tokens, "falcon", num_kv_heads=2, new_decoder_architecture=True, bias=False)
    tokens.add_tokens(["<image>"], special_tokens=True)
    return _llava_next(tokens, text, None)


def _llava_next(tokens: Any, text_config: dict[str, Any], image: str | None) -> tuple[Any, Any]:
    config = {
        "vision_config": CLIP,
        "text_config": text_config,
        "image_token_index": tokens.convert_tokens_to_ids("<image>"),
        "image_grid_pinpoints": PINPOINTS,
    }
    images = images_of("LlavaNext", **CROPPED, image_grid_pinpoints=PINPOINTS)
    return built("LlavaNext", config, images, tokens, image, **LLAVA)


def llava_onevision() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image>", "video_token": "<video>"})
    config = {
        "vision_config": HEADLESS,
        "text_config": text_sizes(tokens, "qwen2"),
        **ids(tokens, "image", "video", ending="token_index"),
        "image_grid_pinpoints": PINPOINTS,
    }
    images = images_of("LlavaOnevision", size=SQUARE, image_grid_pinpoints=PINPOINTS)
    settings = {"num_image_tokens": PATCHES, "vision_feature_select_strategy": "full"}
    videos = transformers.LlavaOnevisionVideoProcessor()
    return built("LlavaOnevision", config, images, tokens, "<image>", video_processor=videos, **settings)


def internvl() -> tuple[Any, Any]:
    return _internvl(transformers.Qwen2Config)


def internvl_llama() -> tuple[Any, Any]:
    return _internvl(transformers.LlamaConfig)


def got_ocr_images() -> Any:
    return images_of("GotOcr2", size=SQUARE, crop_to_patches=True, min_patches=1, max_patches=3)


def _internvl(text_config: Any) -> tuple[Any, Any]:
    special = {
        "start_image_token": "<img>",
        "end_image_token": "</img>",
        "context_image_token": "<IMG_CONTEXT>",
        "video_token": "<video>",
    }
    tokens = tokenizer(special)
    sides = {"image_size": [SIDE, SIDE], "patch_size": [PATCH, PATCH]}
    config = {
        "vision_config": transformers.InternVLVisionConfig(**sides, **VISION_SIZES),
        "text_config": text_config(**text_sizes(tokens)),
        "image_token_id": tokens.convert_tokens_to_ids("<IMG_CONTEXT>"),
        "image_seq_length": PATCHES // 4,
        "downsample_ratio": 0.5,
    }
    videos = transformers.InternVLVideoProcessor(size=SQUARE)
    more = {"image_seq_length": PATCHES // 4, "video_processor": videos}
    return built("InternVL", config, got_ocr_images(), tokens, "<IMG_CONTEXT>", **more)


def ovis2() -> tuple[Any, Any]:
    marks = ["<IMG_START>", "<IMG_GRID>", "<IMG_COL>", "<IMG_ROW>", "<IMG_END>"]
    tokens = tokenizer({"image_token": "<image>"}, "<IMG_ATOM>", *marks)
    vision = {"vocab_size": 64, "hidden_stride": 2, "num_visual_indicator_tokens": len(marks)}
    config = {
        "vision_config": {**PATCHED, **vision},
        "text_config": text_sizes(tokens, "qwen2"),
        "image_token_id": tokens.convert_tokens_to_ids("<IMG_ATOM>"),
        "visual_indicator_token_ids": tokens.convert_tokens_to_ids(marks),
        "vocab_size": len(tokens),
        "hidden_size": 64,
    }
    images = images_of("Ovis2", size=SQUARE, crop_to_patches=True, max_patches=3)
    return built("Ovis2", config, images, tokens, "<image>", image_seq_length=PATCHES // 4)


IDEFICS = {
    "image_token": "<image>",
    "boi_token": "<fake_token_around_image>",
    "fake_image_token": "<fake_token_around_image>",
    "global_image_token": "<global-img>",
    "end_of_utterance_token": "<end_of_utterance>",
    "video_token": "<video>",
}


def idefics3() -> tuple[Any, Any]:
    return _idefics("Idefics3")


def smolvlm() -> tuple[Any, Any]:
    return _idefics("SmolVLM", video_processor=transformers.SmolVLMVideoProcessor())


def _idefics(name: str, **more: Any) -> tuple[Any, Any]:
    tokens = tokenizer(IDEFICS, *(f"<row_{row}_col_{column}>" for row in (1, 2) for column in (1, 2)))
    config = {
        "vision_config": PATCHED,
        "text_config": transformers.LlamaConfig(**text_sizes(tokens)),
        "scale_factor": 2,
        **ids(tokens, "image", "pad"),
    }
    sides = {"size": {"longest_edge": 2 * SIDE}, "max_image_size": {"longest_edge": SIDE}}
    more["image_seq_len"] = PATCHES // 4
    return built(name, config, images_of(name, **sides), tokens, "<image>", **more)


def deepseek_vl() -> tuple[Any, Any]:
    return of_deepseek("DeepseekVL", {})


def of_deepseek(name: str, vision: dict[str, Any], **sizes: Any) -> tuple[Any, Any]:
    """Return a DeepSeek-VL, which may have a second tower."""
    tokens = tokenizer({"image_token": "<image_placeholder>"})
    config = {"vision_config": SIGLIP, "text_config": text_sizes(tokens, "llama"), **ids(tokens, "image")}
    images, shown = images_of(name, size=SQUARE, min_size=8, **sizes), "<image_placeholder>"
    return built(name, config | vision, images, tokens, shown, num_image_tokens=PATCHES)


LARGE = {"height": 2 * SIDE, "width": 2 * SIDE}


def vipllava() -> tuple[Any, Any]:
    return of_clip("VipLlava", vision_feature_layers=[-2, -1])


def video_llava() -> tuple[Any, Any]:
    images = images_of("VideoLlava", "", **CROPPED)
    return _video("VideoLlava", images, transformers.VideoLlavaVideoProcessor)


def llava_next_video() -> tuple[Any, Any]:
    images = images_of("LlavaNext", image_grid_pinpoints=PINPOINTS, **CROPPED)
    videos = transformers.LlavaNextVideoVideoProcessor
    return _video("LlavaNextVideo", images, videos, image_grid_pinpoints=PINPOINTS)


def _video(name: str, images: Any, videos: Any, **more: Any) -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image>", "video_token": "<video>"})
    config = {"vision_config": CLIP, "text_config": text_sizes(tokens, "llama"), **more}
    config |= ids(tokens, "image", "video", ending="token_index")
    processor = videos(**CROPPED, **IMAGE_SETTINGS)
    return built(name, config, images, tokens, "<image>", video_processor=processor, **LLAVA)


def video_llama_3() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<|image_pad|>", "video_token": "<|video_pad|>"})
    config = {
        "vision_config": {**VISION_SIZES, "patch_size": 14},
        "text_config": text_sizes(tokens, "qwen2"),
        **ids(tokens, "image", "video"),
    }
    size = {"shortest_edge": 28 * 28, "longest_edge": 56 * 84}
    images = images_of("VideoLlama3", size=size, merge_size=2)
    videos = transformers.VideoLlama3VideoProcessor()
    return built("VideoLlama3", config, images, tokens, "<|image_pad|>", video_processor=videos)


def deepseek_vl_hybrid() -> tuple[Any, Any]:
    sizes = {name: size for name, size in VISION_SIZES.items() if name != "intermediate_size"}
    tower = {
        "model_type": "sam_vision_model",
        **sizes,
        "output_channels": 32,
        "image_size": 2 * SIDE,
        "patch_size": PATCH,
        "window_size": 4,
        "global_attn_indexes": [1],
        "mlp_dim": 96,
    }
    return of_deepseek("DeepseekVLHybrid", {"high_res_vision_config": tower}, high_res_size=LARGE)


def fast_vlm() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image>"})
    sizes = {"layers": [1, 1, 1, 1, 1], "embed_dims": [8, 16, 16, 32, 64]}
    config = {
        "vision_config": {
            "model_type": "timm_wrapper",
            "architecture": "fastvit_mci3",
            "hidden_size": 128,
            "do_pooling": True,
            "global_pool": "avg",
            "model_args": {"inference_mode": True, **sizes},
        },
        "text_config": text_sizes(tokens, "qwen2"),
        "image_token_index": tokens.image_token_id,
    }
    side = 64 * 2  # the tower makes one feature of 64 x 64 pixels
    images = images_of("CLIP", size={"shortest_edge": side}, crop_size={"height": side, "width": side})
    whole = {"vision_feature_select_strategy": "full", "num_additional_image_tokens": 0, "patch_size": 64}
    model, processor = built("FastVlm", config, images, tokens, "<image>", processor="Llava", **whole)
    for module in model.model.vision_tower.modules():
        if isinstance(module, torch.nn.Conv2d):
            # With timm's initial weights, the features of all images are the same.
            torch.nn.init.kaiming_normal_(module.weight)
    return model, processor


def granite4_vision() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image>"})
    text = {"num_hidden_layers": 4, "attention_multiplier": 0.25}
    both = {"vision_feature_select_strategy": "full", "downsample_rate": "1/2"}
    config = {
        "vision_config": {**SIGLIP, "hidden_size": 64},
        "text_config": text_sizes(tokens, "granite4_vision_text", **text),
        "image_token_index": tokens.image_token_id,
        "image_grid_pinpoints": PINPOINTS,
        **both,
        "deepstack_layer_map": [[-1, 0], [-2, 1]],
        "spatial_vision_layer": -1,
        "spatial_target_layers": [2, 3, 2, 3],
        "qformer_config": {
            "model_type": "blip_2_qformer",
            "num_hidden_layers": 1,
            "intermediate_size": 96,
            "max_position_embeddings": 64,
            "cross_attention_frequency": 1,
            "use_qformer_text_input": False,
        },
    }
    images = images_of("LlavaNext", **CROPPED, image_grid_pinpoints=PINPOINTS)
    return built("Granite4Vision", config, images, tokens, "<image>", patch_size=PATCH, **both)


def llama4() -> tuple[Any, Any]:
    special = {"image_token": "<|image|>", "boi_token": "<|image_start|>", "eoi_token": "<|image_end|>"}
    tokens = tokenizer(special, "<|patch|>", "<|tile_x_separator|>", "<|tile_y_separator|>")
    text = {
        "intermediate_size_mlp": 96,
        "head_dim": 16,
        "num_local_experts": 2,
        "attention_chunk_size": 32,  # shorter than the prompts
        "layer_types": ["chunked_attention", "full_attention"],
        "no_rope_layers": [1, 0],
        "rope_parameters": positions(),
    }
    projected = {"vision_output_dim": 64, "projector_input_dim": 64, "projector_output_dim": 64}
    vision = {**PATCHED, **projected, "intermediate_size": 192, "rope_parameters": positions()}
    config = {
        "text_config": text_sizes(tokens, **text),
        "vision_config": vision,
        "image_token_index": tokens.convert_tokens_to_ids("<|patch|>"),
        **ids(tokens, "boi", "eoi", ending="token_index"),
    }
    images = images_of("Llama4", "", size=SQUARE, max_patches=4)
    return built("Llama4", config, images, tokens, "<|image|>", patch_size=PATCH)


def perception_lm() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<|image|>", "video_token": "<|video|>"})
    tower = {
        "embed_dim": 48,
        "img_size": [SIDE, SIDE],
        "patch_size": PATCH,
        "depth": 2,
        "num_heads": 4,
        "global_pool": "",
        "use_post_transformer_norm": False,
        "ref_feat_shape": [SIDE // PATCH, SIDE // PATCH],
    }
    config = {
        "vision_config": {
            "model_type": "timm_wrapper",
            "architecture": "vit_pe_core_large_patch14_336",
            "do_pooling": False,
            "num_classes": 0,
            "global_pool": "map",
            "model_args": tower,
        },
        "text_config": text_sizes(tokens, "llama"),
        "vision_use_cls_token": True,
        "projector_pooling_ratio": 2,
        **ids(tokens, "image", "video"),
    }
    images = images_of("PerceptionLM", "", tile_size=SIDE, size=SQUARE, max_num_tiles=4)
    more = {"video_processor": transformers.PerceptionLMVideoProcessor(), "patch_size": PATCH}
    return built("PerceptionLM", config, images, tokens, "<|image|>", pooling_ratio=2, **more)


COHERE = {
    "image_token": "<|IMG_PATCH|>",
    "boi_token": "<|START_OF_IMG|>",
    "eoi_token": "<|END_OF_IMG|>",
    "img_line_break_token": "<|IMG_LINE_BREAK|>",
}


def aya_vision() -> tuple[Any, Any]:
    special = {"image_token": "<image>", "patch_token": "<|IMG_PATCH|>"}
    ends, tiles = ("<|START_OF_IMG|>", "<|END_OF_IMG|>"), ("TILE_GLOBAL", *(f"TILE_{n}" for n in range(1, 4)))
    tokens = tokenizer(special, *ends, *tiles)
    config = _cohere(tokens) | {"image_token_index": tokens.patch_token_id}
    sizes = {"patch_size": PATCH, "img_size": SIDE, "downsample_factor": 2}
    return built("AyaVision", config, got_ocr_images(), tokens, "<image>", **sizes)


def cohere2_vision() -> tuple[Any, Any]:
    tokens = tokenizer(COHERE)
    images = images_of("Cohere2Vision", "", size=SQUARE, crop_to_patches=True, max_patches=3, patch_size=2)
    return built("Cohere2Vision", _cohere(tokens) | ids(tokens, "image"), images, tokens, "<|IMG_PATCH|>")


def _cohere(tokens: Any) -> dict[str, Any]:
    text = text_sizes(tokens, "cohere2", **SLIDING, logit_scale=1.0)
    sizes = {"downsample_factor": 2, "alignment_intermediate_size": 96}
    return {"vision_config": HEADLESS, "text_config": text, **sizes}


def lfm2_vl() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image>"}, "<|image_start|>", "<|image_end|>", "<|img_thumbnail|>")
    vision = {"model_type": "siglip2_vision_model", "num_patches": 64, "patch_size": PATCH}
    text = {"layer_types": ["conv", "full_attention"], "block_auto_adjust_ff_dim": False}
    config = {
        "vision_config": {**vision, "vision_use_head": False, **VISION_SIZES},
        "text_config": text_sizes(tokens, "lfm2", **text),
        "projector_hidden_size": 96,
        "downsample_factor": 2,
        **ids(tokens, "image"),
    }
    most = {"max_image_tokens": 16, "max_num_patches": 64, "max_tiles": 2, "max_pixels_tolerance": 0.5}
    sizes = {"encoder_patch_size": PATCH, "tile_size": SIDE, "min_image_tokens": 2}
    return built("Lfm2Vl", config, images_of("Lfm2Vl", "", **sizes, **most), tokens, "<image>")


def aria() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<|img|>", "unk_token": "<unk>"})
    side = 980  # its processor makes all images so large
    experts = {"moe_num_experts": 2, "moe_topk": 1, "moe_num_shared_experts": 1}
    sizes = {"image_size": side, "patch_size": 140, **VISION_SIZES}
    config = {
        "vision_config": {"model_type": "idefics3_vision", **sizes},
        "text_config": text_sizes(tokens, "aria_text", **experts),
        "projector_patch_to_query_dict": {(side // 140) ** 2: 8},
        "image_token_index": tokens.image_token_id,
    }
    images = images_of("Aria", max_image_size=side, min_image_size=SIDE)
    return built("Aria", config, images, tokens, "<|img|>", size_conversion={side: 8})


def idefics2() -> tuple[Any, Any]:
    special = {"image_token": "<image>", "image_boundary_token": "<fake_token_around_image>"}
    tokens = tokenizer({**special, "end_of_utterance_token": "<end_of_utterance>"})
    config = {
        "vision_config": {**PATCHED, "image_size": 2 * SIDE},
        "perceiver_config": {
            "hidden_size": 64,
            "resampler_n_latents": 4,
            "resampler_depth": 1,
            "resampler_n_heads": 4,
            "resampler_head_dim": 16,
            "num_key_value_heads": 2,
        },
        "text_config": text_sizes(tokens, "mistral", head_dim=16),
        **ids(tokens, "image"),
    }
    size = {"longest_edge": 2 * SIDE, "shortest_edge": SIDE}
    images = images_of("Idefics2", size=size, do_image_splitting=False)
    return built("Idefics2", config, images, tokens, "<image>", image_seq_len=4)


def janus() -> tuple[Any, Any]:
    special = {"image_token": "<image_placeholder>", "boi_token": "<begin_of_image>"}
    tokens = tokenizer({**special, "eoi_token": "<end_of_image>"})
    sizes = {name: size for name, size in PATCHED.items() if name != "intermediate_size"}
    vectors = {**VECTORS, "latent_channels": 16, "channel_multiplier": [1, 1], "num_embeddings": 16}
    more = {"num_res_blocks": 1, "num_patches": 4, "projection_dim": 64, "image_token_embed_dim": 64}
    config = {
        "vision_config": {**sizes, "projection_dim": 64, "num_image_tokens": PATCHES, "mlp_ratio": 2},
        "vq_config": {**vectors, **more},
        "text_config": text_sizes(tokens, "llama"),
        **ids(tokens, "image"),
    }
    images = images_of("Janus", size=SQUARE, min_size=8)
    return built("Janus", config, images, tokens, "<image_placeholder>", num_image_tokens=PATCHES)
