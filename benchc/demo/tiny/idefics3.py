"""A tiny Idefics3 (the class of SmolVLM's ancestor): a SigLIP-like vision tower, pixel shuffle, a Llama."""

from collections.abc import Iterable

from benchc.demo.tiny.processor import IMAGE_SETTINGS, chat_template
from benchc.demo.tiny.size import TinySize
from benchc.demo.tiny.tokenizer import train_tokenizer
from benchc.hugging_face import transformers

IMAGE = "<image>"
SPECIAL = {
    "image_token": IMAGE,
    "boi_token": "<fake_token_around_image>",
    "eoi_token": "<fake_token_around_image>",
    "global_image_token": "<global-img>",
    "end_of_utterance_token": "<end_of_utterance>",
}
SHUFFLE = 2  # patches per side that are merged into one token
NESTED_IMAGES = True  # the model takes images as [items, images, ...]


def build(
    texts: Iterable[str], size: TinySize
) -> tuple[transformers.Idefics3ForConditionalGeneration, transformers.Idefics3Processor]:
    """Return a model with random weights and its processor; the tokenizer is trained on ``texts``."""
    tokenizer = train_tokenizer(texts, SPECIAL)
    side = {"longest_edge": size.image_side}
    processor = transformers.Idefics3Processor(
        # Without splitting, the class resizes to `max_image_size`; the resizing before that would only blur.
        image_processor=transformers.Idefics3ImageProcessorPil(
            do_resize=False, do_image_splitting=False, size=side, max_image_size=side, **IMAGE_SETTINGS
        ),
        tokenizer=tokenizer,
        image_seq_len=size.patches // SHUFFLE**2,
        chat_template=chat_template(IMAGE),
    )
    config = transformers.Idefics3Config(
        vision_config={"image_size": size.image_side, "patch_size": size.patch, **size.vision_sizes()},
        text_config=transformers.LlamaConfig(**size.text_config(tokenizer)),
        scale_factor=SHUFFLE,
        image_token_id=tokenizer.convert_tokens_to_ids(IMAGE),
        pad_token_id=tokenizer.pad_token_id,
    )
    return transformers.Idefics3ForConditionalGeneration(config), processor
