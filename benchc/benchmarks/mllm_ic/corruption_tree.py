"""The paper's hierarchy of corruptions: 3 levels, 9 categories and 40 types (Figure 2), from the suite."""

from collections.abc import Sequence
from typing import NamedTuple

from benchc.corruptions.suite import Suite

# Words of the paper where they are not the id with spaces.
LABELS = {
    "color_channel": "Color",
    "geometric_transform": "Geometric",
    "texture_changing": "Texture changing",
    "weather_condition": "Weather",
    "shape_changing": "Shape changing",
    "jpeg_compression": "JPEG compression",
    "scale_x": "Scale x",
    "scale_y": "Scale y",
    "scale_xy": "Scale xy",
}


class Type(NamedTuple):
    """A corruption with its category and level; the level is empty where the suite has none for it."""

    name: str
    category: str
    level: str


def corruption_tree(corruptions: Sequence[str], suite: Suite) -> list[Type]:
    """Return the types in the order of ``corruptions``. Raises KeyError for one outside the suite."""
    category = {each.name: group for group, types in suite.groups.items() for each in types}
    level = {group: name for name, groups in suite.levels.items() for group in groups}
    return [Type(name, category[name], level.get(category[name], "")) for name in corruptions]


def corruption_label(name: str) -> str:
    """Return the name of a corruption, category or level in tables and figures."""
    return LABELS.get(name, name.replace("_", " ").capitalize())
