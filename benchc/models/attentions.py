"""How a model's attention may be computed. Imports nothing heavy."""

from typing import Literal

Attention = Literal["sdpa", "eager", "flash_attention_2"]

FLASH: Attention = "flash_attention_2"


def misfit(attention: str | None, dtype: str, *, on_gpu: bool) -> str | None:
    """Return why an attention cannot compute in a precision on a device, and what to do; None if it can."""
    if attention == FLASH and not on_gpu:
        return f"has attention: {FLASH} without gpus, but it computes on a GPU alone; set gpus: 1"
    if attention == FLASH and dtype == "float32":
        return f"has attention: {FLASH} and dtype: float32, in which it cannot compute; set dtype: bfloat16"
    return None
