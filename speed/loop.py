"""The loop of today's harnesses: one image after another, through the processor and the model alone."""

from collections.abc import Sequence
from typing import Any

import torch
from PIL import Image

from benchc.pixels import Pixels


def classified(model: Any, processor: Any, prompt: str, image: Pixels) -> str:
    """Return the answer of a VQA head with a closed list."""
    inputs = processor(text=prompt, images=Image.fromarray(image), return_tensors="pt")
    moved = _on_device(model, inputs)
    with torch.inference_mode():
        logits = model(**moved).logits
    answer: str = model.config.id2label[int(logits.argmax())]
    return answer


def generated(model: Any, processor: Any, prompt: str, images: Sequence[Pixels], tokens: int) -> str:
    """Return a model's answer of at most ``tokens`` tokens to a rendered prompt with images."""
    inputs = processor(
        text=[prompt], images=[[Image.fromarray(image) for image in images]], return_tensors="pt"
    )
    moved = _on_device(model, inputs)
    with torch.inference_mode():
        found = model.generate(**moved, max_new_tokens=tokens, do_sample=False)
    answer: str = processor.tokenizer.decode(
        found[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True
    )
    return answer


def _on_device(model: Any, inputs: Any) -> dict[str, Any]:
    return {
        name: value.to(model.device, model.dtype if value.is_floating_point() else None)
        for name, value in inputs.items()
    }
