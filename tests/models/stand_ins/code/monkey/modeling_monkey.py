"""Signatures of modeling_monkey.py of echo840/Monkey-Chat (monkey_model of Yuliang-Liu/Monkey)."""

import torch
from PIL import Image
from torch import nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast

from .tiny_language import Layer, SizedConfig, Vision, pixels_of, refuse_others


class MonkeyConfig(SizedConfig):
    model_type = "monkey"
    visual: dict | None = None
    bf16: bool = False
    fp16: bool = False
    fp32: bool = False


class MonkeyModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.wte = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layer = Layer(config.hidden_size)
        self.visual = Vision(config.hidden_size)


class MonkeyLMHeadModel(PreTrainedModel):
    config_class = MonkeyConfig

    def __init__(self, config):
        super().__init__(config)
        assert config.bf16 + config.fp16 + config.fp32 <= 1, "Only one of bf16, fp16, fp32 can be true"
        assert config.bf16 + config.fp16 + config.fp32, "upstream chooses by the device"
        self.transformer = MonkeyModel(config)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.post_init()

    def get_output_embeddings(self):
        return self.lm_head

    def forward(self, input_ids=None, **others):
        encoder = ("encoder_hidden_states", "encoder_attention_mask")
        refuse_others(others, "attention_mask", "token_type_ids", "head_mask", *encoder)
        start = self.config.visual["image_start_id"]
        x = self.transformer.wte(input_ids)
        rows, begins = torch.where(input_ids == start)
        _, ends = torch.where(input_ids == start + 1)
        for row, begin, end in zip(rows, begins, ends, strict=True):
            path = input_ids[row][begin + 1 : end].tolist()
            image = Image.open(bytes(path[: path.index(start + 2)]).decode()).convert("RGB")
            features = self.transformer.visual(pixels_of(image)[None])[0]
            x[row, begin + 1 : begin + 5] = features
            x[row, begin + 5 : end] = 0
        return CausalLMOutputWithPast(logits=self.lm_head(self.transformer.layer(x)))
