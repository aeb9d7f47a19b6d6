"""JSON Schema in plain English: what a key may hold."""

from collections.abc import Mapping, Sequence
from typing import Any

Node = Mapping[str, Any]


def allowed(node: Node, root: Node) -> str:
    """Return in words what a node of the JSON Schema ``root`` allows, as in "must be ..."."""
    node = resolve(node, root)
    if "anyOf" in node:
        return _alternatives([allowed(branch, root) for branch in node["anyOf"]])
    if "const" in node:
        return str(node["const"])
    if "enum" in node:
        return _alternatives([str(value) for value in node["enum"]])
    match node.get("type"):
        case "null":
            return "null"
        case "boolean":
            return "true or false"
        case "integer":
            return "a whole number" + _bounds(node)
        case "number":
            return "a number" + _bounds(node)
        case "array":
            least = node.get("minItems")
            of = f" of at least {'one' if least == 1 else least}" if least else ""
            return f"a list{of}, each {allowed(node['items'], root)}"
        case "object" if "properties" in node:
            return f"a mapping with the keys {', '.join(node['properties'])}"
        case "object":
            return f"a mapping, each value {allowed(node['additionalProperties'], root)}"
        case "string" if "patternErrorMessage" in node:
            return str(node["patternErrorMessage"])
        case _:
            return "text"


def resolve(node: Node, root: Node) -> Node:
    """Return the node that ``node`` stands for: itself, or what it refers to."""
    if "$ref" in node:
        target: Node = root["$defs"][node["$ref"].rsplit("/", 1)[-1]]
        return {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    return node


def descend(root: Node, location: Sequence[str | int]) -> tuple[tuple[str | int, ...], Node]:
    """Follow ``location`` into a JSON Schema as far as it goes.

    Returns the part of the location that was followed and the node there. What pydantic adds to a location
    (the branch of a union that it tried) is where this ends.
    """
    node = resolve(root, root)
    for depth, part in enumerate(location):
        step = _step(node, part, root)
        if step is None:
            return tuple(location[:depth]), node
        node = resolve(step, root)
    return tuple(location), node


def _step(node: Node, part: str | int, root: Node) -> Node | None:
    for branch in node.get("anyOf", [node]):
        branch = resolve(branch, root)
        if isinstance(part, int) and "items" in branch:
            items: Node = branch["items"]
            return items
        if isinstance(part, str) and part in branch.get("properties", {}):
            child: Node = branch["properties"][part]
            return child
        values = branch.get("additionalProperties") or next(
            iter(branch.get("patternProperties", {}).values()), None
        )
        if isinstance(part, str) and isinstance(values, Mapping):
            return values
    return None


def _bounds(node: Node) -> str:
    return _range(node) + (f", a multiple of {node['multipleOf']:g}" if "multipleOf" in node else "")


def _range(node: Node) -> str:
    low, high = node.get("minimum"), node.get("maximum")
    if low is not None and high is not None:
        return f" from {low:g} to {high:g}"
    if low is not None:
        return f" of at least {low:g}"
    if "exclusiveMinimum" in node:
        return f" above {node['exclusiveMinimum']:g}"
    return ""


def _alternatives(texts: Sequence[str]) -> str:
    texts = [text for text in texts if text != "null"] + [text for text in texts if text == "null"]
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} or {texts[-1]}"
