"""Signatures of deepseek_vl2/models of deepseek-ai/DeepSeek-VL2: processor, model, and their registration."""

from types import SimpleNamespace

import torch
from torch import nn
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast

from tests.models.stand_ins.code.tiny_language import (
    IMAGE_TOKENS,
    Layer,
    SizedConfig,
    Vision,
    pixels_of,
    refuse_others,
)


class DeepseekVLV2Processor:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.sft_format = "deepseek"
        self.image_token = "<image>"

    @classmethod
    def from_pretrained(cls, pretrained_model_name_or_path):
        return cls(AutoTokenizer.from_pretrained(pretrained_model_name_or_path))

    def format_messages(self, conversations, sft_format="deepseek", system_prompt=""):
        assert (sft_format, system_prompt) == ("deepseek", "")
        turns = [
            f"{message['role']}: {message['content'].strip()}\n\n"
            if message["content"]
            else f"{message['role']}:"
            for message in conversations
        ]
        return "".join(turns)

    def __call__(
        self,
        *,
        prompt=None,
        conversations=None,
        images=None,
        apply_sft_format=False,
        force_batchify=True,
        inference_mode=True,
        system_prompt="",
    ):
        assert prompt is None and force_batchify
        ids, seen = [self.tokenizer.bos_token_id], [False]
        question, answer = conversations
        asked = [question, {"role": answer["role"], "content": ""}]
        chunks = self.format_messages(asked, self.sft_format, system_prompt).split(self.image_token)
        assert len(chunks) == len(images) + 1
        for number, chunk in enumerate(chunks):
            words = self.tokenizer.encode(chunk, add_special_tokens=False)
            image = IMAGE_TOKENS if number else 0
            ids += [self.tokenizer.convert_tokens_to_ids(self.image_token)] * image + words
            seen += [True] * image + [False] * len(words)
        # Upstream encodes the answer apart.
        words = self.tokenizer.encode(answer["content"].strip(), add_special_tokens=False)
        words += [] if inference_mode else [self.tokenizer.eos_token_id]
        ids += words
        seen += [False] * len(words)
        return SimpleNamespace(
            input_ids=torch.tensor([ids]),
            attention_mask=torch.ones(1, len(ids), dtype=torch.bool),
            images=torch.stack([pixels_of(image) for image in images])[None],
            images_seq_mask=torch.tensor([seen]),
            images_spatial_crop=torch.ones(1, len(images), 2, dtype=torch.long),
        )


class DeepseekVLV2Config(SizedConfig):
    model_type = "deepseek_vl_v2"


class DeepseekV2ForCausalLM(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layer = Layer(config.hidden_size)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def get_output_embeddings(self):
        return self.lm_head


class DeepseekVLV2ForCausalLM(PreTrainedModel):
    config_class = DeepseekVLV2Config

    def __init__(self, config):
        super().__init__(config)
        self.language = DeepseekV2ForCausalLM(config)
        self.vision = Vision(config.hidden_size)
        self.post_init()

    def prepare_inputs_embeds(
        self, input_ids, images=None, images_seq_mask=None, images_spatial_crop=None, **ignore_kwargs
    ):
        x = self.language.embed(input_ids)
        assert images_spatial_crop.shape[:2] == images.shape[:2]
        for row, pixels in enumerate(images):
            features = self.vision(pixels).flatten(0, 1)
            assert images_seq_mask[row].sum() == len(features)
            x[row, images_seq_mask[row]] = features
        return x

    def forward(
        self,
        input_ids=None,
        attention_mask=None,
        inputs_embeds=None,
        images=None,
        images_seq_mask=None,
        images_spatial_crop=None,
        **others,
    ):
        refuse_others(others, "cache_position")
        if inputs_embeds is None:
            given = (images, images_seq_mask, images_spatial_crop)
            inputs_embeds = self.prepare_inputs_embeds(input_ids, *given)
        assert attention_mask.shape == inputs_embeds.shape[:2]
        return CausalLMOutputWithPast(logits=self.language.lm_head(self.language.layer(inputs_embeds)))


AutoConfig.register("deepseek_vl_v2", DeepseekVLV2Config, exist_ok=True)
AutoModelForCausalLM.register(DeepseekVLV2Config, DeepseekVLV2ForCausalLM, exist_ok=True)
