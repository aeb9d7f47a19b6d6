"""Quantised checkpoints, which transformers loads by the `quantization_config` in their config.json."""

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import torch

from benchc.hugging_face import transformers
from benchc.models.adapter_files import NO_ADAPTER
from benchc.models.protocol import CheckpointSource, ModelError

# What transformers needs for each method, as pip calls it (`validate_environment` in its module quantizers).
PACKAGES: dict[str, tuple[str, ...]] = {
    "awq": ("accelerate", "gptqmodel"),
    "bitsandbytes": ("accelerate", "bitsandbytes"),
    "compressed-tensors": ("compressed-tensors",),
    "gptq": ("gptqmodel", "optimum"),
    "hqq": ("hqq",),
    "quanto": ("accelerate", "optimum-quanto"),
    "torchao": ("torchao",),
}
FLOATS = (torch.float32, torch.bfloat16, torch.float16)


def quantised_by(config: Mapping[str, Any]) -> str | None:
    """Return the method by which a checkpoint with this config.json is quantised; None if it is not."""
    settings = config.get("quantization_config")
    if not isinstance(settings, Mapping) or not settings:
        return None
    if settings.get("load_in_4bit") or settings.get("load_in_8bit"):  # of old checkpoints, without a method
        return "bitsandbytes"
    return str(settings.get("quant_method"))


def check_quantised(source: CheckpointSource, config: Mapping[str, Any]) -> None:
    """Raise ModelError for a quantised checkpoint that this process cannot load.

    Its method is unknown to transformers, or packages that it needs are absent, or it is to have an adapter.
    """
    method = quantised_by(config)
    if method is None:
        return
    if source.adapter not in (None, NO_ADAPTER):
        raise ModelError(
            f"{source.location}: is quantised ({method}), so that no adapter can be merged into its weights; "
            "name the base model in its original precision"
        )
    if method != "bitsandbytes" and method not in transformers.quantizers.auto.AUTO_QUANTIZER_MAPPING:
        # It would take the numbers for weights as they are.
        raise ModelError(
            f"{source.location}: is quantised by {method!r} (quantization_config in config.json), which is "
            f"unknown to transformers {transformers.__version__}; name the model in its original precision, "
            "or ask a server (docs/models.md)"
        )
    absent = [name for name in PACKAGES.get(method, ()) if not package_versions((name,))]
    if absent:
        raise ModelError(
            f"{source.location}: is quantised ({method}), for which transformers needs the package "
            f"{' and '.join(absent)}; run: pip install {' '.join(absent)}, or name an environment that has "
            "it (`env` in the model catalogue)"
        )


def check_head(model: Any, source: CheckpointSource) -> None:
    """Raise ModelError where the language head of a quantised model is quantised, too.

    The logits of options are computed in float32 from its weights.
    """
    head = model.get_output_embeddings()
    weight = None if head is None else getattr(head, "weight", None)
    if head is not None and getattr(weight, "dtype", None) not in FLOATS:
        raise ModelError(
            f"{source.location}: its language head is quantised, too, so that logits cannot be computed from "
            "its weights; name a checkpoint that leaves lm_head out, or ask a server (docs/models.md)"
        )


def quantisation_facts(config: Mapping[str, Any]) -> dict[str, str]:
    """Return what decides the predictions of a quantised checkpoint besides its files; nothing of others."""
    method = quantised_by(config)
    return {} if method is None else {"quantised": method, **package_versions(PACKAGES.get(method, ()))}


def package_versions(names: tuple[str, ...]) -> dict[str, str]:
    """Return the versions of those packages that are installed."""
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
