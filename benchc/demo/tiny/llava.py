"""A tiny LLaVA: a CLIP vision tower, a two-layer projector, a Llama."""

from collections.abc import Iterable

from benchc.demo.tiny.processor import IMAGE_SETTINGS, chat_template
from benchc.demo.tiny.size import TinySize
from benchc.demo.tiny.tokenizer import train_tokenizer
from benchc.hugging_face import transformers

IMAGE = "<image>"
NESTED_IMAGES = False  # the model takes a batch's images in one row


def build(
    texts: Iterable[str], size: TinySize
) -> tuple[transformers.LlavaForConditionalGeneration, transformers.LlavaProcessor]:
    """Return a model with random weights and its processor; the tokenizer is trained on ``texts``."""
    tokenizer = train_tokenizer(texts, {"image_token": IMAGE})
    side = {"height": size.image_side, "width": size.image_side}
    processor = transformers.LlavaProcessor(
        image_processor=transformers.CLIPImageProcessorPil(
            size=side, do_center_crop=False, crop_size=side, **IMAGE_SETTINGS
        ),
        tokenizer=tokenizer,
        patch_size=size.patch,
        vision_feature_select_strategy="default",
        image_token=IMAGE,
        num_additional_image_tokens=1,
        chat_template=chat_template(IMAGE),
    )
    config = transformers.LlavaConfig(
        vision_config=transformers.CLIPVisionConfig(
            image_size=size.image_side,
            patch_size=size.patch,
            projection_dim=size.hidden,
            **size.vision_sizes(),
        ),
        text_config=transformers.LlamaConfig(**size.text_config(tokenizer)),
        image_token_index=tokenizer.convert_tokens_to_ids(IMAGE),
        vision_feature_layer=-1,
    )
    return transformers.LlavaForConditionalGeneration(config), processor
