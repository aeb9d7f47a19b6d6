"""Check the small files of a checkpoint, before transformers reads them with less helpful errors."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

from benchc.hugging_face import transformers
from benchc.json_content import json_content
from benchc.models.adapter_files import CONFIG as ADAPTER
from benchc.models.adapter_files import NO_ADAPTER, only_an_adapter
from benchc.models.folder import WEIGHTS, json_object, leaves
from benchc.models.gpu_memory import enough_memory
from benchc.models.protocol import CheckpointSource, ModelError

# The files with settings; a checkpoint has some of them.
SETTINGS = (
    "config.json",
    "generation_config.json",
    "preprocessor_config.json",
    "processor_config.json",
    "tokenizer_config.json",
    "video_preprocessor_config.json",
)
IMAGE_SETTINGS = ("preprocessor_config.json", "processor_config.json")
PARTS = ("text_config", "vision_config")  # of config.json
# Numbers of layers in config.json. Models have some hundreds; one of 10 million is not built within minutes.
LAYERS = re.compile(r"(^|_)(layers?|depths?|blocks)$")
MOST_LAYERS = 10_000
LONGEST = 400  # characters of an error of transformers, which may list all model types
# A checkpoint without any of them has no tokenizer.
TOKENIZERS = (
    "tokenizer.json",
    "tokenizer.model",
    "vocab.json",
    "vocab.txt",
    "spiece.model",
    "sentencepiece.bpe.model",
    "tekken.json",
)


@contextmanager
def loading(source: CheckpointSource, commit: str | None, *, divides: bool = True) -> Iterator[None]:
    """Turn any error of the block, which loads a checkpoint, into a ModelError of one line.

    ``divides``: whether the model may be divided among GPUs.
    """
    try:
        with enough_memory(source, divides=divides):
            yield
    except ModelError:
        raise
    except Exception as error:  # damaged files make transformers raise many types
        where, reason = source.location, " ".join(str(error).split())
        if "trust_remote_code" in reason:
            raise ModelError(
                f"{where}: contains Python code that would have to be run; read it, and if you trust it, set "
                "`trust_remote_code: true` in the model catalogue, for a model on the Hub with a commit as "
                "`revision`"
            ) from error
        if isinstance(error, ImportError):
            raise ModelError(
                f"{where}: its class needs a package that is not installed ({reason}); install it, or "
                "name an environment that has it (`env` in the model catalogue)"
            ) from error
        if isinstance(error, UnpicklingError):
            raise ModelError(
                f"{where}: its weights are a damaged pickle, or one that would run code, which is not read; "
                "name a checkpoint with weights in the format safetensors"
            ) from error
        if (missing := _missing(where, commit)) is not None:
            raise ModelError(f"{where}: {missing}") from error
        if not isinstance(error, OSError | ValueError):
            reason = f"{type(error).__name__}: {reason}"
        fix = (
            "check the folder and its files, or download the checkpoint again"
            if commit is None
            else "check the id and the revision in the model catalogue, and that the model is in the cache"
        )
        raise ModelError(f"{where}: cannot be loaded ({reason[:LONGEST]}); {fix}") from error


def check_files(source: CheckpointSource, commit: str | None) -> dict[str, Any]:
    """Check the files with settings at a commit, None for a folder, and return the content of config.json.

    Raises ModelError for a file that is not a JSON object, for a part that is null, for another family than
    the source's, for an adapter beside a model, for weights outside the folder, for more layers than a model
    has, and for code from a second repository, whose commit cannot be pinned.
    """
    with loading(source, commit):
        contents = {
            name: _settings(source.location, path)
            for name in SETTINGS
            if (path := _path(source.location, name, commit))
        }
        adapter = _path(source.location, ADAPTER, commit)
    if adapter is not None and "config.json" not in contents:
        raise ModelError(f"{source.location}: {only_an_adapter(source.location, adapter)}")
    if adapter is not None and source.adapter is None:
        raise ModelError(
            f"{source.location}: has an adapter ({ADAPTER}) beside a model, so it is not clear which is "
            f"meant; in the model catalogue, set `adapter: {source.location}` for the model with this "
            f"adapter, or `adapter: {NO_ADAPTER}` for the model alone"
        )
    config = contents.get("config.json", {})
    if commit is None:
        _refuse_outside(Path(source.location), config)
    kernel = next(_kernels(config), None)
    if kernel is not None:
        raise ModelError(
            f"{source.location}: config.json names code of another repository for the attention ({kernel}), "
            "which a commit of this one does not pin; name a folder with a copy of the model without this key"
        )
    for key, layers in _layers(config):
        if layers > MOST_LAYERS:
            raise ModelError(
                f"{source.location}: config.json has {key} {layers:,}, and a model has {MOST_LAYERS:,} at "
                "most; correct it, or download the checkpoint again"
            )
    model_type = config.get("model_type")
    if model_type is not None and not isinstance(model_type, str):
        raise ModelError(
            f"{source.location}: the model type in config.json is {model_type!r}, which is no name; download "
            "the checkpoint again"
        )
    empty = [name for name in PARTS if config.get(name, ...) is None and not source.trust_remote_code]
    if empty:
        raise ModelError(
            f"{source.location}: {empty[0]} in config.json is null, for which transformers makes a model of "
            "its own sizes, perhaps larger than the memory; download the checkpoint again"
        )
    # A family of our own need not be a model type of transformers.
    if (
        model_type is not None
        and source.family in transformers.CONFIG_MAPPING
        and model_type != source.family
    ):
        raise ModelError(
            f"{source.location}: is a model of the family {model_type!r} (model_type in config.json), not "
            f"{source.family!r}; correct `family` in the model catalogue"
        )
    if source.trust_remote_code:
        for name, content in contents.items():
            _refuse_upstream_code(source.location, name, content.get("auto_map"))
    return config


def _missing(location: str, commit: str | None) -> str | None:
    """Return what a checkpoint lacks, and what to do; None where it has the files of a model for images."""

    def has(*names: str) -> bool:
        return any(_path(location, name, commit) for name in names)

    gguf = "gguf" in location.lower() if commit else any(Path(location).glob("*.gguf"))
    try:
        if gguf and not has(*WEIGHTS):
            return (
                "its weights are in the format GGUF alone, which transformers does not load here; name the "
                "model that it was made from, or ask a server (docs/models.md)"
            )
        if not has("config.json"):
            return None
        if not has(*TOKENIZERS):
            return (
                f"the files of its tokenizer are missing ({', '.join(TOKENIZERS[:2])}, …); download the "
                "checkpoint again"
            )
        if not has(*IMAGE_SETTINGS):
            return (
                f"has no settings of an image processor ({' or '.join(IMAGE_SETTINGS)}); download the "
                "checkpoint again, or choose another model if it reads text alone"
            )
    except OSError:  # the Hub cannot be reached, or denies access
        return None
    return None


def _settings(location: str, path: Path) -> dict[str, Any]:
    try:
        content = json_content(path.read_bytes())
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise ModelError(f"{location}: {path.name} is not a JSON object; download the checkpoint again")
    return content


def _refuse_upstream_code(location: str, name: str, auto_map: object) -> None:
    """Raise ModelError where ``auto_map`` names another repository, as in ``owner/name--module.Class``."""
    values = list(auto_map.values()) if isinstance(auto_map, dict) else [auto_map]
    for value in values:
        for reference in value if isinstance(value, list) else [value]:
            repository, separator, _ = str(reference).partition("--")
            if separator and repository != location:
                raise ModelError(
                    f"{location}: {name} runs code of another repository ({reference}), which a commit of "
                    "this one does not pin; use a folder that contains the code itself"
                )


def _kernels(settings: object, *, of_attention: bool = False) -> Iterator[str]:
    """Yield the repositories of kernels that a config.json, or a part of it, names for the attention."""
    if isinstance(settings, dict):
        for key, value in settings.items():
            yield from _kernels(value, of_attention=of_attention or "attn_implementation" in key)
    elif of_attention and "/" in str(settings):
        yield str(settings)


def _layers(settings: object, key: str = "") -> Iterator[tuple[str, int]]:
    """Yield the numbers of layers in a config.json, or in a part of it, with their keys."""
    if isinstance(settings, dict):
        for name, value in settings.items():
            yield from _layers(value, name)
    elif isinstance(settings, list):
        for value in settings:
            yield from _layers(value, key)
    elif isinstance(settings, int) and LAYERS.search(key):
        yield key, settings


def _refuse_outside(folder: Path, config: Mapping[str, Any]) -> None:
    """Raise ModelError where a folder names weights that are not in it, by which nothing would know them."""
    maps = [json_object(folder / name).get("weight_map") for name in WEIGHTS if name.endswith(".index.json")]
    named = [shard for shards in maps if isinstance(shards, dict) for shard in shards.values()]
    for name in (*named, config.get("transformers_weights", "")):
        if leaves(str(name)):
            raise ModelError(
                f"{folder}: names weights outside of it ({name}); copy them into it, and correct the name"
            )


def _path(location: str, name: str, commit: str | None) -> Path | None:
    """Return a file of the checkpoint, downloaded if it is on the Hub; None where there is none."""
    path = transformers.utils.cached_file(
        location, name, revision=commit, _raise_exceptions_for_missing_entries=False
    )
    return None if path is None else Path(path)
