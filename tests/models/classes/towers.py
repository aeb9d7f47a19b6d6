"""Further classes with a vision tower: of the LLaVA family, of Llama 4, Cohere, Liquid AI, and others."""

from typing import Any

import torch

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
from tests.models.classes.tiles import CLIP, PATCHES, PINPOINTS, SIGLIP, SQUARE

ROPE = {"rope_type": "default", "rope_theta": 10_000.0}


def vipllava() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image>"})
    config = transformers.VipLlavaConfig(
        vision_config=CLIP,
        text_config={"model_type": "llama", **text_sizes(tokens)},
        vision_feature_layers=[-2, -1],
        image_token_index=tokens.image_token_id,
    )
    processor = transformers.LlavaProcessor(
        image_processor=_clip_images(),
        tokenizer=tokens,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=chat_template("<image>"),
    )
    return transformers.VipLlavaForConditionalGeneration(config), processor


def video_llava() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image>", "video_token": "<video>"})
    config = transformers.VideoLlavaConfig(
        vision_config=CLIP,
        text_config={"model_type": "llama", **text_sizes(tokens)},
        image_token_index=tokens.image_token_id,
        video_token_index=tokens.video_token_id,
    )
    sizes = {"size": {"shortest_edge": SIDE}, "crop_size": SQUARE}
    processor = transformers.VideoLlavaProcessor(
        image_processor=transformers.VideoLlavaImageProcessor(**sizes, **IMAGE_SETTINGS),
        video_processor=transformers.VideoLlavaVideoProcessor(**sizes, **IMAGE_SETTINGS),
        tokenizer=tokens,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=chat_template("<image>"),
    )
    return transformers.VideoLlavaForConditionalGeneration(config), processor


def llava_next_video() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image>", "video_token": "<video>"})
    config = transformers.LlavaNextVideoConfig(
        vision_config=CLIP,
        text_config={"model_type": "llama", **text_sizes(tokens)},
        image_token_index=tokens.image_token_id,
        video_token_index=tokens.video_token_id,
        image_grid_pinpoints=PINPOINTS,
    )
    sizes = {"size": {"shortest_edge": SIDE}, "crop_size": SQUARE}
    processor = transformers.LlavaNextVideoProcessor(
        image_processor=transformers.LlavaNextImageProcessorPil(
            image_grid_pinpoints=PINPOINTS, **sizes, **IMAGE_SETTINGS
        ),
        video_processor=transformers.LlavaNextVideoVideoProcessor(**sizes, **IMAGE_SETTINGS),
        tokenizer=tokens,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=chat_template("<image>"),
    )
    return transformers.LlavaNextVideoForConditionalGeneration(config), processor


def video_llama_3() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<|image_pad|>", "video_token": "<|video_pad|>"})
    config = transformers.VideoLlama3Config(
        vision_config={**VISION_SIZES, "patch_size": 14},
        text_config={"model_type": "qwen2", **text_sizes(tokens)},
        image_token_id=tokens.image_token_id,
        video_token_id=tokens.video_token_id,
    )
    processor = transformers.VideoLlama3Processor(
        image_processor=transformers.VideoLlama3ImageProcessorPil(
            size={"shortest_edge": 28 * 28, "longest_edge": 56 * 84}, merge_size=2, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        video_processor=transformers.VideoLlama3VideoProcessor(),
        chat_template=chat_template("<|image_pad|>"),
    )
    return transformers.VideoLlama3ForConditionalGeneration(config), processor


def deepseek_vl_hybrid() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image_placeholder>"})
    config = transformers.DeepseekVLHybridConfig(
        vision_config=SIGLIP,
        high_res_vision_config={
            "model_type": "sam_vision_model",
            "hidden_size": 48,
            "output_channels": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "image_size": 2 * SIDE,
            "patch_size": PATCH,
            "window_size": 4,
            "global_attn_indexes": [1],
            "mlp_dim": 96,
        },
        text_config={"model_type": "llama", **text_sizes(tokens)},
        image_token_id=tokens.image_token_id,
    )
    processor = transformers.DeepseekVLHybridProcessor(
        image_processor=transformers.DeepseekVLHybridImageProcessorPil(
            size=SQUARE,
            high_res_size={"height": 2 * SIDE, "width": 2 * SIDE},
            min_size=8,
            **IMAGE_SETTINGS,
        ),
        tokenizer=tokens,
        num_image_tokens=PATCHES,
        chat_template=chat_template("<image_placeholder>"),
    )
    return transformers.DeepseekVLHybridForConditionalGeneration(config), processor


def fast_vlm() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image>"})
    config = transformers.FastVlmConfig(
        vision_config={
            "model_type": "timm_wrapper",
            "architecture": "fastvit_mci3",
            "hidden_size": 128,
            "do_pooling": True,
            "global_pool": "avg",
            "model_args": {
                "inference_mode": True,
                "layers": [1, 1, 1, 1, 1],
                "embed_dims": [8, 16, 16, 32, 64],
            },
        },
        text_config={"model_type": "qwen2", **text_sizes(tokens)},
        image_token_index=tokens.image_token_id,
    )
    side = 64 * 2  # the tower makes one feature of 64 x 64 pixels
    processor = transformers.LlavaProcessor(
        image_processor=transformers.CLIPImageProcessorPil(
            size={"shortest_edge": side}, crop_size={"height": side, "width": side}, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        patch_size=64,
        vision_feature_select_strategy="full",
        num_additional_image_tokens=0,
        chat_template=chat_template("<image>"),
    )
    model = transformers.FastVlmForConditionalGeneration(config)
    for module in model.model.vision_tower.modules():
        if isinstance(module, torch.nn.Conv2d):
            # With timm's initial weights, the features of all images are the same.
            torch.nn.init.kaiming_normal_(module.weight)
    return model, processor


def granite4_vision() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image>"})
    config = transformers.Granite4VisionConfig(
        vision_config={**SIGLIP, "hidden_size": 64},
        text_config={
            "model_type": "granite4_vision_text",
            **text_sizes(tokens),
            "num_hidden_layers": 4,
            "attention_multiplier": 0.25,
        },
        image_token_index=tokens.image_token_id,
        image_grid_pinpoints=PINPOINTS,
        vision_feature_select_strategy="full",
        downsample_rate="1/2",
        deepstack_layer_map=[[-1, 0], [-2, 1]],
        spatial_vision_layer=-1,
        spatial_target_layers=[2, 3, 2, 3],
        qformer_config={
            "model_type": "blip_2_qformer",
            "num_hidden_layers": 1,
            "intermediate_size": 96,
            "max_position_embeddings": 64,
            "cross_attention_frequency": 1,
            "use_qformer_text_input": False,
        },
    )
    processor = transformers.Granite4VisionProcessor(
        image_processor=transformers.LlavaNextImageProcessorPil(
            size={"shortest_edge": SIDE}, crop_size=SQUARE, image_grid_pinpoints=PINPOINTS, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        patch_size=PATCH,
        vision_feature_select_strategy="full",
        downsample_rate="1/2",
        chat_template=chat_template("<image>"),
    )
    return transformers.Granite4VisionForConditionalGeneration(config), processor


def llama4() -> tuple[Any, Any]:
    special = {"image_token": "<|image|>", "boi_token": "<|image_start|>", "eoi_token": "<|image_end|>"}
    tokens = tokenizer(special, "<|patch|>", "<|tile_x_separator|>", "<|tile_y_separator|>")
    config = transformers.Llama4Config(
        text_config={
            **text_sizes(tokens),
            "intermediate_size_mlp": 96,
            "head_dim": 16,
            "num_local_experts": 2,
            "attention_chunk_size": 32,  # shorter than the prompts
            "layer_types": ["chunked_attention", "full_attention"],
            "no_rope_layers": [1, 0],
            "rope_parameters": ROPE,
        },
        vision_config={
            "image_size": SIDE,
            "patch_size": PATCH,
            "vision_output_dim": 64,
            "projector_input_dim": 64,
            "projector_output_dim": 64,
            "rope_parameters": ROPE,
            **{**VISION_SIZES, "intermediate_size": 192},
        },
        image_token_index=tokens.convert_tokens_to_ids("<|patch|>"),
        boi_token_index=tokens.boi_token_id,
        eoi_token_index=tokens.eoi_token_id,
    )
    processor = transformers.Llama4Processor(
        image_processor=transformers.Llama4ImageProcessor(size=SQUARE, max_patches=4, **IMAGE_SETTINGS),
        tokenizer=tokens,
        patch_size=PATCH,
        chat_template=chat_template("<|image|>"),
    )
    return transformers.Llama4ForConditionalGeneration(config), processor


def perception_lm() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<|image|>", "video_token": "<|video|>"})
    config = transformers.PerceptionLMConfig(
        vision_config={
            "model_type": "timm_wrapper",
            "architecture": "vit_pe_core_large_patch14_336",
            "do_pooling": False,
            "num_classes": 0,
            "global_pool": "map",
            "model_args": {
                "embed_dim": 48,
                "img_size": [SIDE, SIDE],
                "patch_size": PATCH,
                "depth": 2,
                "num_heads": 4,
                "global_pool": "",
                "use_post_transformer_norm": False,
                "ref_feat_shape": [SIDE // PATCH, SIDE // PATCH],
            },
        },
        text_config={"model_type": "llama", **text_sizes(tokens)},
        vision_use_cls_token=True,
        projector_pooling_ratio=2,
        image_token_id=tokens.image_token_id,
        video_token_id=tokens.video_token_id,
    )
    processor = transformers.PerceptionLMProcessor(
        image_processor=transformers.PerceptionLMImageProcessor(
            tile_size=SIDE, size=SQUARE, max_num_tiles=4, **IMAGE_SETTINGS
        ),
        video_processor=transformers.PerceptionLMVideoProcessor(),
        tokenizer=tokens,
        patch_size=PATCH,
        pooling_ratio=2,
        chat_template=chat_template("<|image|>"),
    )
    return transformers.PerceptionLMForConditionalGeneration(config), processor


COHERE = {
    "image_token": "<|IMG_PATCH|>",
    "boi_token": "<|START_OF_IMG|>",
    "eoi_token": "<|END_OF_IMG|>",
    "img_line_break_token": "<|IMG_LINE_BREAK|>",
}


def aya_vision() -> tuple[Any, Any]:
    special = {"image_token": "<image>", "patch_token": "<|IMG_PATCH|>"}
    tokens = tokenizer(
        special, "<|START_OF_IMG|>", "<|END_OF_IMG|>", "TILE_GLOBAL", *(f"TILE_{n}" for n in range(1, 4))
    )
    config = transformers.AyaVisionConfig(
        vision_config={**SIGLIP, "vision_use_head": False},
        text_config=_cohere_text(tokens),
        downsample_factor=2,
        alignment_intermediate_size=96,
        image_token_index=tokens.patch_token_id,
    )
    processor = transformers.AyaVisionProcessor(
        image_processor=_got_ocr_images(),
        tokenizer=tokens,
        patch_size=PATCH,
        img_size=SIDE,
        downsample_factor=2,
        chat_template=chat_template("<image>"),
    )
    return transformers.AyaVisionForConditionalGeneration(config), processor


def cohere2_vision() -> tuple[Any, Any]:
    tokens = tokenizer(COHERE)
    config = transformers.Cohere2VisionConfig(
        vision_config={**SIGLIP, "vision_use_head": False},
        text_config=_cohere_text(tokens),
        downsample_factor=2,
        alignment_intermediate_size=96,
        image_token_id=tokens.image_token_id,
    )
    processor = transformers.Cohere2VisionProcessor(
        image_processor=transformers.Cohere2VisionImageProcessor(
            size=SQUARE, crop_to_patches=True, max_patches=3, patch_size=2, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        chat_template=chat_template("<|IMG_PATCH|>"),
    )
    return transformers.Cohere2VisionForConditionalGeneration(config), processor


def _cohere_text(tokens: Any) -> dict[str, Any]:
    return {
        "model_type": "cohere2",
        **text_sizes(tokens),
        "layer_types": ["sliding_attention", "full_attention"],
        "sliding_window": 24,  # shorter than the prompts
        "logit_scale": 1.0,
    }


def lfm2_vl() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image>"}, "<|image_start|>", "<|image_end|>", "<|img_thumbnail|>")
    config = transformers.Lfm2VlConfig(
        vision_config={
            "model_type": "siglip2_vision_model",
            "num_patches": 64,
            "patch_size": PATCH,
            "vision_use_head": False,
            **VISION_SIZES,
        },
        text_config={
            "model_type": "lfm2",
            **text_sizes(tokens),
            "layer_types": ["conv", "full_attention"],
            "block_auto_adjust_ff_dim": False,
        },
        projector_hidden_size=96,
        downsample_factor=2,
        image_token_id=tokens.image_token_id,
    )
    processor = transformers.Lfm2VlProcessor(
        image_processor=transformers.Lfm2VlImageProcessor(
            encoder_patch_size=PATCH,
            min_image_tokens=2,
            max_image_tokens=16,
            max_num_patches=64,
            max_tiles=2,
            max_pixels_tolerance=0.5,
            tile_size=SIDE,
            **IMAGE_SETTINGS,
        ),
        tokenizer=tokens,
        chat_template=chat_template("<image>"),
    )
    return transformers.Lfm2VlForConditionalGeneration(config), processor


def aria() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<|img|>", "unk_token": "<unk>"})
    side = 980  # its processor makes all images so large
    config = transformers.AriaConfig(
        vision_config={
            "model_type": "idefics3_vision",
            "image_size": side,
            "patch_size": 140,
            **VISION_SIZES,
        },
        text_config={
            "model_type": "aria_text",
            **text_sizes(tokens),
            "moe_num_experts": 2,
            "moe_topk": 1,
            "moe_num_shared_experts": 1,
        },
        projector_patch_to_query_dict={(side // 140) ** 2: 8},
        image_token_index=tokens.image_token_id,
    )
    processor = transformers.AriaProcessor(
        image_processor=transformers.AriaImageProcessorPil(
            max_image_size=side, min_image_size=SIDE, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        size_conversion={side: 8},
        chat_template=chat_template("<|img|>"),
    )
    return transformers.AriaForConditionalGeneration(config), processor


def idefics2() -> tuple[Any, Any]:
    tokens = tokenizer(
        {
            "image_token": "<image>",
            "image_boundary_token": "<fake_token_around_image>",
            "end_of_utterance_token": "<end_of_utterance>",
        }
    )
    config = transformers.Idefics2Config(
        vision_config={"image_size": 2 * SIDE, "patch_size": PATCH, **VISION_SIZES},
        perceiver_config={
            "hidden_size": 64,
            "resampler_n_latents": 4,
            "resampler_depth": 1,
            "resampler_n_heads": 4,
            "resampler_head_dim": 16,
            "num_key_value_heads": 2,
        },
        text_config={"model_type": "mistral", "head_dim": 16, **text_sizes(tokens)},
        image_token_id=tokens.image_token_id,
    )
    processor = transformers.Idefics2Processor(
        image_processor=transformers.Idefics2ImageProcessorPil(
            size={"longest_edge": 2 * SIDE, "shortest_edge": SIDE},
            do_image_splitting=False,
            **IMAGE_SETTINGS,
        ),
        tokenizer=tokens,
        image_seq_len=4,
        chat_template=chat_template("<image>"),
    )
    return transformers.Idefics2ForConditionalGeneration(config), processor


def janus() -> tuple[Any, Any]:
    tokens = tokenizer(
        {
            "image_token": "<image_placeholder>",
            "boi_token": "<begin_of_image>",
            "eoi_token": "<end_of_image>",
        }
    )
    config = transformers.JanusConfig(
        vision_config={
            "image_size": SIDE,
            "patch_size": PATCH,
            "projection_dim": 64,
            "num_image_tokens": PATCHES,
            "mlp_ratio": 2,
            "hidden_size": 48,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
        },
        vq_config={
            "embed_dim": 4,
            "num_embeddings": 16,
            "latent_channels": 16,
            "base_channels": 32,
            "channel_multiplier": [1, 1],
            "num_res_blocks": 1,
            "num_patches": 4,
            "projection_dim": 64,
            "image_token_embed_dim": 64,
        },
        text_config={"model_type": "llama", **text_sizes(tokens)},
        image_token_id=tokens.image_token_id,
    )
    processor = transformers.JanusProcessor(
        image_processor=transformers.JanusImageProcessorPil(size=SQUARE, min_size=8, **IMAGE_SETTINGS),
        tokenizer=tokens,
        num_image_tokens=PATCHES,
        chat_template=chat_template("<image_placeholder>"),
    )
    return transformers.JanusForConditionalGeneration(config), processor


def _clip_images() -> Any:
    return transformers.CLIPImageProcessorPil(
        size={"shortest_edge": SIDE}, crop_size=SQUARE, **IMAGE_SETTINGS
    )


def _got_ocr_images() -> Any:
    return transformers.GotOcr2ImageProcessorPil(
        size=SQUARE, crop_to_patches=True, min_patches=1, max_patches=3, **IMAGE_SETTINGS
    )
