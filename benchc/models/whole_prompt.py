"""Models of which each forward pass needs the images again, so that a prompt cannot be continued alone."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import torch

from benchc.models.chat import ChatModel

# Inputs with a value for each token of the prompt. A further token has that of the last one.
_OF_EACH_TOKEN = ("attention_mask", "cross_attention_mask", "image_embeds_position_mask")


class WholePromptModel(ChatModel):
    """A model that reads prompt and option in one pass.

    Text attends to the images by layers of its own (Llama 3.2 Vision), or the class takes no text without
    an image.
    """

    shares_prompt: ClassVar[bool] = False

    def extended(self, inputs: Mapping[str, Any], tokens: Sequence[int]) -> dict[str, Any]:
        """Return the inputs with ``tokens`` after the prompt, which see the images that its last one sees."""
        ids = inputs["input_ids"]
        self.require_context(ids.shape[1] + len(tokens))
        added = torch.tensor(tokens, dtype=ids.dtype, device=ids.device).expand(len(ids), -1)
        longer = {
            name: torch.cat([mask, *[mask[:, -1:]] * len(tokens)], dim=1)
            for name, mask in inputs.items()
            if name in _OF_EACH_TOKEN
        }
        return {**inputs, "input_ids": torch.cat([ids, added], dim=1), **longer}


class OneImageModel(WholePromptModel):
    """A model that reads one image, which its processor writes before the prompt, as that of BLIP-2."""

    numbers_of_images: ClassVar[tuple[int, ...] | None] = (1,)
