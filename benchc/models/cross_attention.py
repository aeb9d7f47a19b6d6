"""Models whose text attends to the images by layers of its own, such as Llama 3.2 Vision (mllama)."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch

from benchc.models.chat import ChatModel


class CrossAttentionModel(ChatModel):
    """A model with a mask of images and tiles for each token, which a continued pass would lack."""

    shares_prompt: ClassVar[bool] = False

    def extended(self, inputs: Mapping[str, Any], tokens: Sequence[int]) -> dict[str, Any]:
        """Return the inputs with ``tokens`` after the prompt, which see the images that its last one sees."""
        ids, mask = inputs["input_ids"], inputs["attention_mask"]
        self.require_context(ids.shape[1] + len(tokens))
        images = inputs["cross_attention_mask"]  # [rows, positions, images, tiles]
        added = torch.tensor(tokens, dtype=ids.dtype, device=ids.device).expand(len(ids), -1)
        return {
            **inputs,
            "input_ids": torch.cat([ids, added], dim=1),
            "attention_mask": torch.cat([mask, torch.ones_like(added)], dim=1),
            "cross_attention_mask": torch.cat([images, images[:, -1:].repeat(1, len(tokens), 1, 1)], dim=1),
        }
