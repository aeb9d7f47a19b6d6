"""Signatures of hf_moondream.py, moondream.py and text.py of vikhyatk/moondream2 in January 2025."""

from dataclasses import dataclass, field
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional
from transformers import PretrainedConfig, PreTrainedModel

from .tiny_language import Vision, pixels_of, values_of


class HfConfig(PretrainedConfig):
    model_type = "moondream1"

    def __init__(self, config=None, **kwargs):
        super().__init__(**kwargs)
        self.config = config or {}


@dataclass(frozen=True)
class TokenizerConfig:
    bos_id: int
    templates: dict


@dataclass(frozen=True)
class TextConfig:
    max_context: int = 1024


@dataclass(frozen=True)
class MoondreamConfig:
    tokenizer: TokenizerConfig
    vocab_size: int
    dim: int
    text: TextConfig = field(default_factory=TextConfig)


@dataclass(frozen=True)
class EncodedImage:
    pos: int
    kv_cache: torch.Tensor


class MoondreamModel(nn.Module):
    def __init__(self, config, folder):
        super().__init__()
        self.config = config
        self.tokenizer = Tokenizer.from_file(str(Path(folder, "tokenizer.json")))
        self.vision = Vision(config.dim)
        self.text = nn.ModuleDict(
            {
                "mix": nn.Linear(config.dim, config.dim),
                "post_ln": nn.LayerNorm(config.dim),
                "lm_head": nn.Linear(config.dim, config.vocab_size),
            }
        )
        self.text.wte = nn.Parameter(torch.randn(config.vocab_size, config.dim))

    def _prefill(self, x, kv_cache, pos):
        end = pos + x.shape[1]
        kv_cache[:, pos:end] = values_of(x, self.text["mix"], pos)
        counts = torch.arange(1, end + 1, dtype=x.dtype, device=x.device)[:, None]
        return x + (kv_cache[:, :end].to(x.dtype).cumsum(1) / counts)[:, pos:]

    def encode_image(self, image):
        if isinstance(image, EncodedImage):
            return image
        like = {"dtype": torch.float16, "device": self.text.wte.device}
        kv_cache = torch.zeros(1, self.config.text.max_context, self.config.dim, **like)
        with torch.no_grad():
            ids = torch.tensor([[self.config.tokenizer.bos_id]], device=like["device"])
            bos = functional.embedding(ids, self.text.wte)
            x = torch.cat([bos, self.vision(pixels_of(image)[None].to(**like))], dim=1)
            self._prefill(x, kv_cache, 0)
        return EncodedImage(pos=x.shape[1], kv_cache=kv_cache)

    def _prefill_prompt(self, kv_cache, prompt_tokens, pos):
        with torch.no_grad():
            hidden = self._prefill(functional.embedding(prompt_tokens, self.text.wte), kv_cache, pos)
            last, head = self.text["post_ln"](hidden[:, -1, :]), self.text["lm_head"]
            # Not a call of the module, as upstream.
            logits = functional.linear(last, head.weight, head.bias)
        return logits, hidden, logits.argmax(-1), pos + prompt_tokens.shape[1]

    def query(self, image, question, stream=False, settings=None):
        """Return the logits [vocabulary] of the first token, which upstream decodes."""
        image = self.encode_image(image)
        template = self.config.tokenizer.templates["query"]
        ids = template["prefix"] + self.tokenizer.encode(question).ids + template["suffix"]
        return self._prefill_prompt(image.kv_cache.clone(), torch.tensor([ids]), image.pos)[0][0]


class HfMoondream(PreTrainedModel):
    config_class = HfConfig

    def __init__(self, config):
        super().__init__(config)
        settings = dict(config.config)
        settings["tokenizer"] = TokenizerConfig(**settings["tokenizer"])
        self.model = MoondreamModel(MoondreamConfig(**settings), config.name_or_path)
        self.post_init()

    def get_output_embeddings(self):
        return None

    @property
    def encode_image(self):
        return self.model.encode_image

    @property
    def query(self):
        return self.model.query
