"""Classes whose published checkpoints have no chat template: it comes from the entry of the catalogue."""

from typing import Any

from tokenizers import AddedToken, Regex, normalizers

from benchc.hugging_face import transformers
from benchc.models.image_backends import ImageBackend
from tests.models.classes.common import (
    PATCH,
    PATCHED,
    SIDE,
    SQUARE,
    VECTORS,
    VISION_SIZES,
    built,
    ids,
    images_of,
    text_sizes,
    tokenizer,
)
from tests.models.classes.towers import CROPPED

# The turns of a user and the model, with what stands for an image.
_PARTS = (
    "{{% for message in messages %}}{{% for part in message['content'] %}}"
    "{{% if part['type'] == 'image' %}}{image}{{% else %}}Question: {{{{ part['text'] }}}}{{% endif %}}"
    "{{% endfor %}}{{% endfor %}}"
)
BOS_FIRST = "{{ bos_token }}"
ANSWER = "{% if add_generation_prompt %} Answer:{% endif %}"
# Images are written by the template, or before the prompt by the processor.
TEMPLATES = {
    "chameleon": BOS_FIRST + _PARTS.format(image="<image>"),
    "fuyu": BOS_FIRST + _PARTS.format(image="") + "\n",
    **dict.fromkeys(("blip-2", "instructblip", "kosmos-2"), BOS_FIRST + _PARTS.format(image="") + ANSWER),
}

# The libraries that their image processors need, other than PIL.
BACKENDS: dict[str, ImageBackend] = {"fuyu": "torchvision"}


def chameleon() -> tuple[Any, Any]:
    # The name of an image's code has its digits as letters.
    codes = [f"IMGIMG{''.join(chr(65 + int(digit)) for digit in str(code))}Z" for code in range(16)]
    special = {"image_token": "<image>", "boi_token": "<racm3:break>", "eoi_token": "<eoss>"}
    tokens = tokenizer(special, "<reserved08706>", *codes)
    tokens.sep_token = "<reserved08706>"
    vectors = {**VECTORS, "resolution": SIDE, "num_embeddings": len(codes), "num_res_blocks": 1}
    config = {**text_sizes(tokens), "vq_config": vectors, "vocabulary_map": tokens.get_vocab()}
    images = transformers.ChameleonImageProcessorPil(**CROPPED)
    return built("Chameleon", config, images, tokens, None, image_seq_length=(SIDE // 8) ** 2)


def blip_2() -> tuple[Any, Any]:
    tokens = tokenizer({}, "<image>")
    formers = {**VISION_SIZES, "intermediate_size": 64, "cross_attention_frequency": 1}
    config = {
        "vision_config": {"initializer_range": 0.02, **PATCHED},
        "qformer_config": formers,
        "text_config": text_sizes(tokens, "opt", ffn_dim=96, word_embed_proj_dim=64),
        "num_query_tokens": 4,
        "image_token_index": tokens.convert_tokens_to_ids("<image>"),
    }
    return built("Blip2", config, images_of("Blip", size=SQUARE), tokens, None, num_query_tokens=4)


def instructblip() -> tuple[Any, Any]:
    blip, processor = blip_2()
    whole, parts = blip.config.to_dict(), {"vision": "vision_model", "qformer": "qformer"}
    config = {"text_config": whole["text_config"], "num_query_tokens": 4}
    config["image_token_index"] = blip.config.image_token_index
    for part, name in parts.items():
        config[f"{part}_config"] = {**whole[f"{part}_config"], "model_type": f"instructblip_{name}"}
    more = {"qformer_tokenizer": processor.tokenizer, "num_query_tokens": 4}
    return built("InstructBlip", config, processor.image_processor, processor.tokenizer, None, **more)


def kosmos_2() -> tuple[Any, Any]:
    tokens = tokenizer({"unk_token": "<unk>"})
    images = images_of("CLIP", **CROPPED)
    # It adds tokens, which the model has, too.
    parts = {"image_processor": images, "tokenizer": tokens}
    processor = transformers.Kosmos2Processor(**parts, num_patch_index_tokens=4)
    sizes = {"embed_dim": 64, "layers": 2, "ffn_dim": 96, "attention_heads": 4}
    config = transformers.Kosmos2Config(
        text_config={"vocab_size": len(tokens), **sizes, **ids(tokens, "bos", "eos", "pad")},
        vision_config=PATCHED,
        latent_query_num=64,
    )
    return transformers.Kosmos2ForConditionalGeneration(config), processor


def fuyu() -> tuple[Any, Any]:
    tokens = tokenizer({})
    # Its tokenizer begins a text with a blank of its own, which the processor takes away before images.
    # (Tokens are normalised, too, so that only a text of some length may get one.)
    tokens.backend_tokenizer.normalizer = normalizers.Replace(Regex(r"\A(?=[\s\S]{40})"), "_")
    names = ("|SPEAKER|", "|NEWLINE|", "<0x04>")
    tokens.add_tokens([AddedToken(name, normalized=True, special=True) for name in names])
    text = {name: value for name, value in text_sizes(tokens).items() if name != "num_key_value_heads"}
    config = {
        "text_config": {"model_type": "persimmon", **text},
        "image_size": SIDE,
        "patch_size": PATCH,
        "image_token_id": tokens.convert_tokens_to_ids("|SPEAKER|"),
    }
    images = images_of("Fuyu", "", size=SQUARE, patch_size={"height": PATCH, "width": PATCH})
    return built("Fuyu", config, images, tokens, None)


def idefics() -> tuple[Any, Any]:
    """Return an IDEFICS, which is refused."""
    tokens = tokenizer({"image_token": "<image>"}, "<fake_token_around_image>", "<end_of_utterance>")
    sizes = {name: size for name, size in PATCHED.items() if name != "hidden_size"}
    vision = {"embed_dim": 48, **sizes}
    config = transformers.IdeficsConfig(**text_sizes(tokens), vision_config=vision)
    images = transformers.IdeficsImageProcessorPil(image_size=SIDE)
    processor = transformers.IdeficsProcessor(image_processor=images, tokenizer=tokens)
    return transformers.IdeficsForVisionText2Text(config), processor
