"""Paths in the catalogues, which may contain variables of the environment."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from benchc.config.catalogue import Model, Source
from benchc.config.errors import shown

# Values of variables that the environment does not set.
DEFAULTS = {"BENCHC_SHARED": "../shared"}

VARIABLE = re.compile(r"\$\{(\w+)\}")


CatalogueEntry = TypeVar("CatalogueEntry", Source, Model)


def expand_path(
    entry: CatalogueEntry, where: str, root: Path, environment: Mapping[str, str], errors: list[str]
) -> CatalogueEntry:
    """Return ``entry`` with the variables in its path replaced by their values.

    Paths are relative to ``root``. An error is added to ``errors`` as a line that begins with ``where``.
    """
    if entry.path is None:
        return entry
    values = {**DEFAULTS, **environment}
    names = VARIABLE.findall(entry.path)
    given = f"{where} is {shown(entry.path)}"
    unset = [name for name in names if name not in values]
    if unset:
        errors.append(f"{given}, but the environment variable {unset[0]} is not set; set it to a folder.")
        return entry
    path = VARIABLE.sub(lambda match: values[match[1]], entry.path)
    fix = "".join(f"; set the environment variable {name} to change it" for name in names)
    if not path.isprintable():
        errors.append(f"{given}, but contains a control character; rename the file or folder.")
    elif set("{}<>").intersection(path):
        errors.append(
            f"{given}, but contains a brace or an angle bracket, by which Snakemake finds its placeholders; "
            "rename the file or folder."
        )
    elif not (root / path).exists():
        errors.append(f"{given}, but there is no {path}{fix}.")
    elif isinstance(entry, Model) and not (root / path).is_dir():
        errors.append(f"{given}, but {path} is a file, not a folder in the Hub's format{fix}.")
    # Predictions are cached under the folder's name.
    elif isinstance(entry, Model) and Path(path).name in ("", ".."):
        errors.append(f"{given}, but should end in the name of the model's folder{fix}.")
    elif isinstance(entry, Source) and not (root / path).is_file():
        kind = "a folder" if (root / path).is_dir() else "a pipe or device"
        errors.append(f"{given}, but {path} is {kind}, not a TSV file{fix}.")
    return entry.model_copy(update={"path": path})
