"""Things, such as corruptions, side by side with those of their group."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchc.errors import InputError
from benchc.rendering.style import INK, NORMAL

Groups = dict[str, list[int]]  # places by the name of their group


def grouped(names: Sequence[str], groups_of: Mapping[str, str]) -> Groups:
    """Return the places of ``names`` by group, in the order in which the groups appear.

    ``groups_of``: the group of each name. Raises InputError where a name has none.
    """
    if unknown := [name for name in names if name not in groups_of]:
        raise InputError(f"{unknown[0]} has no group; add it to groups")
    groups: Groups = {}
    for place, name in enumerate(names):
        groups.setdefault(groups_of[name].replace("_", " "), []).append(place)
    return groups


def name_groups(axes: Any, spans: Mapping[str, tuple[float, float]]) -> None:
    """Write the names of groups above axes, each over its span of the horizontal axis."""
    for name, (left, right) in spans.items():
        axes.annotate(
            "\n".join(name.split()),
            ((left + right) / 2, 1.0),
            xytext=(0, 3),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=NORMAL - 0.5,
            style="italic",
            color=INK,
        )
