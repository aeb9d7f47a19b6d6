"""Signatures of processing_kimi_vl.py of moonshotai/Kimi-VL-A3B-Instruct."""

import torch
from transformers import AutoTokenizer
from transformers.processing_utils import ProcessorMixin

from .tiny_language import IMAGE_TOKENS, pixels_of


class KimiVLProcessor(ProcessorMixin):
    def __init__(self, image_processor=None, tokenizer=None, chat_template=None):
        self.tokenizer = tokenizer
        self.image_token = "<|media_pad|>"

    @classmethod
    def from_pretrained(
        cls, pretrained_model_name_or_path, *, revision=None, trust_remote_code=False, **kwargs
    ):
        return cls(tokenizer=AutoTokenizer.from_pretrained(pretrained_model_name_or_path))

    def apply_chat_template(
        self,
        conversation,
        chat_template=None,
        *,
        add_generation_prompt=False,
        tokenize=False,
        return_tensors=None,
    ):
        text = ""
        for message in conversation:
            text += f"{message['role']}<|im_middle|>"
            for part in message["content"]:
                text += self.image_token if part["type"] == "image" else part["text"]
            text += "<|im_end|>"
        return text + ("assistant<|im_middle|>" if add_generation_prompt else "")

    def __call__(self, images=None, text=None, *, padding=False, truncation=False, return_tensors=None):
        assert return_tensors == "pt"
        # Patches of 4 x 4 pixels: as many as the grid says.
        grids = [(2, 2)] * len(images)
        patches = [pixels_of(image)[None].repeat(4, 1, 1, 1) for image in images]
        for number in range(len(text)):
            text[number] = text[number].replace(self.image_token, self.image_token * IMAGE_TOKENS)
        words = self.tokenizer(text, add_special_tokens=False, return_tensors="pt")
        return {
            "input_ids": words["input_ids"],
            "attention_mask": words["attention_mask"],
            "pixel_values": torch.cat(patches),
            "image_grid_hws": torch.tensor(grids),
        }
