"""Qwen-VL and GLM-V: as many image tokens as the image's size gives, positions in three dimensions."""

import json
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file

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
OMNI = {"audio_token": "<|AUDIO|>", "audio_bos_token": "<|audio_bos|>", "audio_eos_token": "<|audio_eos|>"}
EXPERTS = {"moe_intermediate_size": 32, "num_experts_per_tok": 1}
AUDIO = {"d_model": 16, "encoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 16}
PIXELS = {"min_pixels": 28 * 28, "max_pixels": 56 * 84}
PATCHES = {"patch_size": 14, "merge_size": 2, "temporal_patch_size": 2}
VISION = {"depth": 2, "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2, "num_heads": 4}
QWEN3_VISION = {
    **VISION,
    "hidden_size": 64,
    "intermediate_size": 96,
    "out_hidden_size": 64,
    "num_position_embeddings": 64,
    "deepstack_visual_indexes": [0],
}


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
        vision_config=QWEN3_VISION,
        **_qwen_ids(tokens),
    )
    return transformers.Qwen3VLForConditionalGeneration(config), _qwen_processor("Qwen3VL", tokens)


def qwen3_vl_moe() -> tuple[Any, Any]:
    tokens = tokenizer(QWEN)
    config = transformers.Qwen3VLMoeConfig(
        text_config={
            **text_sizes(tokens),
            **EXPERTS,
            "num_experts": 2,
            "head_dim": 16,
            "rope_parameters": _positions("default", [3, 3, 2]),
        },
        vision_config=QWEN3_VISION,
        **_qwen_ids(tokens),
    )
    return transformers.Qwen3VLMoeForConditionalGeneration(config), _qwen_processor("Qwen3VL", tokens)


def qwen2_5_omni_thinker() -> tuple[Any, Any]:
    tokens = tokenizer(QWEN | OMNI)
    config = transformers.Qwen2_5OmniThinkerConfig(
        text_config={**text_sizes(tokens), "rope_parameters": _positions("default", [2, 3, 3])},
        vision_config={
            **VISION,
            "hidden_size": 64,
            "intermediate_size": 96,
            "out_hidden_size": 64,
            "fullatt_block_indexes": [1],
            "window_size": 56,
        },
        audio_config={**AUDIO, "output_dim": 64},
        **_omni_ids(tokens),
    )
    processor = _omni_processor("Qwen2_5Omni", tokens)
    return transformers.Qwen2_5OmniThinkerForConditionalGeneration(config), processor


def qwen3_omni_moe_thinker() -> tuple[Any, Any]:
    tokens = tokenizer(QWEN | OMNI)
    config = transformers.Qwen3OmniMoeThinkerConfig(
        text_config={
            **text_sizes(tokens),
            **EXPERTS,
            "num_experts": 2,
            "head_dim": 16,
            "rope_parameters": _positions("default", [3, 3, 2]),
        },
        vision_config=QWEN3_VISION,
        audio_config={**AUDIO, "output_dim": 64, "downsample_hidden_size": 8},
        **_omni_ids(tokens),
    )
    processor = _omni_processor("Qwen3OmniMoe", tokens)
    return transformers.Qwen3OmniMoeThinkerForConditionalGeneration(config), processor


def save_as_omni(folder: Path, model_type: str) -> None:
    """Make a saved thinker a part of an omni model, as it is published."""
    weights = load_file(folder / "model.safetensors")
    named = {f"thinker.{name}": weight for name, weight in weights.items()}
    save_file(named, folder / "model.safetensors", {"format": "pt"})
    thinker = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({"model_type": model_type, "thinker_config": thinker}))


def qwen3_5() -> tuple[Any, Any]:
    return _qwen3_5("Qwen3_5")


def qwen3_5_moe() -> tuple[Any, Any]:
    return _qwen3_5("Qwen3_5Moe", **EXPERTS, num_experts=2, shared_expert_intermediate_size=32)


def _qwen3_5(name: str, **text: Any) -> tuple[Any, Any]:
    tokens = tokenizer(QWEN)
    config = getattr(transformers, f"{name}Config")(
        text_config={
            **text_sizes(tokens),
            **text,
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
    model = getattr(transformers, f"{name}ForConditionalGeneration")(config)
    return model, _qwen_processor("Qwen3VL", tokens)


def glm4v() -> tuple[Any, Any]:
    return _glm("Glm4v", "Glm4v")


def glm46v() -> tuple[Any, Any]:
    return _glm("Glm46V", "Glm46V")


def glm4v_moe() -> tuple[Any, Any]:
    return _glm("Glm4vMoe", "Glm4v", **EXPERTS, n_routed_experts=2, first_k_dense_replace=1)


def _glm(name: str, prefix: str, **text: Any) -> tuple[Any, Any]:
    tokens = tokenizer(GLM)
    ids = {f"{role}_id": tokens.convert_tokens_to_ids(token) for role, token in GLM.items()}
    sizes = text_sizes(tokens)
    config = getattr(transformers, f"{name}Config")(
        text_config={
            "model_type": "glm4v_moe_text" if text else "glm4v_text",
            **sizes,
            **text,
            "rope_parameters": {**_positions("default", [2, 1, 1]), "partial_rotary_factor": 0.5},
        },
        vision_config={
            "model_type": "glm4v_moe_vision" if text else "glm4v_vision",
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


def _omni_ids(tokens: Any) -> dict[str, int]:
    names = {
        **QWEN,
        **OMNI,
        "vision_start_token": QWEN["vision_bos_token"],
        "vision_end_token": QWEN["vision_eos_token"],
        "audio_start_token": OMNI["audio_bos_token"],
        "audio_end_token": OMNI["audio_eos_token"],
    }
    return {f"{name}_id": tokens.convert_tokens_to_ids(token) for name, token in names.items()}


def _omni_processor(prefix: str, tokens: Any) -> Any:
    return getattr(transformers, f"{prefix}Processor")(
        image_processor=transformers.Qwen2VLImageProcessorPil(**PIXELS, **PATCHES, **IMAGE_SETTINGS),
        video_processor=transformers.Qwen2VLVideoProcessor(),
        feature_extractor=transformers.WhisperFeatureExtractor(),
        tokenizer=tokens,
        chat_template=chat_template("<|vision_start|><|image_pad|><|vision_end|>"),
    )


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
