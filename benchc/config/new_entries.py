"""Catalogue entries for the sources and models that a user names: a file, a folder, or an id."""

import logging
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from benchc.config.catalogue import Model, Source
from benchc.config.errors import ConfigError, shown
from benchc.config.load import validate
from benchc.config.paths import CatalogueEntry, expand_path
from benchc.config.server import Server
from benchc.config.strict import HUB_ID
from benchc.config.yaml_file import read_mapping
from benchc.errors import InputError
from benchc.home import shipped
from benchc.json_content import json_content
from benchc.models.adapter_files import CONFIG as ADAPTER
from benchc.models.folder import json_object
from benchc.models.registry import has_own_module
from benchc.models.supported import UnsupportedFamilyError, check_family, is_supported
from benchc.sources.rows import SHARD, data_file, listed_columns, read_header
from benchc.sources.tsv import listed
from benchc.suggestion import suggestion
from benchc.user_paths import relative_path

# Shipped catalogues, by kind. The first that has an id is the one meant.
SHIPPED = {
    "sources": ("config/sources.yaml", "config/demo-sources.yaml"),
    "models": ("config/models.yaml", "config/demo-models.yaml"),
}
CONFIG = "config.json"
TASK_COLUMNS = ("category", "l2_category")
# What mends a file without either.
CATEGORY = (
    """; name the column that has it by --reader '{"columns": {"category": "NAME"}}', or add a column """
    "category, which may have one value for all rows"
)


@dataclass(frozen=True)
class Entry:
    """An entry of a catalogue, and the shipped catalogue that it is from, if any."""

    id: str
    content: Mapping[str, Any]
    catalogue: str | None = None


def source_entry(
    name: str,
    root: Path,
    task_column: str | None = None,
    image_column: str | None = None,
    reader: Mapping[str, Any] | None = None,
) -> Entry:
    """Return the entry of a source: a data file, a folder with one, or the id of a shipped source.

    ``task_column`` is that of a file; None for the first of TASK_COLUMNS that the file has. ``image_column``
    names the images of its rows; None where each row has its own. ``reader``: keys of the entry's reader.
    Raises InputError where there is no such source, the file lacks a column, or no configuration could name
    it.
    """
    path = Path(name)
    shipped = (entry.id for entry in _entries("sources", root))
    if not path.is_file() and (not path.is_dir() or name in shipped):
        return _shipped(name, "sources", root, "give a data file, or a folder with one")
    full = path.absolute()
    shard = SHARD.fullmatch(full.name)
    label = full.name if path.is_dir() else shard["set"] if shard else full.stem
    content: dict[str, Any] = {"label": label, "path": str(relative_path(name, root))}
    keys = dict(reader or {}) | ({} if image_column is None else {"image_column": image_column})
    # Before the file is read with them.
    _valid(Source, Entry(label, content | {"task_column": TASK_COLUMNS[0], "reader": keys}), name, root)
    header = read_header(data_file(path), keys.get("columns"))
    if "category_column" in keys:
        header.append("category")
    given = TASK_COLUMNS if task_column is None else (task_column,)
    found = next((column for column in given if column in header), None)
    if found is None:
        raise InputError(
            f"{name}: has no column {' or '.join(given)}, the task type by which the pool is balanced; its "
            f"columns are {listed_columns(data_file(path), CATEGORY)}"
        )
    if image_column is not None and image_column not in header:
        raise InputError(
            f"{name}: has no column {shown(image_column)}; its columns are {listed(header)}; give one of "
            "them to --image-column"
        )
    content |= ({"reader": keys} if keys else {}) | {"task_column": found}
    return _valid(Source, Entry(_id(label, name), content), name, root)


# Main memory of a job: enough for 7 billion parameters in bfloat16, and for its worker processes.
MEM_MB_PER_GPU = 24_000


def with_adapter(entry: Entry, adapter: str, root: Path) -> Entry:
    """Return the entry of a model with an adapter that is merged into it, by an id and label of its own.

    ``adapter`` is a folder, or an id on the Hub, with @REVISION unless it is the default branch. Raises
    InputError where it is neither, or the model is one that a run trains.
    """
    if entry.content.get("train"):
        raise InputError(
            f"--adapter {shown(adapter)}: a run trains {entry.id}, and an adapter is of a model that is "
            "there; give the folder of the trained model (in results/models) as --model"
        )
    repo, _, revision = adapter.partition("@")
    if Path(adapter).is_dir():
        path = relative_path(adapter, root)
        name, keys = path.name, {"adapter": str(path)}
    elif re.match(HUB_ID, repo):
        name, keys = repo.partition("/")[2], {"adapter": repo}
        keys |= {"adapter_revision": revision} if revision else {}
    else:
        raise InputError(
            f"--adapter {shown(adapter)}: there is no such folder; give the folder of an adapter, or its id "
            "on the Hub (owner/name, or owner/name@REVISION)"
        )
    label = f"{entry.content['label']} + {name}"
    content = {**entry.content, "label": label, **keys}
    return _valid(Model, Entry(_id(label, adapter), content), adapter, root)


def model_entry(name: str, root: Path, family: str | None, gpus: int) -> Entry:
    """Return the entry of a model: a checkpoint's folder, an id on the Hub, or the id of a shipped one.

    ``family`` is that of a folder or Hub id; None lets its config.json decide, whose dtype is taken, too.
    ``gpus`` is for these models as well; on a GPU, a dtype that is not known is bfloat16. Raises InputError
    where there is no such model, its family or model type is unknown, or no configuration could name it.
    """
    folder = Path(name)
    if folder.is_dir():
        path = relative_path(name, root)
        label, key, value = path.name, "path", str(path)
        if (folder / ADAPTER).is_file() and not (folder / CONFIG).is_file():
            base = json_object(folder / ADAPTER).get("base_model_name_or_path")
            raise InputError(
                f"{name}: is an adapter ({ADAPTER}), not a model; give its base model ({base!r}) as --model, "
                f"and --adapter {name}"
            )
        settings = _json(folder / CONFIG, name)
    elif name.count("/") == 1 and not name.startswith((".", "/")):
        label, key, value = name.partition("/")[2], "repo", name
        for entry in _entries("models", root):
            if entry.content.get("repo") == name:
                return _loadable(entry)
        print(
            f"{name}: no such folder here; {'taken as an id on' if family else 'asking'} the Hub",
            file=sys.stderr,
        )
        settings = {} if family else _json(_hub_file(name), name)
    else:
        return _loadable(_shipped(name, "models", root, "give a folder or an id of the Hub (owner/name)"))
    if family is None:
        model_type = settings.get("model_type")
        if not isinstance(model_type, str):
            raise InputError(f"{name}: its config.json has no model_type; name the family with --family")
        if not is_supported(model_type):
            raise InputError(
                f"{name}: the model type {model_type!r} (config.json) is unknown to transformers; name "
                "the family whose file loads it with --family (docs/models.md)"
            )
        # Without it, the file of the family would not be used.
        family = model_type if has_own_module(model_type) else None
    named = {} if family is None else {"family": family}
    content: dict[str, Any] = {"label": label, **named, "scoring": "letter", key: value}
    dtype = settings.get("dtype", settings.get("torch_dtype"))
    if dtype in get_args(Model.model_fields["dtype"].annotation):
        content["dtype"] = dtype
    if gpus > 0:
        content = {"dtype": "bfloat16"} | content | {"mem_mb": MEM_MB_PER_GPU * gpus}
    entry = Entry(_id(label, name), content | ({"gpus": gpus} if gpus else {}))
    return _valid(Model, _loadable(entry), name, root)


def served_entry(address: str, api_key_env: str | None) -> Entry:
    """Return the entry of a model on a server.

    ``address``: without /v1, and with ``#MODEL`` at its end if the server serves several; ``api_key_env``:
    the environment variable with its key; None for none. Raises InputError where the server cannot be asked,
    serves no such model, or several and none is named.
    """
    # Slow to import, and not needed for other models.
    from benchc.endpoint.api_key import read_key
    from benchc.endpoint.client import Endpoint, EndpointSettings
    from benchc.models.server.served import served_models

    url, _, name = address.partition("#")
    url = re.sub(r"(/v1)?/*$", "", url)
    server = {"url": url} | ({"api_key_env": api_key_env} if api_key_env else {})
    errors: list[str] = []
    if validate(Server, server, address, errors) is None:
        raise ConfigError(errors)
    with Endpoint(EndpointSettings(url, attempts=2), read_key(api_key_env)) as client:
        served = served_models(client, url)
    if name and name not in served:
        raise InputError(
            f"{address}: the server does not serve this model{suggestion(name, list(served))}; it serves "
            f"{', '.join(served)}"
        )
    if not name and len(served) > 1:
        raise InputError(
            f"{address}: the server serves {len(served)} models; name one, such as {url}#{next(iter(served))}"
        )
    model = name or next(iter(served))
    label = model.rstrip("/").rpartition("/")[2]
    content = {"label": label, "scoring": "letter", "server": {**server, "model": model}}
    return _valid(Model, Entry(_id(label, address), content), address, Path.cwd())


def _valid(kind: type[CatalogueEntry], entry: Entry, name: str, root: Path) -> Entry:
    """Return a new entry. Raises ConfigError, with lines about ``name``, where it is invalid."""
    errors: list[str] = []
    if valid := validate(kind, entry.content, name, errors):
        expand_path(valid, f"{name}: ", root, os.environ, errors)
    if errors:
        raise ConfigError(errors)
    return entry


def _loadable(entry: Entry) -> Entry:
    try:
        check_family(entry.content.get("family"))
    except UnsupportedFamilyError as error:
        raise InputError(f"{entry.id}: {error} (docs/models.md)") from error
    return entry


def _entries(kind: str, root: Path) -> list[Entry]:
    found = []
    for file in SHIPPED[kind]:
        content = read_mapping(shipped(file, root), "mend or restore it", file)
        for id_, entry in content.items():
            if not isinstance(entry, Mapping):
                raise InputError(f"{file}: {id_} is {shown(entry)}, and no entry; mend or restore it")
            found.append(Entry(str(id_), entry, file))
    return found


def _shipped(name: str, kind: str, root: Path, fix: str) -> Entry:
    entries = _entries(kind, root)
    for entry in entries:
        if entry.id == name:
            return entry
    raise InputError(
        f"{shown(name)}: there is no such file or folder, and no such id in {' or '.join(SHIPPED[kind])}"
        f"{suggestion(name, [entry.id for entry in entries])}; {fix}"
    )


def _id(label: str, name: str) -> str:
    id_ = re.sub(r"[^a-z0-9.-]+", "-", label.lower()).strip("-.")
    if not id_:
        raise InputError(f"{name}: its name has no letter or digit for an id; rename it")
    return id_


def _hub_file(repo: str) -> Path:
    """Return the config.json of a model on the Hub. Raises InputError where the Hub does not give it."""
    # Slow to import, and not needed for what is on disk.
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError
    from huggingface_hub.utils.tqdm import disable_progress_bars

    import benchc.models.hub.errors  # noqa: F401, limits the time of requests

    disable_progress_bars()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
    try:
        cached = try_to_load_from_cache(repo, CONFIG)
        if isinstance(cached, str):
            return Path(cached)
        # The download tries again for half a minute where the Hub cannot be reached; this does not.
        get_hf_file_metadata(hf_hub_url(repo, CONFIG))
        return Path(hf_hub_download(repo, CONFIG))
    except HFValidationError as error:
        raise InputError(
            f"{repo}: there is no such folder here, and it is no id of the Hub (owner/name); check the name"
        ) from error
    except HfHubHTTPError as error:
        raise InputError(
            f"{repo}: there is no such folder here, and the Hub answers {error.response.status_code} for its "
            f"{CONFIG}; check the name, and set HF_TOKEN if the model is private or gated"
        ) from error
    except Exception as error:  # the Hub's client and its HTTP library raise many types
        raise InputError(
            f"{repo}: there is no such folder here, and the Hub cannot be reached; check the name and the "
            "network, or give the family with --family, which needs no network (docs/models.md)"
        ) from error


def _json(path: Path, name: str) -> dict[str, Any]:
    try:
        content = json_content(path.read_bytes())
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise InputError(
            f"{name}: {path.name} cannot be read ({reason}); give a folder in the Hub's format, which has one"
        ) from error
    return content if isinstance(content, dict) else {}
