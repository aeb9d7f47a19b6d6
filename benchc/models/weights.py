"""What is wrong with the weights in a model's folder. Inference imports this module for adapters alone."""

from pathlib import Path

from safetensors import SafetensorError, safe_open

from benchc.models.folder import is_file
from benchc.models.hub.files import weight_files


def weights_problem(folder: Path) -> str | None:
    """Return in a few words why the weights in ``folder`` cannot be loaded; None where nothing is seen.

    Of each file of safetensors the header is read, and compared with the file's size.
    """
    names = [path.name for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []
    # A server may read GGUF.
    weights = weight_files(names, folder) or [name for name in names if name.endswith(".gguf")]
    if not weights:
        return "no weights"
    absent = next((name for name in weights if not is_file(folder / name)), None)
    if absent is not None:
        return f"{absent} is missing"
    damaged = next((name for name in weights if not is_whole(folder / name)), None)
    return None if damaged is None else f"{damaged} is damaged or incomplete"


def is_whole(path: Path) -> bool:
    """Return whether a file of weights can be opened; of other formats than safetensors, True."""
    if path.suffix != ".safetensors":
        return True
    try:
        with safe_open(path, framework="numpy"):
            return True
    except SafetensorError:
        return False
