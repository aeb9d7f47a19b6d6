"""Signatures of modeling_molmo.py of allenai/Molmo-7B-D-0924."""

import torch
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast

from .tiny_language import Layer, SizedConfig, Vision, refuse_others


class MolmoConfig(SizedConfig):
    model_type = "molmo"


class Molmo(nn.Module):
    def __init__(self, config):
        super().__init__()
        hidden = config.hidden_size
        self.transformer = nn.ModuleDict(
            {
                "wte": nn.Embedding(config.vocab_size, hidden),
                "layer": Layer(hidden),
                "ff_out": nn.Linear(hidden, config.vocab_size, bias=False),
            }
        )
        self.vision_backbone = Vision(hidden)


class MolmoForCausalLM(PreTrainedModel):
    config_class = MolmoConfig

    def __init__(self, config, model=None, init_params=False):
        super().__init__(config)
        self.model = Molmo(config)
        self.post_init()

    def forward(
        self,
        input_ids=None,
        images=None,
        image_masks=None,
        image_input_idx=None,
        last_logits_only=None,
        **others,
    ):
        masks = ("attention_mask", "attention_bias", "response_mask", "loss_masks", "subsegment_ids")
        refuse_others(others, *masks, "append_last_valid_logits", "cache_position")
        parts = self.model.transformer
        x = parts.wte(input_ids)
        if images is not None:
            rows, crops = images.shape[:2]
            features = self.model.vision_backbone(images.flatten(0, 1)).view(rows, crops, 4, -1)
            features = features * image_masks[..., None]
            valid = image_input_idx >= 0
            row = torch.arange(rows)[:, None, None].expand_as(image_input_idx)
            x[row[valid], image_input_idx[valid]] += features[valid]
        states = parts.layer(x)
        logits = parts.ff_out(states[:, -1:] if last_logits_only else states)
        return CausalLMOutputWithPast(logits=logits)

    def get_output_embeddings(self):
        return self.model.transformer.ff_out
