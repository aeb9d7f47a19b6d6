"""Signatures of preprocessing_molmo.py of allenai/Molmo-7B-D-0924."""

import torch
from transformers import AutoTokenizer
from transformers.processing_utils import ProcessorMixin

from .tiny_language import IMAGE_TOKENS, pixels_of


class MolmoProcessor(ProcessorMixin):
    def __init__(self, image_processor=None, tokenizer=None):
        self.tokenizer = tokenizer

    @classmethod
    def from_pretrained(
        cls, pretrained_model_name_or_path, *, revision=None, trust_remote_code=False, **kwargs
    ):
        return cls(tokenizer=AutoTokenizer.from_pretrained(pretrained_model_name_or_path))

    def process(
        self,
        text=None,
        images=None,
        *,
        max_crops=1,
        overlap_margins=(4, 4),
        base_image_input_size=(336, 336),
        image_token_length_w=12,
        image_token_length_h=12,
        image_patch_size=14,
        image_padding_mask=True,
        style="long_caption",
        system_prompt="none",
        message_format="role",
        always_start_with_space=True,
        sequence_length=1536,
        padding=False,
    ):
        if message_format == "role":
            text = "User: " + text + " Assistant:"
        if always_start_with_space:
            text = " " + text
        crops = [pixels_of(image) for image in images for _ in range(max_crops)]
        patches = len(crops) * IMAGE_TOKENS
        patch = self.tokenizer.convert_tokens_to_ids("<im_patch>")
        ids = [
            self.tokenizer.bos_token_id or self.tokenizer.eos_token_id,
            *[patch] * patches,
            *self.tokenizer.encode(text, add_special_tokens=False),
        ]
        return {
            "input_ids": torch.tensor(ids),
            "images": torch.stack(crops),
            "image_input_idx": 1 + torch.arange(patches).view(-1, IMAGE_TOKENS),
            "image_masks": torch.ones(len(crops), IMAGE_TOKENS),
        }
