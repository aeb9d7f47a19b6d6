"""Qwen-VL and GLM-V: as many image tokens as the image's size gives, positions in three dimensions."""

import json
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file

from benchc.hugging_face import transformers
from tests.models.classes.common import LINEAR, built, images_of, positions, text_sizes, tokenizer

QWEN = {
    "image_token": "<|image_pad|>",
    "video_token": "<|video_pad|>",
    "vision_bos_token": "<|vision_start|>",
    "vision_eos_token": "<|vision_end|>",
}
GLM = {
    f"{kind}{role}_token": f"<|{place}{kind}|>"
    for kind in ("image", "video")
    for role, place in (("", ""), ("_start", "begin_of_"), ("_end", "end_of_"))
}
OMNI = {"audio_token": "<|AUDIO|>", "audio_bos_token": "<|audio_bos|>", "audio_eos_token": "<|audio_eos|>"}
EXPERTS = {"moe_intermediate_size": 32, "num_experts_per_tok": 1}
AUDIO = {"d_model": 16, "encoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 16}
PIXELS = {"min_pixels": 28 * 28, "max_pixels": 56 * 84}
PATCHES = {"patch_size": 14, "merge_size": 2, "temporal_patch_size": 2}
DEPTH = {"depth": 2, "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2, "num_heads": 4}
VISION = {**DEPTH, "hidden_size": 64, "intermediate_size": 96, "out_hidden_size": 64}
WINDOWS = {**VISION, "fullatt_block_indexes": [1], "window_size": 56}
QWEN3_VISION = {**VISION, "num_position_embeddings": 64, "deepstack_visual_indexes": [0]}


def qwen2_vl() -> tuple[Any, Any]:
    vision = {**DEPTH, "embed_dim": 64, "hidden_size": 64, "mlp_ratio": 2}
    return _qwen("Qwen2VL", "Qwen2VL", vision, rope_parameters=positions(2, 3, 3))


def qwen2_5_vl() -> tuple[Any, Any]:
    return _qwen("Qwen2_5_VL", "Qwen2_5_VL", WINDOWS, rope_parameters=positions(2, 3, 3))


def qwen3_vl() -> tuple[Any, Any]:
    return _qwen("Qwen3VL", "Qwen3VL", QWEN3_VISION, **_qwen3())


def qwen3_vl_moe() -> tuple[Any, Any]:
    return _qwen("Qwen3VLMoe", "Qwen3VL", QWEN3_VISION, **_qwen3(), **EXPERTS, num_experts=2)


def qwen2_5_omni_thinker() -> tuple[Any, Any]:
    return _omni("Qwen2_5Omni", WINDOWS, {}, rope_parameters=positions(2, 3, 3))


def qwen3_omni_moe_thinker() -> tuple[Any, Any]:
    audio = {"downsample_hidden_size": 8}
    return _omni("Qwen3OmniMoe", QWEN3_VISION, audio, **_qwen3(), **EXPERTS, num_experts=2)


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
    rope = positions(2, 1, 1, partial_rotary_factor=0.5)
    vision = {**VISION, "num_position_embeddings": 64}
    return _qwen(name, "Qwen3VL", vision, **LINEAR, rope_parameters=rope, **text)


def _qwen3() -> dict[str, Any]:
    return {"head_dim": 16, "rope_parameters": positions(3, 3, 2)}


def _qwen(name: str, processor: str, vision: dict[str, Any], **text: Any) -> tuple[Any, Any]:
    tokens = tokenizer(QWEN)
    names = ("image_token_id", "video_token_id", "vision_start_token_id", "vision_end_token_id")
    numbers = dict(zip(names, tokens.convert_tokens_to_ids(list(QWEN.values())), strict=True))
    config = {"text_config": text_sizes(tokens, **text), "vision_config": vision, **numbers}
    videos = getattr(transformers, f"{'Qwen3VL' if processor == 'Qwen3VL' else 'Qwen2VL'}VideoProcessor")()
    return qwen_built(name, config, tokens, processor=processor, video_processor=videos)


def _omni(name: str, vision: dict[str, Any], audio: dict[str, Any], **text: Any) -> tuple[Any, Any]:
    tokens = tokenizer(QWEN | OMNI)
    starts = {
        f"{kind}_{role}_token": token
        for kind, special in (("vision", QWEN), ("audio", OMNI))
        for role, token in (("start", special[f"{kind}_bos_token"]), ("end", special[f"{kind}_eos_token"]))
    }
    config = {
        "text_config": text_sizes(tokens, **text),
        "vision_config": vision,
        "audio_config": {**AUDIO, "output_dim": 64, **audio},
        **{f"{role}_id": tokens.convert_tokens_to_ids(each) for role, each in (QWEN | OMNI | starts).items()},
    }
    heard = {"feature_extractor": transformers.WhisperFeatureExtractor(), "processor": name}
    videos = transformers.Qwen2VLVideoProcessor()
    return qwen_built(f"{name}Thinker", config, tokens, video_processor=videos, **heard)


def qwen_built(name: str, config: dict[str, Any], tokens: Any, **settings: Any) -> tuple[Any, Any]:
    """Return a model and its processor, which reads images as Qwen2-VL does."""
    images = images_of("Qwen2VL", **PIXELS, **PATCHES)
    return built(name, config, images, tokens, "<|vision_start|><|image_pad|><|vision_end|>", **settings)


def glm4v() -> tuple[Any, Any]:
    return _glm("Glm4v", "Glm4v")


def glm46v() -> tuple[Any, Any]:
    return _glm("Glm46V", "Glm46V")


def glm4v_moe() -> tuple[Any, Any]:
    return _glm("Glm4vMoe", "Glm4v", **EXPERTS, n_routed_experts=2, first_k_dense_replace=1)


def _glm(name: str, processor: str, **text: Any) -> tuple[Any, Any]:
    tokens = tokenizer(GLM)
    kind, rope = "glm4v_moe" if text else "glm4v", positions(2, 1, 1, partial_rotary_factor=0.5)
    config = {
        "text_config": text_sizes(tokens, f"{kind}_text", **text, rope_parameters=rope),
        "vision_config": {"model_type": f"{kind}_vision", **VISION, "image_size": 56},
        **{f"{role}_id": tokens.convert_tokens_to_ids(token) for role, token in GLM.items()},
    }
    size = {"shortest_edge": PIXELS["min_pixels"], "longest_edge": 2 * PIXELS["max_pixels"]}
    images = images_of(processor, size=size, **PATCHES)
    videos = getattr(transformers, f"{processor}VideoProcessor")()
    shown = "<|begin_of_image|><|image|><|end_of_image|>"
    return built(name, config, images, tokens, shown, processor=processor, video_processor=videos)
