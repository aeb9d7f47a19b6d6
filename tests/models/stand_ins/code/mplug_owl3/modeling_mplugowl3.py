"""Signatures of modeling_mplugowl3.py and processing_mplugowl3.py of mPLUG/mPLUG-Owl3-7B-240728."""

import re

import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast
from transformers.processing_utils import ProcessorMixin
from transformers.utils import is_flash_attn_2_available

if is_flash_attn_2_available():
    from flash_attn import flash_attn_func  # noqa: F401

from .tiny_language import Layer, SizedConfig, Vision, pixels_of, refuse_others


class mPLUGOwl3Config(SizedConfig):  # noqa: N801
    model_type = "mplugowl3"


class HyperQwen2ForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layer = Layer(config.hidden_size)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def forward(self, input_ids=None, image_embeds=None, media_offset=None, **others):
        refuse_others(others, "attention_mask")
        assert media_offset.shape == (*input_ids.shape, 2) and len(input_ids) == 1
        x = self.embed(input_ids)
        # Each position sees the images before it.
        images = image_embeds.mean(1)
        for place, (start, end) in enumerate(media_offset[0].tolist()):
            x[0, place] += images[start:end].sum(0)
        return CausalLMOutputWithPast(logits=self.lm_head(self.layer(x)))


class mPLUGOwl3Model(PreTrainedModel):  # noqa: N801
    config_class = mPLUGOwl3Config
    _supports_sdpa = True

    def __init__(self, config):
        super().__init__(config)
        self.language_model = HyperQwen2ForCausalLM(config)
        self.vision_model = Vision(config.hidden_size)
        self.post_init()

    def get_output_embeddings(self):
        return self.language_model.lm_head

    def forward(self, pixel_values=None, **kwargs):
        return self.language_model(image_embeds=self.vision_model(pixel_values), **kwargs)

    def init_processor(self, tokenizer):
        return mPLUGOwl3Processor(tokenizer=tokenizer)


class mPLUGOwl3Processor(ProcessorMixin):  # noqa: N801
    def __init__(self, image_processor=None, tokenizer=None):
        self.tokenizer = tokenizer

    def build_text_qwen(self, messages):
        text = [{"text": "<|im_start|>system\n<|im_end|>", "label": 0}]
        for message in messages:
            if message["role"] == "user":
                content = f"\n<|im_start|>user\n{message['content']}<|im_end|>"
                text += [{"text": part, "label": 0} for part in re.split(r"(<\|image\|>)", content)]
            else:
                text.append({"text": "\n<|im_start|>assistant\n", "label": 0})
                text.append({"text": f"{message['content']}<|im_end|>", "label": 1})
        while text and text[-1]["label"] == 1:
            text.pop()
        return text

    def __call__(
        self, messages, images=None, videos=None, max_length=None, cut_enable=True, return_tensors="pt"
    ):
        assert sum(message["content"].count("<|image|>") for message in messages) == len(images)
        ids, starts = [], []
        for chunk in self.build_text_qwen(messages):
            if chunk["text"] == "<|image|>":
                starts.append(len(ids))
            ids += self.tokenizer(chunk["text"])["input_ids"]
        before = (torch.arange(len(ids))[:, None] > torch.tensor(starts)[None]).sum(1)
        return {
            "input_ids": torch.tensor([ids]),
            "media_offset": torch.stack([torch.zeros_like(before), before], dim=1)[None],
            "pixel_values": torch.stack([pixels_of(image) for image in images]),
        }
