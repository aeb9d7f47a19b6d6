"""The JSON schemas for editors and the reference page, generated from the models of the configuration."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from benchc.config.benchmarks import known_benchmarks, module_of
from benchc.config.catalogue import ModelCatalogue, SourceCatalogue
from benchc.config.settings import DEFAULT_IN_WORDS, RunSettings

CATALOGUES: dict[str, type[BaseModel]] = {"sources": SourceCatalogue, "models": ModelCatalogue}

_TITLES = {
    "sources": "Catalogue of sources: `config/sources.yaml`, `demo-sources.yaml`, `real-sources.yaml`",
    "models": "Catalogue of models: `config/models.yaml`, `demo-models.yaml`",
}

_INTRODUCTION = """\
# Configuration

All keys of the file that `snakemake --configfile` names. Unknown keys are errors. The configuration is
validated before any job starts; an error is one line: the key, its value and what it should be.

`python -m scripts.stage write_config_reference` generates this page and `config/schema/*.json` from
`benchc/config` and the settings of each benchmark.

## Settings of every run

A key that is not given has the default below; a file inherits nothing from another one. `benchmark` comes
first, since it determines the other keys. `results/<name>/config.yaml` records the values of all keys.

"""

Node = Mapping[str, Any]
Row = tuple[str, str, str, str]


def schemas() -> dict[str, type[BaseModel]]:
    """Return the model of each schema by name: the settings of each benchmark, and the catalogues."""
    return {name: module_of(name, "settings").Settings for name in known_benchmarks()} | CATALOGUES


def schema_text(name: str) -> str:
    """Return the text of a JSON Schema file; ``name`` is one of :func:`schemas`."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schemas()[name].model_json_schema(),
    }
    return json.dumps(schema, indent=2) + "\n"


def reference_page() -> str:
    """Return the Markdown page with the allowed values, default and meaning of every key."""
    common = [
        (key, " or ".join(known_benchmarks()) if key == "benchmark" else allowed, default, meaning)
        for key, allowed, default, meaning in _rows_of(RunSettings)
    ]
    parts = [_INTRODUCTION + _table(common)]
    for name, model in schemas().items():
        if name in CATALOGUES:
            lead = f"## {_TITLES[name]}\n\nA mapping of ids to entries with these keys."
            parts.append(f"{lead}\n\n{_table(_rows_of(model))}")
        else:
            lead = f"## Settings of `benchmark: {name}`\n\n{' '.join((model.__doc__ or '').split())}"
            rows = [row for row in _rows_of(model) if row[0] != "benchmark" and row not in common]
            parts.append(f"{lead}\n\n{_table(rows)}")
    return "\n".join(parts)


def _rows_of(model: type[BaseModel]) -> list[Row]:
    root = model.model_json_schema()
    entry = _resolve(root, root)
    return list(_rows(entry if "properties" in entry else _resolve(_values(entry), root), root))


def _table(rows: Iterable[Row]) -> str:
    lines = ["| key | allowed | default | meaning |", "|---|---|---|---|"]
    lines += [f"| `{key}` | {allowed} | {default} | {meaning} |" for key, allowed, default, meaning in rows]
    return "\n".join(lines) + "\n"


def _rows(node: Node, root: Node, prefix: str = "") -> Iterator[Row]:
    required = node.get("required", [])
    for name, child in node["properties"].items():
        block = _block(child, root)
        allowed = _allowed(child, root)
        default = "required" if name in required else _default(child)
        meaning = " ".join(_resolve(child, root).get("description", "").split())
        meaning = re.sub(r"[|<]", r"\\\g<0>", meaning)
        yield prefix + name, allowed, default, meaning
        if block is not None:
            yield from _rows(block, root, f"{prefix}{name}.")
        elif (entry := _entry(child, root)) is not None:
            yield from _rows(entry, root, f"{prefix}{name}.<id>.")


def _default(child: Node) -> str:
    # Without a default in the schema, it is that of the keys of a block.
    return str(child.get(DEFAULT_IN_WORDS) or f"`{json.dumps(child.get('default', {}))}`")


def _block(node: Node, root: Node) -> Node | None:
    """Return the mapping with fixed keys that a node is or may be, or None."""
    branches = (_resolve(branch, root) for branch in node.get("anyOf", [node]))
    return next((branch for branch in branches if "properties" in branch), None)


def _entry(node: Node, root: Node) -> Node | None:
    """Return the mapping with fixed keys that each value of a mapping of ids is, or None."""
    node = _resolve(node, root)
    return _block(_values(node), root) if node.get("type") == "object" and "properties" not in node else None


def _values(node: Node) -> Node:
    """Return the schema of the values of a mapping with arbitrary keys."""
    values: Node = node.get("additionalProperties") or next(iter(node["patternProperties"].values()))
    return values


def _resolve(node: Node, root: Node) -> Node:
    """Return ``node``, or the definition that it refers to."""
    if "$ref" not in node:
        return node
    target: Node = root["$defs"][node["$ref"].rpartition("/")[2]]
    return {**target, **node}


_TYPES = {"boolean": "true or false", "string": "text"}
_BOUNDS = {"minimum": ">=", "exclusiveMinimum": ">", "maximum": "<=", "multipleOf": "a multiple of"}


def _allowed(node: Node, root: Node) -> str:
    """Return in words which values a node of the JSON Schema ``root`` allows."""
    node = _resolve(node, root)
    if "anyOf" in node:
        return " or ".join(_allowed(branch, root) for branch in node["anyOf"])
    if "enum" in node or "const" in node:
        values = [str(value) for value in node.get("enum", [node.get("const")])]
        return " or ".join(filter(None, [", ".join(values[:-1]), values[-1]]))
    match node["type"]:
        case "array":
            least = f" of at least {node['minItems']}" if "minItems" in node else ""
            return f"a list{least}, each {_allowed(node['items'], root)}"
        case "object" if "properties" in node:
            return "a mapping"
        case "object":
            return f"a mapping, each value {_allowed(_values(node), root)}"
        case kind:
            bounds = [f"{sign} {node[key]:g}" for key, sign in _BOUNDS.items() if key in node]
            name = str(node.get("patternErrorMessage") or _TYPES.get(kind, kind))
            return f"{name} {', '.join(bounds)}".strip()
