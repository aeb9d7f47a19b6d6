"""Signatures of modeling_kimi_vl.py of moonshotai/Kimi-VL-A3B-Instruct."""

import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast

from .tiny_language import Layer, SizedConfig, Vision, refuse_others


class KimiVLConfig(SizedConfig):
    model_type = "kimi_vl"
    media_placeholder_token_id: int = 0


class KimiVLForConditionalGeneration(PreTrainedModel):
    config_class = KimiVLConfig

    def __init__(self, config):
        super().__init__(config)
        hidden = config.hidden_size
        self.embed = nn.Embedding(config.vocab_size, hidden)
        self.layer = Layer(hidden)
        self.lm_head = nn.Linear(hidden, config.vocab_size)
        self.vision = Vision(hidden)
        self.post_init()

    def get_output_embeddings(self):
        return self.lm_head

    def forward(self, input_ids=None, attention_mask=None, pixel_values=None, image_grid_hws=None, **others):
        refuse_others(others)
        x = self.embed(input_ids)
        if pixel_values is not None:
            media = input_ids == self.config.media_placeholder_token_id
            # Patches of all images in one list: the grids say where one ends.
            images = pixel_values.split([int(grid.prod()) for grid in image_grid_hws])
            features = [self.vision(image.mean(0, keepdim=True)).flatten(0, 1) for image in images]
            assert media.sum() == sum(len(part) for part in features)
            x[media] = torch.cat(features)
        assert attention_mask.shape == input_ids.shape
        return CausalLMOutputWithPast(logits=self.lm_head(self.layer(x)))
