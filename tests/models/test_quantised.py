"""Which checkpoints are quantised, and what is needed to load them."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from benchc.models import quantised
from benchc.models.protocol import CheckpointSource, ModelError
from benchc.models.quantised import check_head, check_quantised, quantisation_facts, quantised_by

SOURCE = CheckpointSource("m")


def by(method: object, **settings: object) -> dict[str, Any]:
    return {"quantization_config": {"quant_method": method, **settings}}


@pytest.mark.parametrize(
    ("config", "method"),
    [
        ({}, None),
        ({"quantization_config": None}, None),
        ({"quantization_config": {}}, None),
        ({"quantization_config": ["awq"]}, None),
        (by("awq"), "awq"),
        # Of old checkpoints, which name no method.
        ({"quantization_config": {"load_in_4bit": True}}, "bitsandbytes"),
        ({"quantization_config": {"load_in_8bit": True}}, "bitsandbytes"),
        (by("gptq", load_in_4bit=False, load_in_8bit=False), "gptq"),
        ({"quantization_config": {"bits": 4}}, "None"),
    ],
)
def test_the_method_is_that_of_config_json(config, method):
    assert quantised_by(config) == method


@pytest.fixture
def installed(monkeypatch) -> dict[str, str]:
    versions: dict[str, str] = {}

    def version(name: str) -> str:
        if name not in versions:
            raise quantised.PackageNotFoundError
        return versions[name]

    monkeypatch.setattr(quantised, "version", version)
    return versions


@pytest.mark.parametrize(
    ("config", "packages", "adapter", "sentence"),
    [
        ({}, (), "someone/lora", None),
        (by("awq"), ("accelerate", "gptqmodel"), None, None),
        # As a model that is used without the adapter beside it.
        (by("awq"), ("accelerate", "gptqmodel"), "none", None),
        (by("awq"), ("accelerate", "gptqmodel"), "someone/lora", r"is quantised \(awq\), so that no adapter"),
        (by("awq"), ("gptqmodel",), None, "needs the package accelerate; run: pip install accelerate, or"),
        (
            by("awq"),
            (),
            None,
            "accelerate and gptqmodel; run: pip install accelerate gptqmodel, or name an",
        ),
        (by("my4bit"), (), None, r"is quantised by 'my4bit' .* unknown to transformers 5\."),
        ({"quantization_config": {"bits": 4}}, (), None, "is quantised by 'None'"),
        ({"quantization_config": {"load_in_4bit": True}}, ("accelerate", "bitsandbytes"), None, None),
        (
            {"quantization_config": {"load_in_4bit": True}},
            ("accelerate",),
            None,
            "the package bitsandbytes;",
        ),
        (by("fp8"), (), None, None),
    ],
)
def test_a_method_is_known_and_its_packages_are_there(installed, config, packages, adapter, sentence):
    installed.update(dict.fromkeys(packages, "1"))
    source = CheckpointSource("m", adapter=adapter)
    if sentence is None:
        check_quantised(source, config)
        return
    with pytest.raises(ModelError, match=f"^m: .*{sentence}"):
        check_quantised(source, config)


def test_the_identity_has_the_versions_of_the_packages_that_are_there(installed):
    installed.update(gptqmodel="4.2", numpy="2")
    assert quantisation_facts({}) == {}
    assert quantisation_facts(by("awq")) == {"quantised": "awq", "gptqmodel": "4.2"}
    assert quantisation_facts(by("fp8")) == {"quantised": "fp8"}


@pytest.mark.parametrize(
    ("head", "refused"),
    [
        *(
            (SimpleNamespace(weight=torch.zeros(1, dtype=dtype)), False)
            for dtype in (torch.float32, torch.float16)
        ),
        (SimpleNamespace(weight=torch.zeros(1, dtype=torch.bfloat16)), False),
        (None, False),  # of a model without one
        (SimpleNamespace(weight=torch.zeros(1, dtype=torch.uint8)), True),
        (SimpleNamespace(qweight=torch.zeros(1)), True),
    ],
)
def test_the_weights_of_a_language_head_are_real_numbers(head, refused):
    model = SimpleNamespace(get_output_embeddings=lambda: head)
    if not refused:
        check_head(model, SOURCE)
        return
    with pytest.raises(ModelError, match=r"^m: its language head is quantised, too"):
        check_head(model, SOURCE)
