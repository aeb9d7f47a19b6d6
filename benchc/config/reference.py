"""The JSON schemas that editors use and the reference page that people read, made from the same models."""

import json
from collections.abc import Iterable, Iterator

from pydantic import BaseModel

from benchc.config.allowed import Node, allowed, resolve
from benchc.config.benchmarks import known_benchmarks, module_of
from benchc.config.catalogue import ModelCatalogue, SourceCatalogue
from benchc.config.settings import RunSettings

CATALOGUES: dict[str, type[BaseModel]] = {
    "sources": SourceCatalogue,
    "models": ModelCatalogue,
}

_TITLES = {
    "sources": "Catalogue of sources: `config/sources.yaml`, `demo-sources.yaml`, `real-sources.yaml`",
    "models": "Catalogue of models: `config/models.yaml`, `demo-models.yaml`",
}

_INTRODUCTION = """\
# Configuration

`snakemake --configfile config/demo.yaml` runs the pipeline as that file says. This page lists every key of
the configuration; no other key is allowed. A configuration at fault stops before any job, with one sentence
for each fault: the key, the value found and what is allowed.

`python -m scripts.write_config_reference` makes this page and `config/schema/*.json` from `benchc/config` and
the settings of each benchmark.

## Settings of every run

Each file is complete in itself: nothing is added to it from another one. `benchmark` comes first: it says
which keys there are beside these.

"""


def schemas() -> dict[str, type[BaseModel]]:
    """Return the model of every kind of file by the name of its schema: each benchmark's run, catalogues."""
    return {name: module_of(name, "settings").Settings for name in known_benchmarks()} | CATALOGUES


def schema_text(name: str) -> str:
    """Return the JSON Schema of one of :func:`schemas` as the text of its file."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **schemas()[name].model_json_schema(),
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def reference_page() -> str:
    """Return the Markdown page that lists every key, what it allows, its default and its meaning."""
    common = [
        (key, " or ".join(known_benchmarks()) if key == "benchmark" else kind, default, meaning)
        for key, kind, default, meaning in _rows_of(RunSettings)
    ]
    parts = [_INTRODUCTION + _table(common)]
    for name, model in schemas().items():
        if name in CATALOGUES:
            lead = f"## {_TITLES[name]}\n\nA mapping of ids to entries; an entry has these keys."
            parts.append(f"{lead}\n\n{_table(_rows_of(model))}")
        else:
            lead = f"## Settings of `benchmark: {name}`\n\n{' '.join((model.__doc__ or '').split())}"
            rows = [row for row in _rows_of(model) if row[0] != "benchmark" and row not in common]
            parts.append(f"{lead}\n\n{_table(rows)}")
    return "\n".join(parts)


Row = tuple[str, str, str, str]


def _rows_of(model: type[BaseModel]) -> list[Row]:
    root = model.model_json_schema()
    entry = resolve(root, root)
    return list(_rows(entry if "properties" in entry else resolve(_values(entry), root), root))


def _table(rows: Iterable[Row]) -> str:
    lines = ["| key | allowed | default | meaning |", "|---|---|---|---|"]
    lines += [f"| `{key}` | {kind} | {default} | {meaning} |" for key, kind, default, meaning in rows]
    return "\n".join(lines) + "\n"


def _rows(node: Node, root: Node, prefix: str = "") -> Iterator[Row]:
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
