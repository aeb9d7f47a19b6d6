"""The loop of today's harnesses: one image after another, through the processor and `generate` alone."""

from collections.abc import Sequence
from typing import Any

import torch
from PIL import Image

from benchc.pixels import Pixels


def generated(model: Any, processor: Any, prompt: str, images: Sequence[Pixels], tokens: int) -> str:
    """Return a model's answer of at most ``tokens`` tokens to a rendered prompt with images."""
    inputs = processor(
        text=[prompt], images=[[Image.fromarray(image) for image in images]], return_tensors="pt"
    )
    moved = {
        name: value.to(model.device, model.dtype if value.is_floating_point() else None)
        for name, value in inputs.items()
    }
    with torch.inference_mode():
        found = model.generate(**moved, max_new_tokens=tokens, do_sample=False)
    answer: str = processor.tokenizer.decode(
        found[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True
    )
    return answer
