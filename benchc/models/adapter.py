"""Merge an adapter of peft into a model's weights, in float32."""

import warnings
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch

from benchc.models.adapter_problem import adapter_problem
from benchc.models.hub.cached import cached_adapter, not_here
from benchc.models.protocol import ModelError

# In the names of peft's parameters, before those of a module that the adapter changes or replaces.
CHANGED = (".base_layer.", ".original_module.")


def check_adapter(folder: Path, commit: str | None, name: str) -> None:
    """Raise ModelError where the adapter ``name``, whose files are in ``folder``, cannot be merged.

    ``commit``: that of one on the Hub, which must be in its cache.
    """
    if commit is not None and cached_adapter(name, commit) is None:
        raise ModelError(not_here(name, commit, adapter=True))
    if (problem := adapter_problem(folder)) is not None:
        raise ModelError(f"{name}: {problem}")
    if find_spec("peft") is None:
        raise ModelError(
            f"{name}: an adapter needs the package peft, which is not installed; install it, or name an "
            "environment that has it (`env` in the model catalogue)"
        )


def merged(model: Any, folder: Path, name: str) -> Any:
    """Return ``model``, in float32, with an adapter merged into its weights in place.

    LoRA adds ``lora_alpha / r * B A`` to a weight (Hu et al., 2022), and with ``use_rslora`` ``lora_alpha /
    sqrt(r) * B A`` (Kalajdzievski, 2023). Raises ModelError where the adapter does not fit the model: where
    it names other modules, its weights have other shapes, and where one of them has no place in the model, or
    a module of the model no weights in it, which peft passes over.
    """
    # Imported here because other errors need not wait.
    from benchc.models.tuning.lora import peft

    with warnings.catch_warnings():
        # Those of peft are about what is checked here, and about names in transformers.
        warnings.simplefilter("ignore")
        return _merged(peft, model, folder, name)


def _merged(peft: Any, model: Any, folder: Path, name: str) -> Any:
    times = Counter(id(each) for _, each in model.named_parameters(remove_duplicate=False))
    try:
        config = peft.PeftConfig.from_pretrained(str(folder))
        config.inference_mode = False  # so that all that it learned requires a gradient
        adapted = peft.PeftModel(model, config)
        learned = {key: each for key, each in adapted.named_parameters() if each.requires_grad}
        with torch.no_grad():
            for each in learned.values():
                each.fill_(torch.nan)
        unknown = adapted.load_adapter(
            str(folder), "default", is_trainable=True, torch_device="cpu"
        ).unexpected_keys
    except Exception as error:  # peft raises many types
        reason = " ".join(str(error).split())
        if not isinstance(error, ValueError | RuntimeError):
            reason = f"{type(error).__name__}: {reason}"
        raise ModelError(
            f"{name}: does not fit the model, {type(model).__name__} ({reason[:300]}); name the base model "
            "that it was made for in `path` or `repo`"
        ) from error
    absent = [key for key, each in learned.items() if not each.isfinite().all()]
    if unknown or absent:
        what = (
            f"{len(unknown)} of its weights have no place in the model, {type(model).__name__}, for example "
            f"{unknown[0]}"
            if unknown
            else f"{len(absent)} of its weights are missing or not finite, for example {absent[0]}"
        )
        raise ModelError(
            f"{name}: {what}; name the base model that it was made for in `path` or `repo`, or copy the "
            "adapter again"
        )
    tied = [
        key
        for key, each in adapted.named_parameters(remove_duplicate=False)
        if times[id(each)] > 1 and any(part in key for part in CHANGED)
    ]
    if tied:
        raise ModelError(
            f"{name}: changes weights that two layers of the model share ({tied[0]}), so that merging would "
            "change both; untie them (`tie_word_embeddings: false`), merge the adapter there, and name the "
            "folder of the result in `path`"
        )
    return adapted.merge_and_unload()
