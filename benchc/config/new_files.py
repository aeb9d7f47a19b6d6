"""The text of a small configuration and of its catalogues, with comments."""

import os
from collections.abc import Mapping
from pathlib import Path
from textwrap import fill
from typing import Any

import yaml

from benchc.home import shipped

_COMMENTS = {
    "benchmark": "It determines the other keys.",
    "name": "Outputs are written to results/<name>.",
    "catalogues": "Files that describe sources and models by id.",
    "sources": "In the order of figures.",
    "demo": "As in config/demo.yaml, since runs share the data and models that they generate and train.",
}
_HEADS = {
    "sources": "Where the files are, and their column with the task type, by which the pool is balanced.",
    "models": "`scoring: letter` is the logit of an option's letter, `text` the log-likelihood of its text. "
    "`gpus: 0`, the default, is the CPU.",
}
# For an entry of a TSV file without it.
_IMAGE_COLUMN = "  # reader: {image_column: NAME}  # if that column names an image that several rows share\n"


def config_text(file: Path, settings: Mapping[str, Any], comments: Mapping[str, str], root: Path) -> str:
    """Return the text of a configuration; ``comments`` are those of the benchmark's own keys."""
    words = {**_COMMENTS, **comments}
    blocks = [
        (_commented(words[key]) if key in words else "") + _yaml({key: value})
        for key, value in settings.items()
    ]
    head = (
        "Written by `benchc new`. Keys that are not here have defaults (docs/configuration.md), which "
        f"results/{settings['name']}/config.yaml records. Paths are relative to the working directory."
    )
    return "\n".join([_head(file, settings["benchmark"], head, root), *blocks])


def catalogue_text(file: Path, kind: str, entries: Mapping[str, Mapping[str, Any]], root: Path) -> str:
    """Return the text of a catalogue of ``kind`` sources or models."""
    blocks = [
        _yaml({id_: dict(entry)}) + (_IMAGE_COLUMN if kind == "sources" and _has_own_images(entry) else "")
        for id_, entry in entries.items()
    ]
    return "\n".join([_head(file, kind, f"{_HEADS[kind]} Keys: docs/configuration.md.", root), *blocks])


def _has_own_images(entry: Mapping[str, Any]) -> bool:
    return "path" in entry and "reader" not in entry


def _head(file: Path, schema: str, text: str, root: Path) -> str:
    """Return the first lines of a file: its schema, for editors, and a comment."""
    path, folder = shipped(f"config/schema/{schema}.json", root), file.absolute().parent
    inside = folder.is_relative_to(root) and path.is_relative_to(root)
    shown = os.path.relpath(path, folder) if inside else path
    return f"# yaml-language-server: $schema={shown}\n#\n{_commented(text)}"


def _commented(text: str) -> str:
    return fill(text, 110, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False) + "\n"


def _yaml(content: Mapping[str, Any]) -> str:
    return yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
