"""A tiny InternVL: its own vision tower, pixel shuffle, a Qwen2."""

from collections.abc import Iterable

from benchc.demo.tiny.processor import IMAGE_SETTINGS, chat_template
from benchc.demo.tiny.size import TinySize
from benchc.demo.tiny.tokenizer import train_tokenizer
from benchc.hugging_face import transformers

IMAGE = "<IMG_CONTEXT>"
SPECIAL = {
    "start_image_token": "<img>",
    "end_image_token": "</img>",
    "context_image_token": IMAGE,
    "video_token": "<video>",
}
SHUFFLE = 2  # patches per side that are merged into one token
NESTED_IMAGES = False  # the model takes a batch's images in one row


def build(
    texts: Iterable[str], size: TinySize
) -> tuple[transformers.InternVLForConditionalGeneration, transformers.InternVLProcessor]:
    """Return a model with random weights and its processor; the tokenizer is trained on ``texts``."""
    tokenizer = train_tokenizer(texts, SPECIAL)
    side = {"height": size.image_side, "width": size.image_side}
    # By default the processor cuts an image into several patches.
    images = transformers.GotOcr2ImageProcessorPil(size=side, min_patches=1, max_patches=1, **IMAGE_SETTINGS)
    processor = transformers.InternVLProcessor(
        image_processor=images,
        tokenizer=tokenizer,
        image_seq_length=size.patches // SHUFFLE**2,
        chat_template=chat_template(IMAGE),
        video_processor=transformers.InternVLVideoProcessor(size=side),
    )
    config = transformers.InternVLConfig(
        vision_config=transformers.InternVLVisionConfig(
            image_size=[size.image_side] * 2, patch_size=[size.patch] * 2, **size.vision_sizes()
        ),
        text_config=transformers.Qwen2Config(**size.text_config(tokenizer)),
        image_token_id=tokenizer.convert_tokens_to_ids(IMAGE),
        image_seq_length=size.patches // SHUFFLE**2,
        downsample_ratio=1 / SHUFFLE,
    )
    return transformers.InternVLForConditionalGeneration(config), processor
