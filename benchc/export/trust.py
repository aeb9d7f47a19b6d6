"""What an export of a stranger would do with this machine: run code, ask servers, read other files."""

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from benchc.config.evaluation import RECORD
from benchc.config.raw import block, texts
from benchc.config.yaml_file import YamlError, read_yaml
from benchc.errors import InputError
from benchc.export.manifest import FILE, RUN, Manifest
from benchc.models.folder import is_file, leaves

NOT_OURS = "runs code that is not benchc's"
OWN_KERNEL = re.compile(r"benchc\.corruptions\.kernels\.\w+\.\w+")


def refuse_untrusted(export: Path, manifest: Manifest, root: Path) -> None:
    """Raise InputError where an export would do what its author chose with this machine.

    That is to run code, to have a server asked, or to read a file outside of it and ``root``.
    """
    settings = _settings(export)
    own = [file for _, file in texts(block(settings, "corruptions").get("own_files"))]
    code = ", ".join(dict.fromkeys([*own, *_code(manifest)]))
    found = [f"{NOT_OURS} ({code})"] if code else []
    if found := [*found, *_of_settings(settings, root, known={*manifest.inputs, *own})]:
        raise InputError(
            f"{export}: {' and '.join(dict.fromkeys(found))}; read {export / FILE} and "
            f"{export / RUN / RECORD}, and give --trust if you trust who wrote them"
        )


def refuse_untrusted_model(name: str, entry: Mapping[str, Any]) -> None:
    """Raise InputError where the entry of a model, which an export has, runs code or has a server asked."""
    server = block(entry, "server")
    if entry.get("trust_remote_code"):
        found = "runs the code of its checkpoint (trust_remote_code)"
    elif server.get("command"):
        found = f"starts a program (server.command: {server['command']})"
    elif server.get("url"):
        found = f"asks {_server(server)}"
    else:
        return
    raise InputError(
        f"--model {name}: its entry in the export {found}; give --trust if you trust who wrote it, or name "
        "the model by an entry of your own with another id"
    )


def _code(manifest: Manifest) -> Iterator[str]:
    for recipe in manifest.recipes.values():
        kernel = recipe.get("kernel")
        if kernel is not None and OWN_KERNEL.fullmatch(str(kernel)) is None:
            file, mark, _ = str(kernel).rpartition(".py:")
            yield f"{file}.py" if mark else str(kernel)


def _settings(export: Path) -> Mapping[str, Any]:
    try:
        settings = read_yaml(export / RUN / RECORD)
    except (OSError, YamlError):
        settings = None  # which is an error elsewhere
    return settings if isinstance(settings, Mapping) else {}


def _of_settings(settings: Mapping[str, Any], root: Path, known: Container[str]) -> Iterator[str]:
    """Yield what is asked and read; ``known``: files that the export has, or that are named otherwise."""
    for each in _parts(settings):
        if isinstance(each, Mapping) and _is_asked(each):
            yield f"may ask {_server(each)}"
        elif isinstance(each, str) and each not in known and leaves(each) and is_file(root / each):
            yield f"reads {each}"


def _parts(value: Any) -> Iterator[Any]:
    """Yield a value, and all values in it."""
    yield value
    inner: Iterable[Any] = ()
    if isinstance(value, Mapping):
        inner = value.values()
    elif isinstance(value, list):
        inner = value
    for each in inner:
        yield from _parts(each)


def _is_asked(block: Mapping[str, Any]) -> bool:
    """Return whether settings are those of a language model that is asked; a judge may be of another kind."""
    return "url" in block and block.get("mode") != "replay" and block.get("kind", "llm") == "llm"


def _server(service: Mapping[str, Any]) -> str:
    key = service.get("api_key_env")
    return f"{service['url']}{f' with the key in {key}' if key else ''}"
