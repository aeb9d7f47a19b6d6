"""The paper's hierarchy of corruptions: 3 levels, 9 categories and 40 types (Figure 2), from the suite."""

from collections.abc import Mapping

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


def levels_of(suite: Suite) -> dict[str, str]:
    """Return the level of each category that the suite has on one."""
    return {category: level for level, categories in suite.levels.items() for category in categories}


def run_levels(categories: Mapping[str, str], suite: Suite) -> dict[str, str]:
    """Return the level of each category of a run, empty for one that the suite has on none.

    ``categories``: of each corruption, in the order of the run.
    """
    levels = levels_of(suite)
    return {category: levels.get(category, "") for category in categories.values()}


def corruption_label(name: str) -> str:
    """Return the name of a corruption, category or level in tables and figures."""
    return LABELS.get(name, name.replace("_", " ").capitalize())
