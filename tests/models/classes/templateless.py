"""Classes whose published checkpoints have no chat template: it comes from the entry of the catalogue."""

from typing import Any

from tokenizers import AddedToken, Regex, normalizers

from benchc.hugging_face import transformers
from benchc.models.image_backends import ImageBackend
from tests.models.classes.common import IMAGE_SETTINGS, PATCH, SIDE, VISION_SIZES, text_sizes, tokenizer
from tests.models.classes.tiles import SQUARE

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
    "blip-2": BOS_FIRST + _PARTS.format(image="") + ANSWER,
    "chameleon": BOS_FIRST + _PARTS.format(image="<image>"),
    "fuyu": BOS_FIRST + _PARTS.format(image="") + "\n",
    "instructblip": BOS_FIRST + _PARTS.format(image="") + ANSWER,
    "kosmos-2": BOS_FIRST + _PARTS.format(image="") + ANSWER,
}

# The libraries that their image processors need, other than PIL.
BACKENDS: dict[str, ImageBackend] = {"fuyu": "torchvision"}


def chameleon() -> tuple[Any, Any]:
    # The name of an image's code has its digits as letters.
    codes = [f"IMGIMG{''.join(chr(65 + int(digit)) for digit in str(code))}Z" for code in range(16)]
    special = {"image_token": "<image>", "boi_token": "<racm3:break>", "eoi_token": "<eoss>"}
    tokens = tokenizer(special, "<reserved08706>", *codes)
    tokens.sep_token = "<reserved08706>"
    config = transformers.ChameleonConfig(
        **text_sizes(tokens),
        vq_config={
            "resolution": SIDE,
            "embed_dim": 4,
            "num_embeddings": len(codes),
            "latent_channels": 4,
            "base_channels": 32,
            "channel_multiplier": [1, 1, 1, 1],
            "num_res_blocks": 1,
        },
        vocabulary_map=tokens.get_vocab(),
    )
    processor = transformers.ChameleonProcessor(
        image_processor=transformers.ChameleonImageProcessorPil(
            size={"shortest_edge": SIDE}, crop_size=SQUARE
        ),
        tokenizer=tokens,
        image_seq_length=(SIDE // 8) ** 2,
    )
    return transformers.ChameleonForConditionalGeneration(config), processor


def blip_2() -> tuple[Any, Any]:
    tokens = tokenizer({}, "<image>")
    image = tokens.convert_tokens_to_ids("<image>")
    config = transformers.Blip2Config(
        vision_config={"image_size": SIDE, "patch_size": PATCH, "initializer_range": 0.02, **VISION_SIZES},
        qformer_config={
            "hidden_size": 48,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "cross_attention_frequency": 1,
        },
        text_config={
            "model_type": "opt",
            **text_sizes(tokens),
            "ffn_dim": 96,
            "word_embed_proj_dim": 64,
        },
        num_query_tokens=4,
        image_token_index=image,
    )
    processor = transformers.Blip2Processor(
        image_processor=transformers.BlipImageProcessorPil(size=SQUARE, **IMAGE_SETTINGS),
        tokenizer=tokens,
        num_query_tokens=4,
    )
    return transformers.Blip2ForConditionalGeneration(config), processor


def instructblip() -> tuple[Any, Any]:
    blip, processor = blip_2()
    parts = {"vision": "vision_model", "qformer": "qformer"}
    config = transformers.InstructBlipConfig(
        **{
            f"{part}_config": {
                **getattr(blip.config, f"{part}_config").to_dict(),
                "model_type": f"instructblip_{name}",
            }
            for part, name in parts.items()
        },
        text_config=blip.config.text_config.to_dict(),
        num_query_tokens=4,
        image_token_index=blip.config.image_token_index,
    )
    return transformers.InstructBlipForConditionalGeneration(config), transformers.InstructBlipProcessor(
        image_processor=processor.image_processor,
        tokenizer=processor.tokenizer,
        qformer_tokenizer=processor.tokenizer,
        num_query_tokens=4,
    )


def kosmos_2() -> tuple[Any, Any]:
    tokens = tokenizer({"unk_token": "<unk>"})
    processor = transformers.Kosmos2Processor(
        image_processor=transformers.CLIPImageProcessorPil(
            size={"shortest_edge": SIDE}, crop_size=SQUARE, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
        num_patch_index_tokens=4,
    )
    sizes = text_sizes(tokens)
    config = transformers.Kosmos2Config(
        text_config={
            "vocab_size": len(tokens),
            "embed_dim": 64,
            "layers": 2,
            "ffn_dim": 96,
            "attention_heads": 4,
            **{name: sizes[name] for name in sizes if name.endswith("_token_id")},
        },
        vision_config={"image_size": SIDE, "patch_size": PATCH, **VISION_SIZES},
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
    config = transformers.FuyuConfig(
        text_config={"model_type": "persimmon", **text},
        image_size=SIDE,
        patch_size=PATCH,
        image_token_id=tokens.convert_tokens_to_ids("|SPEAKER|"),
    )
    processor = transformers.FuyuProcessor(
        image_processor=transformers.FuyuImageProcessor(
            size=SQUARE, patch_size={"height": PATCH, "width": PATCH}, **IMAGE_SETTINGS
        ),
        tokenizer=tokens,
    )
    return transformers.FuyuForCausalLM(config), processor


def idefics() -> tuple[Any, Any]:
    """Return an IDEFICS, which is refused."""
    tokens = tokenizer({"image_token": "<image>"}, "<fake_token_around_image>", "<end_of_utterance>")
    config = transformers.IdeficsConfig(
        **text_sizes(tokens),
        vision_config={
            "embed_dim": 48,
            "image_size": SIDE,
            "patch_size": PATCH,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "intermediate_size": 96,
        },
    )
    processor = transformers.IdeficsProcessor(
        image_processor=transformers.IdeficsImageProcessorPil(image_size=SIDE), tokenizer=tokens
    )
    return transformers.IdeficsForVisionText2Text(config), processor
