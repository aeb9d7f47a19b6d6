"""Signatures of eagle/mm_utils.py of NVlabs/EAGLE."""

import torch

from eagle.constants import IMAGE_TOKEN_INDEX


def process_images(images, image_processor, model_cfg):
    assert model_cfg.image_aspect_ratio == "pad"
    return image_processor(images, return_tensors="pt")["pixel_values"]


def tokenizer_image_token(prompt, tokenizer, image_token_index=IMAGE_TOKEN_INDEX, return_tensors=None):
    ids = [tokenizer.bos_token_id]
    for number, chunk in enumerate(prompt.split("<image>")):
        ids += ([image_token_index] if number else []) + tokenizer(chunk, add_special_tokens=False)[
            "input_ids"
        ]
    assert return_tensors == "pt"
    return torch.tensor(ids)
