"""The calls that upstream makes, quoted in the families' docstrings, on the stand-ins.

Each function returns the logits [vocabulary] of the token after the prompt and ``answer``, of one
question about some images, without anything of benchc.models.
"""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import torch
from PIL import Image
from safetensors.torch import load_file
from torchvision.transforms import functional

from benchc.hugging_face import transformers
from tests.models.stand_ins.build import WHOLE_CACHE, hub_cache, without_timm

# A stand-in is loaded once, as the tests do not change it.
load = cache(lambda loader, folder, *options: loader(folder, **dict(options)))
Call = Callable[[Path, str, list[Image.Image], str], torch.Tensor]
TRUSTED = ("trust_remote_code", True)


def molmo(folder: Path, text: str, images: list[Image.Image], answer: str) -> torch.Tensor:
    processor = load(transformers.AutoProcessor.from_pretrained, folder, TRUSTED)
    model = load(transformers.AutoModelForCausalLM.from_pretrained, folder, TRUSTED)
    inputs = {name: value[None] for name, value in processor.process(images=images[:1], text=text).items()}
    inputs["input_ids"] = with_answer(inputs["input_ids"], processor.tokenizer, answer)
    return model(**inputs).logits[0, -1]


def kimi_vl(folder: Path, text: str, images: list[Image.Image], answer: str) -> torch.Tensor:
    processor = load(transformers.AutoProcessor.from_pretrained, folder, TRUSTED)
    model = load(transformers.AutoModelForCausalLM.from_pretrained, folder, TRUSTED)
    content = [{"type": "image", "image": "a.png"} for _ in images]
    messages = [{"role": "user", "content": [*content, {"type": "text", "text": text}]}]
    prompt = processor.apply_chat_template(messages, add_generation_prompt=True, return_tensors="pt")
    whole = {"padding": True, "truncation": True, "return_tensors": "pt"}
    inputs = processor(images=images, text=[prompt + answer], **whole)
    return model(**inputs).logits[0, -1]


def sail_vl(folder: Path, text: str, images: list[Image.Image], answer: str) -> torch.Tensor:
    tokenizer = load(transformers.AutoTokenizer.from_pretrained, folder, TRUSTED, ("use_fast", False))
    model = load(without_flash_attention, folder)
    # One tile for each image: see test_remote_code.py for more.
    pixels = [functional.to_tensor(image.resize((16, 16), Image.Resampling.BICUBIC)) for image in images]
    pixels = [functional.normalize(each, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)) for each in pixels]
    several = "".join(f"Image-{number}: <image>\n" for number in range(1, len(images) + 1))
    question = ("<image>\n" if len(images) == 1 else several) + text
    numbers = [1] * len(images)
    settings = {"answer": answer}
    return model.chat(tokenizer, torch.stack(pixels), question, settings, num_patches_list=numbers)[-1]


def without_flash_attention(folder: Path) -> object:
    config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=True)
    config.llm_config._attn_implementation = "eager"
    return transformers.AutoModel.from_pretrained(folder, config=config, trust_remote_code=True)


def mplug_owl3(folder: Path, text: str, images: list[Image.Image], answer: str) -> torch.Tensor:
    tokenizer = load(transformers.AutoTokenizer.from_pretrained, folder, TRUSTED)
    model = load(transformers.AutoModel.from_pretrained, folder, TRUSTED, ("attn_implementation", "sdpa"))
    processor = model.init_processor(tokenizer)
    content = "<|image|>" * len(images) + text
    messages = [{"role": "user", "content": content}, {"role": "assistant", "content": ""}]
    inputs = processor(messages, images=images, videos=None, cut_enable=False)
    inputs["input_ids"] = with_answer(inputs["input_ids"], tokenizer, answer)
    before = torch.tensor([[[0, len(images)]]]).repeat(1, inputs["input_ids"].shape[1], 1)
    before[:, : inputs["media_offset"].shape[1]] = inputs["media_offset"]
    return model(**inputs | {"media_offset": before}).logits[0, -1]


def monkey(folder: Path, text: str, images: list[Image.Image], answer: str) -> torch.Tensor:
    tokenizer = load(transformers.AutoTokenizer.from_pretrained, folder, TRUSTED)
    precision = ("bf16", False), ("fp32", True)
    model = load(transformers.AutoModelForCausalLM.from_pretrained, folder, TRUSTED, *precision)
    tokenizer.padding_side, tokenizer.pad_token_id = "left", tokenizer.eod_id
    path = folder.with_suffix(".png")
    images[0].save(path)
    prompt = f"<img>{path}</img> \n {text} Answer:{answer}"
    inputs = tokenizer(prompt, return_tensors="pt", padding="longest")
    return model(input_ids=inputs.input_ids, attention_mask=inputs.attention_mask).logits[0, -1]


def moondream(folder: Path, text: str, images: list[Image.Image], answer: str) -> torch.Tensor:
    half = ("torch_dtype", torch.float16)
    model = load(transformers.AutoModelForCausalLM.from_pretrained, folder, TRUSTED, half)
    template = model.model.config.tokenizer.templates["query"]
    suffix = template["suffix"]
    try:
        template["suffix"] = suffix + (model.model.tokenizer.encode(answer).ids if answer else [])
        return model.query(model.encode_image(images[0]), text)
    finally:
        template["suffix"] = suffix


def eagle(folder: Path, text: str, images: list[Image.Image], answer: str) -> torch.Tensor:
    # On the path only while a test asks for it.
    from eagle.constants import DEFAULT_IMAGE_TOKEN, IMAGE_TOKEN_INDEX
    from eagle.conversation import conv_templates
    from eagle.mm_utils import process_images, tokenizer_image_token
    from eagle.model.builder import EagleConfig, EagleLlamaForCausalLM, ImageProcessor

    # transformers 5 does not let a model be loaded while another one is, as load_pretrained_model does.
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    with hub_cache(folder.parent / WHOLE_CACHE), without_timm():
        model = EagleLlamaForCausalLM(EagleConfig.from_pretrained(folder)).eval()
    model.load_state_dict(load_file(folder / "model.safetensors"))
    model.half().float()
    processor = ImageProcessor()
    conversation = conv_templates["vicuna_v1"].copy()
    conversation.append_message(conversation.roles[0], DEFAULT_IMAGE_TOKEN * len(images) + "\n" + text)
    conversation.append_message(conversation.roles[1], None)
    prompt = conversation.get_prompt() + answer
    ids = tokenizer_image_token(prompt, tokenizer, IMAGE_TOKEN_INDEX, return_tensors="pt")
    pixels = process_images(images, processor, model.config)
    sizes = [image.size for image in images]
    return model(ids.unsqueeze(0), images=pixels, image_sizes=sizes).logits[0, -1]


def deepseek_vl2(folder: Path, text: str, images: list[Image.Image], answer: str) -> torch.Tensor:
    from deepseek_vl2.models import DeepseekVLV2Processor

    processor = DeepseekVLV2Processor.from_pretrained(folder)
    model = load(transformers.AutoModelForCausalLM.from_pretrained, folder, TRUSTED)
    conversation = [
        {"role": "<|User|>", "content": "<image>\n" * len(images) + text, "images": ["a.png"] * len(images)},
        {"role": "<|Assistant|>", "content": ""},
    ]
    found = processor(conversations=conversation, images=images, force_batchify=True, system_prompt="")
    embeddings = model.prepare_inputs_embeds(**vars(found))
    tokens = processor.tokenizer(answer, add_special_tokens=False)["input_ids"] if answer else []
    if tokens:
        embeddings = torch.cat([embeddings, model.language.embed(torch.tensor([tokens]))], dim=1)
    return model(inputs_embeds=embeddings, attention_mask=torch.ones(embeddings.shape[:2])).logits[0, -1]


def with_answer(ids: torch.Tensor, tokenizer: object, answer: str) -> torch.Tensor:
    """Return token ids [1, positions] with those of the answer behind."""
    tokens = tokenizer(answer, add_special_tokens=False)["input_ids"] if answer else []
    return torch.cat([ids, torch.tensor([tokens], dtype=ids.dtype)], dim=1) if tokens else ids


def call_of(family: str) -> Call:
    """Return the function of a family."""
    call: Call = getattr(sys.modules[__name__], family)
    return call
