"""Paths in the catalogues, which may contain variables of the environment."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from benchc.config.catalogue import Model, Source
from benchc.config.errors import shown
from benchc.sources.error import SourceError
from benchc.sources.formats import ZIP_OR_FOLDER
from benchc.sources.rows import data_file, shards_of

# Values of variables that the environment does not set.
DEFAULTS = {"BENCHC_SHARED": "../shared"}

VARIABLE = re.compile(r"\$\{(\w+)\}")

# What a path should name.
MODEL_FOLDER = "a folder in the Hub's format"
DATA = "a TSV, csv, JSON Lines or Parquet file, or a folder with one"
ADAPTER_FOLDER = "the folder of an adapter"

CatalogueEntry = TypeVar("CatalogueEntry", Source, Model)


def expand_path(
    entry: CatalogueEntry, where: str, root: Path, environment: Mapping[str, str], errors: list[str]
) -> CatalogueEntry:
    """Return ``entry`` with the variables in its paths replaced by their values.

    Paths are relative to ``root``. An error is added to ``errors`` as a line that begins with ``where`` and
    the key.
    """
    values = {**DEFAULTS, **environment}

    def expanded(key: str, given: str, kind: str) -> str:
        path, problem = _expanded(given, root, values, kind)
        if problem is not None:
            errors.append(f"{where}{key} is {shown(given)}, but {problem}.")
        return path

    if isinstance(entry, Model) and entry.adapter_folder is not None:
        adapter = expanded("adapter", entry.adapter_folder, ADAPTER_FOLDER)
        entry = entry.model_copy(update={"adapter": adapter})
    if entry.path is not None:
        kind = MODEL_FOLDER if isinstance(entry, Model) else DATA
        return entry.model_copy(update={"path": expanded("path", entry.path, kind)})
    if isinstance(entry, Source) and entry.convert is not None:
        convert = entry.convert.with_paths(lambda key, *given: expanded(f"convert.{key}", *given))
        return entry.model_copy(update={"convert": convert})
    return entry


def is_result(path: str) -> bool:
    """Return whether a path is below results/, so that a run writes it."""
    return Path(path).parts[:1] == ("results",)


def _expanded(given: str, root: Path, values: Mapping[str, str], kind: str) -> tuple[str, str | None]:
    """Return a path with the values of its variables, and what is wrong with it."""
    names = VARIABLE.findall(given)
    unset = [name for name in names if name not in values]
    if unset:
        return given, f"the environment variable {unset[0]} is not set; set it to a folder"
    path = VARIABLE.sub(lambda match: values[match[1]], given)
    if not path.isprintable():
        return path, "contains a control character; rename the file or folder"
    if set("{}<>").intersection(path):
        return path, (
            "contains a brace or an angle bracket, by which Snakemake finds its placeholders; rename the "
            "file or folder"
        )
    problem = _problem(path, root / path, kind)
    fix = "".join(f"; set the environment variable {name} to change it" for name in names)
    return path, problem and f"{problem}{fix}"


def _problem(path: str, full: Path, kind: str) -> str | None:
    """Return what is wrong with a path that should name what ``kind`` says; None where it does."""
    if not full.exists():
        return None if kind == DATA and is_result(path) else f"there is no {path}"
    if kind in (MODEL_FOLDER, ADAPTER_FOLDER):
        if not full.is_dir():
            return f"{path} is a file, not {kind}"
        # Predictions are cached under the folder's name.
        return "should end in the name of the model's folder" if Path(path).name in ("", "..") else None
    if kind == DATA and (full.is_file() or full.is_dir()):
        try:
            shards_of(data_file(full))
        except SourceError as error:
            return str(error).removeprefix(f"{full}: ")
        return None
    if full.is_file() or (kind == ZIP_OR_FOLDER and full.is_dir()):
        return None
    return f"{path} is {'a folder' if full.is_dir() else 'a pipe or device'}, not {kind}"
