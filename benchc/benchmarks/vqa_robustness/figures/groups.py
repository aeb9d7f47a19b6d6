"""Corruptions side by side with those of their class."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchc.errors import InputError
from benchc.rendering.style import INK, NORMAL

Groups = dict[str, list[int]]  # the places of corruptions by the name of their class


def grouped(corruptions: Sequence[str], groups_of: Mapping[str, str]) -> Groups:
    """Return the places of ``corruptions`` by class, in the order in which the classes appear.

    ``groups_of``: each corruption's class. Raises InputError where it lacks one.
    """
    if unknown := [name for name in corruptions if name not in groups_of]:
        raise InputError(f"the errors have {unknown[0]}, whose class is not given; add it to groups")
    groups: Groups = {}
    for place, name in enumerate(corruptions):
        groups.setdefault(groups_of[name].replace("_", " "), []).append(place)
    return groups


def name_groups(axes: Any, spans: Mapping[str, tuple[float, float]]) -> None:
    """Write the names of classes above axes, each over its span of the horizontal axis."""
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
