"""Which files of a repository on the Hub are read when its model is loaded. Imports nothing heavy."""

from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from benchc.models.folder import SETTINGS, WEIGHTS, is_hidden, json_object

INDEX = ".index.json"
# A repository with this file is of sentence-transformers: its subfolders are parts of the model.
MODULES = "modules.json"
# Of sentence-transformers, the same weights for other libraries.
OTHER_FORMATS = {"onnx", "openvino", "original"}
# The Python files of a repository may read any file but these: weights, and what people look at.
UNREAD = (
    *(".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".gguf", ".onnx", ".h5", ".msgpack", ".ot"),
    *(".md", ".pdf", ".ipynb", ".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".mp4", ".wav"),
)


def settings_files(names: Iterable[str]) -> list[str]:
    """Return the files of a repository that are read before its weights, sorted.

    ``names`` are all its files, relative to its root. Returned are configuration, processor, tokenizer, chat
    templates, adapters and indices of weights, as ``benchc.models.folder`` has them for a folder; of a
    repository with Python files also all else that they may read, and of
    sentence-transformers the same files of its subfolders.
    """
    paths = [path for path in map(PurePosixPath, names) if not is_hidden(path)]
    remote_code = any(path.suffix == ".py" for path in paths)
    modular = PurePosixPath(MODULES) in paths
    return sorted(str(path) for path in paths if _is_read(path, remote_code=remote_code, modular=modular))


def weight_files(names: Iterable[str], folder: Path) -> list[str]:
    """Return the files with weights that are loaded: of several formats one, with all its shards, sorted.

    ``folder`` has the :func:`settings_files` of ``names``. What an index names is returned whether or not the
    repository has it.
    """
    paths = [path for path in map(PurePosixPath, names) if not is_hidden(path)]
    places = {path.parent for path in paths} if PurePosixPath(MODULES) in paths else {PurePosixPath()}
    found = {
        str(place / name)
        for place in places
        if not OTHER_FORMATS & set(place.parts)
        for name in _weights_in(folder / place, {path.name for path in paths if path.parent == place})
    }
    return sorted(found)


def _is_read(path: PurePosixPath, *, remote_code: bool, modular: bool) -> bool:
    if remote_code and path.suffix not in UNREAD:
        return True
    if modular and not OTHER_FORMATS & set(path.parts):
        return any(fnmatch(path.name, pattern) for pattern in SETTINGS)
    # fnmatch's * matches slashes, too.
    return any(
        fnmatch(str(path), pattern) and len(path.parts) == len(PurePosixPath(pattern).parts)
        for pattern in SETTINGS
    )


def _weights_in(folder: Path, names: set[str]) -> list[str]:
    """Return the names of the weights that are loaded, of a folder that has or will have ``names``."""
    named = json_object(folder / "config.json").get("transformers_weights")
    known = (named,) if isinstance(named, str) else WEIGHTS
    first = next((name for name in known if name in names), None)
    if first is None:
        # No name that transformers knows: that of the repository's own code, if of any.
        formats = (
            [name for name in names if name.endswith(end)] for end in (".safetensors", ".bin", ".pt", ".pth")
        )
        return [name for name in next(filter(None, formats), []) if not name.startswith("adapter_model.")]
    shards = json_object(folder / first).get("weight_map") if first.endswith(INDEX) else None
    return [str(name) for name in shards.values()] if isinstance(shards, dict) else [first]
