"""Signatures of modeling_sailvl.py and conversation.py of BytedanceDouyinContent/SAIL-VL-1d6-8B."""

import copy
from types import SimpleNamespace

from torch import nn
from transformers import PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast

from .tiny_language import IMAGE_TOKENS, Layer, SizedConfig, Vision, refuse_others


class Qwen2Config(SizedConfig):
    model_type = "qwen2"


class SailVLConfig(PretrainedConfig):
    model_type = "internvl_chat"

    def __init__(self, llm_config=None, image_size=16, **kwargs):
        self.llm_config = Qwen2Config(**llm_config or {})
        self.image_size = image_size
        super().__init__(**kwargs)

    def to_dict(self):
        return super().to_dict() | {"llm_config": self.llm_config.to_dict()}

    @property
    def vision_config(self):
        return SimpleNamespace(image_size=self.image_size)


class Conversation:
    def __init__(self):
        self.roles = ("<|im_start|>user\n", "<|im_start|>assistant\n")
        self.system_message = ""
        self.messages = []

    def copy(self):
        return copy.deepcopy(self)

    def append_message(self, role, message):
        self.messages.append((role, message))

    def get_prompt(self):
        turns = "".join(role + (message + "<|im_end|>" if message else "") for role, message in self.messages)
        return f"<|im_start|>system\n{self.system_message}<|im_end|>{turns}"


class Language(nn.Module):
    def __init__(self, config):
        super().__init__()
        if config._attn_implementation == "flash_attention_2":  # as PreTrainedModel does
            raise ImportError("FlashAttention2 has been toggled on, but flash_attn is not installed")
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layer = Layer(config.hidden_size)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size)

    def get_input_embeddings(self):
        return self.embed

    def get_output_embeddings(self):
        return self.lm_head

    def forward(self, inputs_embeds=None, attention_mask=None, **others):
        refuse_others(others, "input_ids", "cache_position")
        assert attention_mask.shape == inputs_embeds.shape[:2]
        return CausalLMOutputWithPast(logits=self.lm_head(self.layer(inputs_embeds)))


class SailVLModel(PreTrainedModel):
    config_class = SailVLConfig

    def __init__(self, config, vision_model=None, language_model=None):
        super().__init__(config)
        self.num_image_token = IMAGE_TOKENS
        self.vision_model = Vision(config.llm_config.hidden_size)
        self.language_model = Language(config.llm_config)
        self.img_context_token_id = None
        self.conv_template = Conversation()
        self.system_message = "A system message."
        self.post_init()

    def extract_feature(self, pixel_values):
        return self.vision_model(pixel_values)

    def chat(
        self,
        tokenizer,
        pixel_values,
        question,
        generation_config,
        history=None,
        return_history=False,
        num_patches_list=None,
        IMG_START_TOKEN="<img>",
        IMG_END_TOKEN="</img>",
        IMG_CONTEXT_TOKEN="<IMG_CONTEXT>",
        verbose=False,
    ):
        """Return the logits [positions, vocabulary] of the first step, which upstream decodes."""
        context = tokenizer.convert_tokens_to_ids(IMG_CONTEXT_TOKEN)
        template = self.conv_template.copy()
        template.system_message = self.system_message
        template.append_message(template.roles[0], question)
        template.append_message(template.roles[1], None)
        query = template.get_prompt() + generation_config.get("answer", "")
        for number in num_patches_list:
            tokens = IMG_START_TOKEN + IMG_CONTEXT_TOKEN * (self.num_image_token * number) + IMG_END_TOKEN
            query = query.replace("<image>", tokens, 1)
        words = tokenizer(query, return_tensors="pt")
        x = self.language_model.get_input_embeddings()(words["input_ids"])
        x[words["input_ids"] == context] = self.extract_feature(pixel_values).reshape(-1, x.shape[-1])
        return self.language_model(inputs_embeds=x, attention_mask=words["attention_mask"]).logits[0]
