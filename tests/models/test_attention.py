"""The attention that an entry asks for: given to transformers, found in all parts, or refused in one line."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from benchc.hugging_face import transformers
from benchc.models.attention import attention_options, require_attention, supported_attention
from benchc.models.protocol import CheckpointSource, ModelError

FLASH = "flash_attention_2"


def source(attention: Any, device: str = "cpu", dtype: str = "float32") -> CheckpointSource:
    return CheckpointSource("m", attention=attention, device=device, dtype=dtype)


@pytest.mark.parametrize(
    ("given", "options"),
    [
        (source(None, "cuda", "bfloat16"), {}),
        (source("sdpa"), {"attn_implementation": "sdpa"}),
        (source("eager"), {"attn_implementation": "eager"}),
        (source("eager", "cuda"), {"attn_implementation": "eager"}),
        (source(FLASH, "cuda", "bfloat16"), {"attn_implementation": FLASH}),
        (source(FLASH, "cuda", "float16"), {"attn_implementation": FLASH}),
    ],
)
def test_transformers_is_given_the_attention_of_the_entry(given, options, monkeypatch):
    # The package is needed for the one alone.
    available = given.attention == FLASH
    monkeypatch.setattr(transformers.utils, "is_flash_attn_2_available", lambda: available)
    assert attention_options(given) == options


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (source(FLASH, "cpu", "bfloat16"), f"m: has attention: {FLASH} without gpus, but .*; set gpus: 1 in"),
        (source(FLASH, "cuda"), f"m: has attention: {FLASH} and dtype: float32, .* bfloat16 in the model ca"),
        (
            source(FLASH, "cuda", "bfloat16"),
            f"m: `attention: {FLASH}` needs the package flash_attn, 2.3.3 or",
        ),
    ],
)
def test_flash_attention_needs_a_gpu_half_precision_and_its_package(given, sentence, monkeypatch):
    monkeypatch.setattr(transformers.utils, "is_flash_attn_2_available", lambda: False)
    with pytest.raises(ModelError, match=f"^{sentence}"):
        attention_options(given)


# As PreTrainedModel says them (transformers 5, modeling_utils.py).
REFUSALS = (
    "TinyModel does not support Flash Attention 2 yet. Please request to add support.",
    "TinyModel does not support an attention implementation through "
    "torch.nn.functional.scaled_dot_product_attention yet.",
)


@pytest.mark.parametrize("words", REFUSALS)
def test_the_refusal_of_a_class_is_one_line(words):
    sentence = r"^m: TinyModel does not support `attention: sdpa`; choose another, or"
    with pytest.raises(ModelError, match=sentence), supported_attention(source("sdpa")):
        raise ValueError(words)
    # Where the entry asks for none, it is no mistake of the entry.
    with pytest.raises(ValueError, match=r"^TinyModel"), supported_attention(source(None)):
        raise ValueError(words)


@pytest.mark.parametrize("error", [ValueError("size mismatch"), TypeError(REFUSALS[0])])
def test_other_errors_of_loading_stay_as_they_are(error):
    with pytest.raises(type(error)) as caught, supported_attention(source("sdpa")):
        raise error
    assert caught.value is error


def part(attention: str, model_type: str = "tiny") -> Any:
    class Tiny(transformers.PreTrainedModel):
        def __init__(self) -> None:
            torch.nn.Module.__init__(self)
            self.config = SimpleNamespace(_attn_implementation=attention, model_type=model_type)

    return Tiny()


@pytest.mark.parametrize(
    ("asked", "parts", "refused"),
    [
        ("eager", [part("eager"), part("eager")], False),
        ("eager", [part("eager"), part("sdpa")], True),
        ("eager", [part("sdpa"), part("eager")], True),
        ("sdpa", [part("sdpa"), part("eager")], True),
        ("eager", [part("eager", "llama")], False),
        (None, [part("sdpa"), part("eager")], False),
        # What timm computes itself: `eager` is recorded for it without any effect.
        ("eager", [part("eager", "timm_wrapper")], True),
        ("sdpa", [part("sdpa", "timm_wrapper")], False),
    ],
)
def test_all_parts_have_the_attention(asked, parts, refused):
    model = torch.nn.ModuleList([torch.nn.Linear(1, 1), *parts])
    if not refused:
        require_attention(model, source(asked))
        return
    sentence = f"^m: Tiny does not support `attention: {asked}`; choose another, or"
    with pytest.raises(ModelError, match=sentence):
        require_attention(model, source(asked))
