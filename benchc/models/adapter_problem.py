"""Why an adapter of peft cannot be merged, seen before anything is loaded."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchc.json_content import json_content
from benchc.models.adapter_files import CONFIG, WEIGHTS
from benchc.models.weights import is_whole

# Types of peft that add a product of matrices, or a factor, to weights; the tests merge one of each.
MERGED = ("LORA", "LOHA", "LOKR", "IA3")
# How the matrices of LoRA began. Of other ways, peft changes the base model's weights when it loads them.
PLAIN_STARTS = (None, True, False, "gaussian", "eva", "orthogonal")
# Settings with which LoRA is no change of single weights. With the last, peft imports what the adapter names.
UNMERGED = ("alora_invocation_tokens", "arrow_config", "layer_replication", "megatron_config")


def adapter_problem(folder: Path) -> str | None:
    """Return why the adapter in ``folder`` cannot be merged, and what to do; None where nothing is seen.

    No weights are read but the header of a file of safetensors.
    """
    if not (folder / CONFIG).is_file():
        return f"has no {CONFIG}, so it is no adapter of peft; correct `adapter` in the model catalogue"
    try:
        config = json_content((folder / CONFIG).read_bytes())
    except ValueError:
        config = None
    if not isinstance(config, dict):
        return f"{CONFIG} is not a JSON object; copy the adapter again"
    if (reason := _unmerged(config)) is not None:
        return f"{reason}; merge it into its base model, and name the folder of the result in `path`"
    found = next((folder / name for name in WEIGHTS if (folder / name).is_file()), None)
    if found is None:
        return f"has no weights ({' or '.join(WEIGHTS)}); copy the adapter again"
    return None if is_whole(found) else f"{found.name} is damaged or incomplete; copy the adapter again"


def _unmerged(config: Mapping[str, Any]) -> str | None:
    kind, start = config.get("peft_type"), config.get("init_lora_weights")
    if kind not in MERGED:
        return (
            f"is of the type {kind!r}, which is not merged into a model's weights here ({', '.join(MERGED)} "
            "are)"
        )
    if kind == "LORA" and start not in PLAIN_STARTS:
        return (
            f"has `init_lora_weights: {start}`, by which its training changed the base model's weights, too"
        )
    other = next((key for key in UNMERGED if config.get(key)), None)
    return None if other is None else f"has `{other}`, which cannot be merged into weights"
