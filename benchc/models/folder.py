"""The files of a model's folder that decide its predictions. Imports nothing heavy: rules use it, too."""

import hashlib
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import Any

from benchc.json_content import json_content

# Configuration, processor, tokenizer and chat templates. Of other files (a README, pictures), none is read.
SETTINGS = (
    "*.json",
    "*.jinja",
    "additional_chat_templates/*.jinja",
    "merges.txt",
    "vocab.txt",
    "*.model",
    "*.spm",
    "*.tiktoken",
    "adapter_model.safetensors",
    # In a subfolder, such as the one for images of Phi-4-multimodal.
    "*/adapter_config.json",
    "*/adapter_model.safetensors",
)
# transformers loads the first that exists.
WEIGHTS = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
# Servers choose by other rules: vLLM loads consolidated.safetensors of Mistral's format, for example.
WEIGHTS_OF_SERVERS = ("*.safetensors", "*.bin", "*.pt", "*.pth", "*.gguf")


def deciding_files(folder: Path, *, remote_code: bool = False, on_server: bool = False) -> list[Path]:
    """Return the files that decide a model's predictions, sorted.

    They are configuration, processor, tokenizer, chat templates and the weights that transformers loads: of
    several formats one, and all its shards. ``remote_code``: also the model's Python files. ``on_server``:
    all that a server may load, which are all weights, and Python files, too. Hidden files and folders are
    excluded.
    """
    found = {path for pattern in SETTINGS for path in folder.glob(pattern)}
    found -= set(folder.glob("*.index.json"))
    if on_server:
        found.update(path for pattern in WEIGHTS_OF_SERVERS for path in folder.glob(pattern))
    if remote_code or on_server:
        found.update(folder.rglob("*.py"))
    found.update(_weights(folder))
    return sorted(path for path in found if is_file(path) and not is_hidden(path.relative_to(folder)))


def folder_digest(folder: Path, *, remote_code: bool = False, on_server: bool = False) -> str:
    """Return a hash of the names and contents of the folder's ``deciding_files``."""
    return files_digest(folder, deciding_files(folder, remote_code=remote_code, on_server=on_server))


def files_digest(folder: Path, files: Iterable[Path]) -> str:
    """Return a hash of the names, relative to ``folder``, and contents of files in it."""
    digest = hashlib.blake2b(digest_size=16)
    for path in files:
        digest.update(f"{path.relative_to(folder).as_posix()}\x1f".encode())
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()


def _weights(folder: Path) -> list[Path]:
    named = json_object(folder / "config.json").get("transformers_weights")
    names = (named,) if isinstance(named, str) else WEIGHTS
    first = next((folder / name for name in names if not leaves(name) and is_file(folder / name)), None)
    if first is None:
        return []
    shards = json_object(first).get("weight_map") if first.name.endswith(".index.json") else None
    if not isinstance(shards, dict):
        return [first]
    return [first, *(folder / name for name in set(map(str, shards.values())) if not leaves(name))]


def is_file(path: Path) -> bool:
    """Return whether a path is that of a file; one that a file names may be too long for any."""
    try:
        return path.is_file()
    except OSError:
        return False


def leaves(name: str) -> bool:
    """Return whether a path that a file of a folder names, relative to it, is outside the folder."""
    return PurePath(name).is_absolute() or ".." in PurePath(name).parts


def json_object(path: Path) -> dict[str, Any]:
    """Return a JSON object; an empty one where there is none, which loading the model reports."""
    try:
        content = json_content(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def is_hidden(path: PurePath) -> bool:
    """Return whether a file, or a folder that it is in, begins with a dot."""
    return any(part.startswith(".") for part in path.parts)
