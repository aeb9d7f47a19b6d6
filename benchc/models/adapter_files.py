"""The files of an adapter of peft. Imports nothing heavy: rules use it, too."""

from pathlib import Path

from benchc.models.folder import json_object

NO_ADAPTER = "none"  # as the key `adapter` of a model: it is used alone
CONFIG = "adapter_config.json"
WEIGHTS = ("adapter_model.safetensors", "adapter_model.bin")  # peft loads the first that exists


def adapter_files(folder: Path) -> list[Path]:
    """Return the files of an adapter that are read; those that exist."""
    found = [path for path in (folder / CONFIG, *(folder / name for name in WEIGHTS)) if path.is_file()]
    return found[:2] if (folder / CONFIG).is_file() else found[:1]


def only_an_adapter(location: str, config: Path) -> str:
    """Return what to do about an adapter that is named as a model; ``config``: its file with settings."""
    base = json_object(config).get("base_model_name_or_path")
    named = f" ({base!r})" if isinstance(base, str) and base else ""
    return (
        f"is an adapter ({CONFIG}), not a model; in the model catalogue, set `path` or `repo` to its base "
        f"model{named}, and `adapter: {location}`"
    )
