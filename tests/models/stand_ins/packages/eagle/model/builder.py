"""Signatures of eagle/model/builder.py and eagle/model/language_model/eagle_llama.py of NVlabs/EAGLE.

As there, the vision encoders are loaded from repositories of their own while the model is built, and a prompt
beyond ``tokenizer_model_max_length`` is cut at its end.
"""

import torch
from torch import nn
from transformers import AutoTokenizer, PreTrainedModel
from transformers.modeling_outputs import CausalLMOutputWithPast

from eagle.constants import IMAGE_TOKEN_INDEX
from eagle.model.multimodal_encoder.convnext_encoder import ConvNextVisionTower
from eagle.model.multimodal_encoder.hr_clip_encoder import HRCLIPVisionTower
from eagle.model.multimodal_encoder.pix2struct_encoder import Pix2StructLargeVisionTower
from eagle.model.multimodal_encoder.sam_encoder import SAMVisionTower
from tests.models.stand_ins.code.tiny_language import (
    IMAGE_TOKENS,
    Layer,
    SizedConfig,
    Vision,
    pixels_of,
    refuse_others,
)


class EagleConfig(SizedConfig):
    model_type = "eagle_llama"
    image_aspect_ratio: str = "pad"
    mm_use_im_start_end: bool = False
    tokenizer_model_max_length: int = 2048


class Encoders(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.num_tokens = IMAGE_TOKENS
        self.project = Vision(config.hidden_size)
        self.vision_towers = nn.ModuleList(
            [
                ConvNextVisionTower("convnext_xxlarge.clip_laion2b_soup"),
                SAMVisionTower(),
                Pix2StructLargeVisionTower(),
                HRCLIPVisionTower("openai/clip-vit-large-patch14-336"),
            ]
        )

    def forward(self, pixels):
        return self.project(pixels) + self.vision_towers[-1](pixels)

    @property
    def num_patches(self):
        return self.num_tokens


class EagleLlamaForCausalLM(PreTrainedModel):
    config_class = EagleConfig

    def __init__(self, config):
        super().__init__(config)
        self.embed = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layer = Layer(config.hidden_size)
        self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)
        self.vision = Encoders(config)
        self.post_init()

    def get_vision_tower(self):
        return self.vision

    def get_output_embeddings(self):
        return self.lm_head

    def forward(self, input_ids=None, images=None, image_sizes=None, **others):
        refuse_others(others, "attention_mask")
        assert len(image_sizes) == len(images) and all(len(size) == 2 for size in image_sizes)
        features, rows, taken = self.vision(images), [], 0
        for ids in input_ids:
            parts = []
            for token in ids.tolist():
                if token == IMAGE_TOKEN_INDEX:
                    parts.append(features[taken])
                    taken += 1
                else:
                    parts.append(self.embed.weight[token][None])
            rows.append(torch.cat(parts)[: self.config.tokenizer_model_max_length])
        assert taken == len(images)
        return CausalLMOutputWithPast(logits=self.lm_head(self.layer(torch.stack(rows))))


class ImageProcessor:
    def __call__(self, images, return_tensors=None):
        return {"pixel_values": torch.stack([pixels_of(image) for image in images])}


def load_pretrained_model(
    model_path,
    model_base,
    model_name,
    load_8bit=False,
    load_4bit=False,
    device_map="auto",
    device="cuda",
    use_flash_attn=False,
):
    assert model_base is None and "eagle" in model_name.lower() and not (load_8bit or load_4bit)
    model = EagleLlamaForCausalLM.from_pretrained(model_path).half()
    return AutoTokenizer.from_pretrained(model_path), model.to(device), ImageProcessor(), 2048
