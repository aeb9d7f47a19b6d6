"""Write the commit of a model into the text of its catalogue, whose comments and order stay."""

from pathlib import Path
from typing import Any

import yaml

from benchc.config.yaml_file import read_yaml
from benchc.errors import InputError

MODEL, ADAPTER = ("repo", "revision"), ("adapter", "adapter_revision")  # keys of an id on the Hub


def pinned_text(text: str, id_: str, commit: str, keys: tuple[str, str] = MODEL) -> str:
    """Return the text of a catalogue in which the entry ``id_`` has ``commit`` as its revision.

    Only the revision's value is replaced, or a revision added behind ``repo``; ``keys`` are other names of
    these two. Raises ValueError where this is impossible: the text is no catalogue with such an entry, or an
    alias shares the entry with another.
    """
    entry = _value(yaml.compose(text, Loader=yaml.SafeLoader), id_)
    id_key, revision_key = keys
    value, repo = _value(entry, revision_key), _value(entry, id_key)
    quoted = f'"{commit}"'
    if value is not None:
        start, end = value.start_mark.index, value.end_mark.index
        # `revision:` without a value is null.
        new = text[:start] + (quoted if end > start else f" {quoted}") + text[end:]
    elif repo is not None:
        new = _behind(text, entry, repo.end_mark.index, f"{revision_key}: {quoted}")
    else:
        raise ValueError(f"has no {id_key}")
    expected: Any = yaml.safe_load(text)
    # A copy, since aliases make one object of several entries.
    expected = expected | {id_: expected[id_] | {revision_key: commit}}
    try:
        changed = yaml.safe_load(new) != expected
    except yaml.YAMLError:  # without an anchor that an alias names, or with a revision of several lines
        changed = True
    if changed:
        raise ValueError("shares its keys with another entry (an alias of YAML), or is written unusually")
    return new


def pin(file: Path, id_: str, commit: str, keys: tuple[str, str] = MODEL) -> str:
    """Return the text of the catalogue ``file`` as :func:`pinned_text`, raising InputError for its errors."""
    read_yaml(file)  # refuses what other readers of the file refuse
    text = file.read_bytes().decode()
    try:
        return pinned_text(text, id_, commit, keys)
    except ValueError as error:
        raise InputError(
            f"{file}: the revision of {id_} cannot be edited: the entry {error}; write it by hand: "
            f'{keys[1]}: "{commit}"'
        ) from error


def _value(node: yaml.Node | None, key: str) -> yaml.Node | None:
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for name, value in pairs if name.value == key), None)


def _behind(text: str, entry: yaml.Node | None, place: int, line: str) -> str:
    """Return the text with a key added to an entry, behind the value that ends at ``place``."""
    assert isinstance(entry, yaml.MappingNode)
    if entry.flow_style:
        return f"{text[:place]}, {line}{text[place:]}"
    end = text.find("\n", place)
    if end < 0:
        text, end = f"{text}\n", len(text)
    newline = "\r\n" if text[end - 1 : end] == "\r" else "\n"
    indent = " " * entry.value[0][0].start_mark.column
    return f"{text[: end + 1]}{indent}{line}{newline}{text[end + 1 :]}"
