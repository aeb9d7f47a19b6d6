"""Qwen-VL and GLM-V: as many image tokens as the image's size gives, positions in three dimensions."""

from typing import Any

from benchc.hugging_face import transformers
from tests.models.classes.common import IMAGE_SETTINGS, chat_template, text_sizes, tokenizer

QWEN = {
    "image_token": "<|image_pad|>",
    "video_token": "<|video_pad|>",
    "vision_bos_token": "<|vision_start|>",
    "vision_eos_token": "<|vision_end|>",
}
GLM = {
    "image_token": "<|image|>",
    "video_token": "<|video|>",
    "image_start_token": "<|begin_of_image|>",
    "image_end_token": "<|end_of_image|>",
    "video_start_token": "<|begin_of_video|>",
    "video_end_token": "<|end_of_video|>",
}
PIXELS = {"min_pixels": 28 * 28, "max_pixels": 56 * 84}
PATCHES = {"patch_size": 14, "merge_size": 2, "temporal_patch_size": 2}
VISION = {"depth": 2, "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2, "num_heads": 4}


def qwen2_vl() -> tuple[Any, Any]:
    tokens = tokenizer(QWEN)
    config = transformers.Qwen2VLConfig(
        text_config={**text_sizes(tokens), "rope_parameters": _positions("default", [2, 3, 3])},
        vision_config={**VISION, "embed_dim": 64, "hidden_size": 64, "mlp_ratio": 2},
        **_qwen_ids(tokens),
    )
    return transformers.Qwen2VLForConditionalGeneration(config), _qwen_processor("Qwen2VL", tokens)


def qwen2_5_vl() -> tuple[Any, Any]:
    tokens = tokenizer(QWEN)
    config = transformers.Qwen2_5_VLConfig(
        text_config={**text_sizes(tokens), "rope_parameters": _positions("default", [2, 3, 3])},
        vision_config={
            **VISION,
            "hidden_size": 64,
            "intermediate_size": 96,
            "out_hidden_size": 64,
            "fullatt_block_indexes": [1],
            "window_size": 56,
        },
        **_qwen_ids(tokens),
    )
    return transformers.Qwen2_5_VLForConditionalGeneration(config), _qwen_processor("Qwen2_5_VL", tokens)


def qwen3_vl() -> tuple[Any, Any]:
    tokens = tokenizer(QWEN)
    config = transformers.Qwen3VLConfig(
        text_config={
            **text_sizes(tokens),
            "head_dim": 16,
            "rope_parameters": _positions("default", [3, 3, 2]),
        },
        vision_config={
            **VISION,
            "hidden_size": 64,
            "intermediate_size": 96,
            "out_hidden_size": 64,
            "num_position_embeddings": 64,
            "deepstack_visual_indexes": [0],
        },
        **_qwen_ids(tokens),
    )
    return transformers.Qwen3VLForConditionalGeneration(config), _qwen_processor("Qwen3VL", tokens)


def qwen3_5() -> tuple[Any, Any]:
    tokens = tokenizer(QWEN)
    config = transformers.Qwen3_5Config(
        text_config={
            **text_sizes(tokens),
            "head_dim": 16,
            "layer_types": ["linear_attention", "full_attention"],
            "linear_key_head_dim": 16,
            "linear_value_head_dim": 16,
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 4,
            "rope_parameters": {**_positions("default", [2, 1, 1]), "partial_rotary_factor": 0.5},
        },
        vision_config={
            **VISION,
            "hidden_size": 64,
            "intermediate_size": 96,
            "out_hidden_size": 64,
            "num_position_embeddings": 64,
        },
        **_qwen_ids(tokens),
    )
    return transformers.Qwen3_5ForConditionalGeneration(config), _qwen_processor("Qwen3VL", tokens)


def glm4v() -> tuple[Any, Any]:
    return _glm("Glm4v", "Glm4v")


def glm46v() -> tuple[Any, Any]:
    return _glm("Glm46V", "Glm46V")


def _glm(name: str, prefix: str) -> tuple[Any, Any]:
    tokens = tokenizer(GLM)
    ids = {f"{role}_id": tokens.convert_tokens_to_ids(token) for role, token in GLM.items()}
    sizes = text_sizes(tokens)
    config = getattr(transformers, f"{name}Config")(
        text_config={
            "model_type": "glm4v_text",
            **sizes,
            "rope_parameters": {**_positions("default", [2, 1, 1]), "partial_rotary_factor": 0.5},
        },
        vision_config={
            "model_type": "glm4v_vision",
            **VISION,
            "hidden_size": 64,
            "intermediate_size": 96,
            "out_hidden_size": 64,
            "image_size": 56,
        },
        **ids,
    )
    processor = getattr(transformers, f"{prefix}Processor")(
        image_processor=getattr(transformers, f"{prefix}ImageProcessorPil")(
            size={"shortest_edge": PIXELS["min_pixels"], "longest_edge": 2 * PIXELS["max_pixels"]},
            **PATCHES,
            **IMAGE_SETTINGS,
        ),
        tokenizer=tokens,
        video_processor=getattr(transformers, f"{prefix}VideoProcessor")(),
        chat_template=chat_template("<|begin_of_image|><|image|><|end_of_image|>"),
    )
    return getattr(transformers, f"{name}ForConditionalGeneration")(config), processor


def _positions(kind: str, section: list[int]) -> dict[str, Any]:
    return {"rope_type": kind, "rope_theta": 10_000.0, "mrope_section": section}


def _qwen_ids(tokens: Any) -> dict[str, int]:
    names = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id")
    return dict(zip(names, tokens.convert_tokens_to_ids(list(QWEN.values())), strict=True))


def _qwen_processor(prefix: str, tokens: Any) -> Any:
    return getattr(transformers, f"{prefix}Processor")(
        image_processor=transformers.Qwen2VLImageProcessorPil(**PIXELS, **PATCHES, **IMAGE_SETTINGS),
        tokenizer=tokens,
        video_processor=(
            transformers.Qwen3VLVideoProcessor()
            if prefix == "Qwen3VL"
            else transformers.Qwen2VLVideoProcessor()
        ),
        chat_template=chat_template("<|vision_start|><|image_pad|><|vision_end|>"),
    )
