"""A target's probabilities of the options of one item, clean and corrupted."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matplotlib.legend_handler import HandlerTuple
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from benchc.letters import LETTERS
from benchc.rendering.style import INK, NORMAL, POOL_FILL, SMALL

CLEAN_FILL = POOL_FILL
MAX_LARGE_LETTERS = 8  # options
CORRUPTED_EDGE: dict[str, Any] = {"edgecolor": INK, "linewidth": 0.4}
# Of the legend: one swatch of several colours.
HANDLERS: Mapping[type, HandlerTuple] = {tuple: HandlerTuple(ndivide=None, pad=0)}


class _Swatches(tuple[Patch, ...]):
    """Patches that are one entry of a legend."""

    def get_label(self) -> str:
        return "corrupted (by regime)"


def legend_handles(colours: Iterable[str]) -> list[Any]:
    """Return the handles that explain :func:`option_bars`; ``colours``: of all regimes."""
    return [
        Patch(label="clean", **CLEAN_FILL),
        _Swatches(Patch(facecolor=colour, **CORRUPTED_EDGE) for colour in colours),
        Patch(label="✓ right answer", alpha=0),
    ]


def option_bars(
    axes: Any,
    clean: Sequence[float],
    corrupted: Sequence[float] | None,
    *,
    answer: int,
    colour: str,
    clean_height: bool = True,
) -> None:
    """Plot one bar per option for ``clean``, and next to it one in ``colour`` for ``corrupted``, if given.

    Both are K probabilities in [0, 1]. The letter of option ``answer`` (0-based) is bold with a tick mark.
    The highest bar of each distribution, the prediction, is labelled with its height, that of ``clean`` only
    with ``clean_height``.
    """
    places = range(len(clean))
    fills: list[tuple[str, Sequence[float], dict[str, Any]]] = [("clean", clean, CLEAN_FILL)]
    if corrupted is not None:
        fills.append(("corrupted", corrupted, {"facecolor": colour, **CORRUPTED_EDGE}))
    width = 0.84 / len(fills)
    highest: list[tuple[int, float, float]] = []  # option, middle and height of its bar
    for series, (name, heights, fill) in enumerate(fills):
        shift = (series - (len(fills) - 1) / 2) * width
        axes.bar([place + shift for place in places], heights, width=width, label=name, **fill)
        predicted = max(places, key=lambda place: heights[place])
        highest.append((predicted, predicted + shift, heights[predicted]))
    sides = ["center"]
    if len(fills) == 2 and clean_height:
        # Away from each other, since the two bars may be adjacent.
        sides = ["right", "left"] if highest[0][1] < highest[1][1] else ["left", "right"]
    elif len(fills) == 2:
        # Next to the bar of the clean prediction where both are on the same option.
        sides = ["left" if highest[0][0] == highest[1][0] else "center"]
        highest = highest[1:]
    for (_, place, height), side in zip(highest, sides, strict=True):
        axes.annotate(
            f"{height:.2f}".removeprefix("0"),
            (place + {"right": width / 2, "left": -width / 2, "center": 0}[side], height),
            xytext=({"right": -1, "left": 1, "center": 0}[side], 1.5),
            textcoords="offset points",
            ha=side,
            va="bottom",
            fontsize=SMALL,
            color=INK,
            # Legible in front of a higher neighbour.
            path_effects=[withStroke(linewidth=1.2, foreground="white")],
        )
    large = len(clean) <= MAX_LARGE_LETTERS
    size = NORMAL - 0.5 if large else SMALL - 1.5
    mark = "✓" if large else "\n✓"
    letters = [LETTERS[place] + (mark if place == answer else "") for place in places]
    for tick, letter in zip(axes.set_xticks(places, letters, fontsize=size), letters, strict=True):
        tick.label1.set_fontweight("bold" if letter.endswith("✓") else "normal")
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.6, len(clean) - 0.4)
    axes.set_ylim(0, 1.2)
    axes.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
