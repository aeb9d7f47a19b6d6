"""The JSON schemas that editors use and the reference page that people read, made from the same models."""

import json
from collections.abc import Iterator

from pydantic import BaseModel

from benchc.config.allowed import Node, allowed, resolve
from benchc.config.catalogue import ModelCatalogue, SourceCatalogue
from benchc.config.settings import Settings

SCHEMAS: dict[str, type[BaseModel]] = {
    "config": Settings,
    "sources": SourceCatalogue,
    "models": ModelCatalogue,
}

_TITLES = {
    "config": "Settings of a run: `config/config.yaml`, `demo.yaml`, `real-items.yaml`",
    "sources": "Catalogue of sources: `config/sources.yaml`, `demo-sources.yaml`, `real-sources.yaml`",
    "models": "Catalogue of models: `config/models.yaml`, `demo-models.yaml`",
}

_LEADS = {
    "config": "Each file is complete in itself: nothing is added to it from another one.",
    "sources": "A mapping of ids to entries; an entry has these keys.",
    "models": "A mapping of ids to entries; an entry has these keys.",
}

_INTRODUCTION = """\
# Configuration

`snakemake --configfile config/demo.yaml` runs the pipeline as that file says. This page lists every key of
the configuration; no other key is allowed. A configuration at fault stops before any job, with one sentence
for each fault: the key, the value found and what is allowed.

`python -m scripts.write_config_reference` makes this page and `config/schema/*.json` from `benchc/config`.
"""


def schema_text(name: str) -> str:
    """Return the JSON Schema of one of SCHEMAS as the text of its file."""
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **SCHEMAS[name].model_json_schema()}
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def reference_page() -> str:
    """Return the Markdown page that lists every key, what it allows, its default and its meaning."""
    parts = [_INTRODUCTION]
    for name, model in SCHEMAS.items():
        root = model.model_json_schema()
        entry = resolve(root, root)
        if "properties" not in entry:
            entry = resolve(_values(entry), root)
        parts.append(f"## {_TITLES[name]}\n\n{_LEADS[name]}\n\n{_table(entry, root)}")
    return "\n".join(parts)


def _table(node: Node, root: Node) -> str:
    lines = ["| key | allowed | default | meaning |", "|---|---|---|---|"]
    for key, kind, default, meaning in _rows(node, root):
        lines.append(f"| `{key}` | {kind} | {default} | {meaning} |")
    return "\n".join(lines) + "\n"


def _rows(node: Node, root: Node, prefix: str = "") -> Iterator[tuple[str, str, str, str]]:
    required = node.get("required", [])
    for name, child in node["properties"].items():
        block = _block(child, root)
        kind = allowed(child, root)
        if block is not None:
            kind = "a mapping or null" if "anyOf" in child else "a mapping"
        default = "required" if name in required else f"`{json.dumps(child.get('default', {}))}`"
        meaning = " ".join(resolve(child, root).get("description", "").split()).replace("|", "\\|")
        yield prefix + name, kind, default, meaning
        if block is not None:
            yield from _rows(block, root, f"{prefix}{name}.")


def _block(node: Node, root: Node) -> Node | None:
    """Return the mapping with fixed keys that a node is or may be, or None."""
    for branch in node.get("anyOf", [node]):
        branch = resolve(branch, root)
        if "properties" in branch:
            return branch
    return None


def _values(node: Node) -> Node:
    values: Node = node.get("additionalProperties") or next(iter(node["patternProperties"].values()))
    return values
