"""Classes with a vision tower of fixed size, some of which cut an image into tiles."""

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
PINPOINTS = [[SIDE, 2 * SIDE], [2 * SIDE, SIDE], [2 * SIDE, 2 * SIDE]]
CLIP = {
    "model_type": "clip_vision_model",
    "image_size": SIDE,
    "patch_size": PATCH,
    "projection_dim": 48,
    **VISION_SIZES,
}
SIGLIP = {"model_type": "siglip_vision_model", "image_size": SIDE, "patch_size": PATCH, **VISION_SIZES}


def llava() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image>"})
    config = transformers.LlavaConfig(
        vision_config=CLIP,
        text_config={"model_type": "llama", **text_sizes(tokens)},
        image_token_index=tokens.image_token_id,
    )
    processor = transformers.LlavaProcessor(
        image_processor=transformers.CLIPImageProcessorPil(
            size={"shortest_edge": SIDE}, crop_size=SQUARE, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=chat_template("<image>"),
    )
    return transformers.LlavaForConditionalGeneration(config), processor


def pixtral() -> tuple[Any, Any]:
    """Return a LLaVA with the tower of Pixtral, whose images have as many tokens as their sizes give."""
    tokens = tokenizer({"image_token": "[IMG]"}, "[IMG_BREAK]", "[IMG_END]")
    config = transformers.LlavaConfig(
        vision_config={"model_type": "pixtral", "image_size": 2 * SIDE, "patch_size": PATCH, **VISION_SIZES},
        text_config={"model_type": "mistral", "head_dim": 16, **text_sizes(tokens)},
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
        image_token_index=tokens.image_token_id,
    )
    processor = transformers.PixtralProcessor(
        image_processor=transformers.PixtralImageProcessorPil(
            size={"longest_edge": 2 * SIDE}, patch_size=PATCH, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        patch_size=PATCH,
        chat_template=chat_template("[IMG]"),
    )
    return transformers.LlavaForConditionalGeneration(config), processor


def llava_next() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image>"})
    text_config = {"model_type": "llama", **text_sizes(tokens)}
    return _llava_next(tokens, text_config, chat_template("<image>"))


def falcon2_vlm() -> tuple[Any, Any]:
    """Return a LLaVA-NeXT with the language model of Falcon2-VLM.

    As of that one, there is no chat template, and the token of an image is beyond the embedding.
    """
    tokens = tokenizer({})
    text_config = {
        "model_type": "falcon",
        **text_sizes(tokens),
        "num_kv_heads": 2,
        "new_decoder_architecture": True,
        "bias": False,
    }
    tokens.add_tokens(["<image>"], special_tokens=True)
    return _llava_next(tokens, text_config, None)


def _llava_next(tokens: Any, text_config: dict[str, Any], template: str | None) -> tuple[Any, Any]:
    config = transformers.LlavaNextConfig(
        vision_config=CLIP,
        text_config=text_config,
        image_token_index=tokens.convert_tokens_to_ids("<image>"),
        image_grid_pinpoints=PINPOINTS,
    )
    processor = transformers.LlavaNextProcessor(
        image_processor=transformers.LlavaNextImageProcessorPil(
            size={"shortest_edge": SIDE}, crop_size=SQUARE, image_grid_pinpoints=PINPOINTS, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        patch_size=PATCH,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
        chat_template=template,
    )
    return transformers.LlavaNextForConditionalGeneration(config), processor


def llava_onevision() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image>", "video_token": "<video>"})
    config = transformers.LlavaOnevisionConfig(
        vision_config={**SIGLIP, "vision_use_head": False},
        text_config={"model_type": "qwen2", **text_sizes(tokens)},
        image_token_index=tokens.image_token_id,
        video_token_index=tokens.video_token_id,
        image_grid_pinpoints=PINPOINTS,
    )
    processor = transformers.LlavaOnevisionProcessor(
        image_processor=transformers.LlavaOnevisionImageProcessorPil(
            size=SQUARE, image_grid_pinpoints=PINPOINTS, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        video_processor=transformers.LlavaOnevisionVideoProcessor(),
        num_image_tokens=PATCHES,
        vision_feature_select_strategy="full",
        chat_template=chat_template("<image>"),
    )
    return transformers.LlavaOnevisionForConditionalGeneration(config), processor


def internvl() -> tuple[Any, Any]:
    return _internvl(transformers.Qwen2Config)


def internvl_llama() -> tuple[Any, Any]:
    return _internvl(transformers.LlamaConfig)


def _internvl(text_config: Any) -> tuple[Any, Any]:
    tokens = tokenizer(
        {
            "start_image_token": "<img>",
            "end_image_token": "</img>",
            "context_image_token": "<IMG_CONTEXT>",
            "video_token": "<video>",
        }
    )
    config = transformers.InternVLConfig(
        vision_config=transformers.InternVLVisionConfig(
            image_size=[SIDE, SIDE], patch_size=[PATCH, PATCH], **VISION_SIZES
        ),
        text_config=text_config(**text_sizes(tokens)),
        image_token_id=tokens.convert_tokens_to_ids("<IMG_CONTEXT>"),
        image_seq_length=PATCHES // 4,
        downsample_ratio=0.5,
    )
    processor = transformers.InternVLProcessor(
        image_processor=transformers.GotOcr2ImageProcessorPil(
            size=SQUARE, crop_to_patches=True, min_patches=1, max_patches=3, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        image_seq_length=PATCHES // 4,
        chat_template=chat_template("<IMG_CONTEXT>"),
        video_processor=transformers.InternVLVideoProcessor(size=SQUARE),
    )
    return transformers.InternVLForConditionalGeneration(config), processor


def ovis2() -> tuple[Any, Any]:
    special = {"image_token": "<image>"}
    marks = ["<IMG_START>", "<IMG_GRID>", "<IMG_COL>", "<IMG_ROW>", "<IMG_END>"]
    tokens = tokenizer(special, "<IMG_ATOM>", *marks)
    config = transformers.Ovis2Config(
        vision_config={
            "image_size": SIDE,
            "patch_size": PATCH,
            "vocab_size": 64,
            "hidden_stride": 2,
            "num_visual_indicator_tokens": len(marks),
            **VISION_SIZES,
        },
        text_config={"model_type": "qwen2", **text_sizes(tokens)},
        image_token_id=tokens.convert_tokens_to_ids("<IMG_ATOM>"),
        visual_indicator_token_ids=tokens.convert_tokens_to_ids(marks),
        vocab_size=len(tokens),
        hidden_size=64,
    )
    processor = transformers.Ovis2Processor(
        image_processor=transformers.Ovis2ImageProcessorPil(
            size=SQUARE, crop_to_patches=True, max_patches=3, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        image_seq_length=PATCHES // 4,
        chat_template=chat_template("<image>"),
    )
    return transformers.Ovis2ForConditionalGeneration(config), processor


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
    return _idefics("SmolVLM")


def _idefics(name: str) -> tuple[Any, Any]:
    tokens = tokenizer(IDEFICS, *(f"<row_{row}_col_{column}>" for row in (1, 2) for column in (1, 2)))
    config = getattr(transformers, f"{name}Config")(
        vision_config={"image_size": SIDE, "patch_size": PATCH, **VISION_SIZES},
        text_config=transformers.LlamaConfig(**text_sizes(tokens)),
        scale_factor=2,
        image_token_id=tokens.image_token_id,
        pad_token_id=tokens.pad_token_id,
    )
    more = {} if name == "Idefics3" else {"video_processor": transformers.SmolVLMVideoProcessor()}
    processor = getattr(transformers, f"{name}Processor")(
        image_processor=getattr(transformers, f"{name}ImageProcessorPil")(
            size={"longest_edge": 2 * SIDE}, max_image_size={"longest_edge": SIDE}, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        image_seq_len=PATCHES // 4,
        chat_template=chat_template("<image>"),
        **more,
    )
    return getattr(transformers, f"{name}ForConditionalGeneration")(config), processor


def deepseek_vl() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "<image_placeholder>"})
    config = transformers.DeepseekVLConfig(
        vision_config=SIGLIP,
        text_config={"model_type": "llama", **text_sizes(tokens)},
        image_token_id=tokens.image_token_id,
    )
    processor = transformers.DeepseekVLProcessor(
        image_processor=transformers.DeepseekVLImageProcessorPil(size=SQUARE, min_size=8, **IMAGE_SETTINGS),
        tokenizer=tokens,
        num_image_tokens=PATCHES,
        chat_template=chat_template("<image_placeholder>"),
    )
    return transformers.DeepseekVLForConditionalGeneration(config), processor


def mistral3() -> tuple[Any, Any]:
    tokens = tokenizer({"image_token": "[IMG]"}, "[IMG_BREAK]", "[IMG_END]")
    config = transformers.Mistral3Config(
        vision_config={"model_type": "pixtral", "image_size": 2 * SIDE, "patch_size": PATCH, **VISION_SIZES},
        text_config={"model_type": "mistral", "head_dim": 16, **text_sizes(tokens)},
        image_token_index=tokens.image_token_id,
        spatial_merge_size=2,
    )
    processor = transformers.PixtralProcessor(
        image_processor=transformers.PixtralImageProcessorPil(
            size={"longest_edge": 2 * SIDE}, patch_size=PATCH, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        patch_size=PATCH,
        spatial_merge_size=2,
        chat_template=chat_template("[IMG]"),
    )
    return transformers.Mistral3ForConditionalGeneration(config), processor
