"""Refuse a checkpoint whose weights are not those that its class computes with.

transformers fills missing weights with random numbers, leaves out those that the class does not use, and
takes quantised numbers for weights as they are; it only logs the first two.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open

from benchc.models.hub.files import weight_files
from benchc.models.protocol import ModelError

# Unused in any class: buffers of older checkpoints, which the classes compute themselves. What one class
# leaves out on purpose, such as heads that predict further tokens, is in its
# `_keys_to_ignore_on_load_unexpected`, and not in the report.
COMPUTED = re.compile(r"(^|\.)position_ids$|(^|\.)rotary_(pos_)?emb\.inv_freq$")
WEIGHTS = (".weight", ".bias")
# As safetensors and torch call them.
FLOATS = {"F64", "F32", "F16", "BF16", "float64", "float32", "float16", "bfloat16"}
# Of positions, counts and masks.
INTEGERS = {"I64", "I32", "BOOL", "int64", "int32", "bool"}


def require_weights(
    where: str,
    report: Mapping[str, Any],
    *,
    quantised: bool = False,
    ignored: re.Pattern[str] = COMPUTED,
) -> None:
    """Raise ModelError unless all weights of a checkpoint, and no others, are in the model that was loaded.

    Args:
        where: how messages call the checkpoint.
        report: the loading info of transformers: missing, mismatched and unexpected keys.
        quantised: whether numbers of the quantisation, which have other names, may be unused.
        ignored: the names of those that may be missing or unused.
    """
    absent = _counted(report["missing_keys"], ignored)
    if absent:
        raise ModelError(
            f"{where}: {len(absent)} of the model's weights are missing, for example {absent[0]}; download "
            "the checkpoint again, or name one of this class"
        )
    if report["mismatched_keys"]:
        name, stored, expected = sorted(report["mismatched_keys"])[0]
        raise ModelError(
            f"{where}: {len(report['mismatched_keys'])} of its weights have another shape than config.json "
            f"says, for example {name}, {_shape(stored)} instead of {_shape(expected)}; correct config.json, "
            "or download the checkpoint again"
        )
    unused = _counted(report["unexpected_keys"], ignored)
    if quantised:
        unused = [name for name in unused if name.endswith(WEIGHTS)]
    if unused:
        raise ModelError(
            f"{where}: {len(unused)} of its weights have no place in the model, for example {unused[0]}, and "
            "would be left out; correct config.json (such as num_hidden_layers), download the checkpoint "
            "again, or save it without them if the model is to have no such part"
        )


def require_floats(where: str, folder: Path) -> None:
    """Raise ModelError where weights in ``folder``, of a model that is not quantised, are no real numbers."""
    names = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
    for path in (folder / name for name in weight_files(names, folder)):
        for name, dtype in _dtypes(path).items():
            if dtype not in FLOATS and (dtype not in INTEGERS or name.endswith(WEIGHTS)):
                raise ModelError(
                    f"{where}: {name} in {path.name} is stored as {dtype}, and nothing says what the numbers "
                    "stand for (`quantization_config` in config.json); download the checkpoint again, or "
                    "name the model in its original precision"
                )


def require_vocabulary(where: str, model: Any, tokenizer: Any) -> None:
    """Raise ModelError where the tokenizer, or the end of an answer, has tokens beyond the embedding.

    Tokens that were added to the tokenizer may be: some classes never look up the one for an image.
    """
    rows, tokens = len(model.get_input_embeddings().weight), int(tokenizer.vocab_size)
    if tokens > rows:
        raise ModelError(
            f"{where}: its tokenizer has {tokens:,} tokens, but the model's embedding {rows:,}, so that they "
            "are of different models; download the checkpoint again, with its own tokenizer"
        )
    ends = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    beyond = [token for token in (ends if isinstance(ends, list) else [ends]) if token and token >= rows]
    if beyond:
        raise ModelError(
            f"{where}: an answer ends with token {beyond[0]:,} (eos_token_id in generation_config.json), but "
            f"the model has {rows:,}; correct it, or download the checkpoint again"
        )


def _counted(names: Collection[object], ignored: re.Pattern[str]) -> list[str]:
    return sorted(name for name in map(str, names) if not ignored.search(name))


def _shape(sizes: Collection[int]) -> str:
    return " x ".join(map(str, sizes))


def _dtypes(path: Path) -> dict[str, str]:
    """Return how each tensor of a file is stored; nothing of it but its header is read."""
    if path.suffix == ".safetensors":
        with safe_open(path, framework="numpy") as file:
            return {name: file.get_slice(name).get_dtype() for name in file.keys()}  # noqa: SIM118, no mapping
    stored = torch.load(path, map_location="meta", weights_only=True)
    return {
        name: str(value.dtype).removeprefix("torch.")
        for name, value in stored.items()
        if isinstance(value, torch.Tensor)
    }
