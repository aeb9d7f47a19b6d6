"""Arguments of the commands on models of the catalogues."""

import argparse
from pathlib import Path

from benchc.config.catalogue import Model
from benchc.config.errors import ConfigError
from benchc.config.model_catalogue import Listed, listed_models
from benchc.config.new_entries import SHIPPED
from benchc.errors import InputError


def add_catalogue(parser: argparse.ArgumentParser) -> None:
    """Add the catalogues."""
    parser.add_argument(
        "--catalogue",
        type=Path,
        nargs="+",
        default=[Path(file) for file in SHIPPED["models"]],
        metavar="FILE",
        help=f"model catalogues (default: {' and '.join(SHIPPED['models'])})",
    )


def require_folder(id_: str, model: Model) -> None:
    """Raise InputError where the folder of a model is missing."""
    if model.path is not None and not Path(model.path).is_dir():
        raise InputError(f"{id_}: there is no folder {model.path}; copy the model there, or correct its path")


def catalogue(arguments: argparse.Namespace) -> dict[str, Listed]:
    """Return the models of the catalogues; ends the process with one line per validation error."""
    try:
        return listed_models(arguments.catalogue)
    except ConfigError as error:
        raise SystemExit("\n".join(f"error: {line}" for line in error.errors)) from error
