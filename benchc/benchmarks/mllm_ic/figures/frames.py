"""What the figures of MLLM-IC have in common: names of models, and radar charts side by side."""

import textwrap
from collections.abc import Mapping, Sequence
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.textpath import TextPath

from benchc.benchmarks.mllm_ic.capabilities import Capability, label_of
from benchc.benchmarks.mllm_ic.corruption_tree import corruption_label
from benchc.benchmarks.mllm_ic.metrics.draws import Integers
from benchc.benchmarks.mllm_ic.run_outcomes import RunOutcomes, check_models
from benchc.rendering.chance import Standings
from benchc.rendering.labels import font_families
from benchc.rendering.noted_figure import NOTE_SIZE, noted_figure, sentence
from benchc.rendering.radar import MANY, SPOKE_SIZE, STEEP, radar
from benchc.rendering.style import FAINT, INK, NORMAL, TEXT_WIDTH, styled
from benchc.statistics.resampling import Floats

LEAST_SPOKES = 3
MANY_SPOKES = 10  # charts with more are two in a row: their names need room
LETTERS = {2: 17, 3: 13}  # of a line of a spoke's name, by the number of charts in a row
LEGEND_COLUMNS = 5
# Inches.
TITLE, LINE, SPOKE_LINE = 0.2, 0.14, 0.105
LABEL_GAP = 0.16  # from the rim to a label, with the ring between them
MOST_RADIUS = 0.95
# Of the outer ring, as the paper describes it; in grey print one is darker than the next.
RING_COLOURS = {
    "perception": "#7B4FA6",
    "reasoning": "#8FCB8F",
    "global": "#C0392B",
    "regional": "#F0973B",
    "pixel": "#F7E27A",
}
NO_RING = "#D0D0D0"


class Panel(NamedTuple):
    """A radar chart: float64[spokes, models] in [0, 1]; ``rings``: the key of each spoke's ring colour."""

    title: str
    spokes: Sequence[str]
    rings: Sequence[str]
    values: Floats


def marked_names(run: RunOutcomes, labels: Mapping[str, str], chance: Standings) -> tuple[list[str], str]:
    """Return the names of the models with their marks, and the note on the marks that there are."""
    check_models(run, labels)
    names = [*labels.values()]
    own = Standings(chance.frame.filter(pl.col("model").is_in(names)))
    return own.marked(pl.Series(names, dtype=pl.String)).to_list(), own.note.partition(" Models with")[
        0
    ].strip()


def sample(run: RunOutcomes, labels: Mapping[str, str], columns: Mapping[str, Integers]) -> Floats:
    """Return accuracies of the sample, float64[columns, models, capabilities]."""
    return np.swapaxes(run.draws([*labels], columns, 0, 0)[0], 0, 1)


def levels_together(categories: Mapping[str, str], levels: Mapping[str, str]) -> dict[str, str]:
    """Return the level of each category, those of a level together; ``other`` where the suite has none.

    Args:
        categories: the category of each corruption; their order decides.
        levels: the level of each category.
    """
    found = {category: levels[category] or "other" for category in categories.values()}
    order = list(dict.fromkeys(found.values()))
    return dict(sorted(found.items(), key=lambda each: order.index(each[1])))


def middle_severities(severities: Sequence[int]) -> list[int]:
    """Return the lowest, the middle and the highest severity: 1, 3 and 5 of all."""
    places = sorted({0, (len(severities) - 1) // 2, len(severities) - 1})
    return [severities[place] for place in places]


def by_mid(run: RunOutcomes, values: Floats, title: str) -> Panel:
    """Return the panel of the mid-level capabilities; ``values``: float64[models, capabilities]."""
    high = {each.mid: each.high for each in run.capabilities}
    found = run.by_mid(values)
    return Panel(
        title, [label_of(mid) for mid in found], [high[mid] for mid in found], np.stack([*found.values()])
    )


def by_capability(names: Sequence[Capability], values: Floats, title: str) -> Panel:
    """Return the panel of low-level capabilities; ``values``: float64[models, capabilities], of these."""
    return Panel(title, [label_of(each.name) for each in names], [each.high for each in names], values.T)


def by_corruption(run: RunOutcomes, levels: Mapping[str, str], values: Floats, title: str) -> Panel:
    """Return the panel of corruptions or categories; ``values``: float64[names, models, capabilities].

    ``levels``: the level of each.
    """
    return Panel(title, [corruption_label(name) for name in levels], [*levels.values()], run.average(values))


def radars(panels: Sequence[Panel], names: Sequence[str], note: str) -> Figure:
    """Plot panels side by side, in per cent on one scale, with the models ``names`` below.

    A panel of fewer than three spokes says so; without another there is only a sentence.
    """
    enough = [len(panel.spokes) >= LEAST_SPOKES for panel in panels]
    if not any(enough):
        return sentence("A radar chart needs at least three spokes; no chart of this figure has as many.")
    drawn = [panel for panel, enough_spokes in zip(panels, enough, strict=True) if enough_spokes]
    low, high, ticks = _scale(np.concatenate([panel.values.ravel() for panel in drawn]))
    in_a_row = 2 if max(len(panel.spokes) for panel in drawn) > MANY_SPOKES else 3
    columns = min(in_a_row, len(panels))
    rows = ceil(len(panels) / columns)
    spokes = [_wrapped(panel.spokes, LETTERS[in_a_row]) for panel in panels]
    with styled():
        room = _room([own for own, good in zip(spokes, enough, strict=True) if good], TEXT_WIDTH / columns)
        rings = dict.fromkeys(ring for panel in drawn for ring in panel.rings)
        # In the last row where it has a place, else below.
        spare = rows * columns > len(panels)
        legend = 0 if spare else 0.06 + LINE * ceil((len(names) + len(rings)) / LEGEND_COLUMNS)
        body = rows * (TITLE + room.above + room.below)
        figure = noted_figure(body + legend, note)
        figure.set_layout_engine("none")  # positions are explicit
        height = figure.get_figheight()
        figure.suptitle(figure.get_suptitle(), y=1 - 0.02 / height, fontsize=NOTE_SIZE, color=INK)
        for number, panel in enumerate(panels):
            row, column = divmod(number, columns)
            middle = (column + 0.5) / columns
            centre = legend + body * (rows - row) / rows - TITLE - room.above
            side = 2 * room.radius
            corner = (middle - room.radius / TEXT_WIDTH, (centre - room.radius) / height)
            axes = figure.add_axes((*corner, side / TEXT_WIDTH, side / height), projection="polar")
            if enough[number]:
                ring = [RING_COLOURS.get(each, NO_RING) for each in panel.rings]
                scale: dict[str, Any] = {"limits": (low, high), "ticks": ticks, "ring": ring}
                radar(axes, "", spokes[number], names, 100 * panel.values, **scale)
            else:
                axes.set_axis_off()
                text = f"needs at least three spokes;\nthis run has {len(panel.spokes)}"
                look: dict[str, Any] = {"transform": axes.transAxes, "ha": "center", "va": "center"}
                axes.text(0.5, 0.5, text, color=INK, **look)
            title = f"({'abcdefgh'[number]}) {panel.title}" if len(panels) > 1 else panel.title
            axes.set_title(title, y=1, pad=72 * (room.above - room.radius) + 3)
        handles, texts = figure.axes[enough.index(True)].get_legend_handles_labels()
        for ring_name in rings:
            colour = RING_COLOURS.get(ring_name, NO_RING)
            handles.append(Patch(facecolor=colour, edgecolor=FAINT, linewidth=0.4))
            texts.append(f"ring: {ring_name}")
        place: dict[str, Any] = {"loc": "lower center", "ncols": min(LEGEND_COLUMNS, len(texts))}
        if spare:
            centre = legend + body / rows / 2
            anchor = (1 - 0.5 / columns, centre / height)
            place = {"loc": "center", "bbox_to_anchor": anchor, "ncols": 1 + (len(texts) > 8)}
        figure.legend(handles, texts, prop={"family": font_families(), "size": NORMAL - 0.5}, **place)
    return figure


class _Room(NamedTuple):
    """Inches of a chart: its radius, and from its centre to the ends of the labels above and below."""

    radius: float
    above: float
    below: float


def _room(charts: Sequence[Sequence[str]], width: float) -> _Room:
    """Return the room of charts whose labels are inside ``width`` inches; ``charts``: spokes of each."""
    labels = [
        (np.sin(angle), np.cos(angle), spoke)
        for spokes in charts
        for angle, spoke in zip(2 * np.pi * np.arange(len(spokes)) / len(spokes), spokes, strict=True)
    ]
    radius = min(
        [MOST_RADIUS]
        + [
            (width / 2 - 0.04 - max(map(_width, spoke.split("\n")))) / abs(side) - LABEL_GAP
            for side, _, spoke in labels
            if abs(side) > 0.1
        ]
    )

    def reach(sign: int) -> float:
        return max(
            (radius + LABEL_GAP) * sign * up
            + SPOKE_LINE * (1 + spoke.count("\n")) * (1 if sign * up > STEEP else 0.5)
            for _, up, spoke in labels
        )

    far = LINE if any(len(spokes) > MANY and len(spokes) % 2 for spokes in charts) else 0
    return _Room(radius, reach(1), reach(-1) + far)


def _width(text: str) -> float:
    return float(TextPath((0, 0), text, size=SPOKE_SIZE).get_extents().width) / 72


def _scale(values: Floats) -> tuple[float, float, dict[float, str]]:
    """Return the per cent at the centre and at the rim, and circles between; the lowest is not the centre."""
    low = max(0, 10 * floor(10 * float(values.min()) - 0.2))
    high = min(100, max(low + 20, 10 * ceil(10 * float(values.max()))))
    step = 5 if high - low <= 20 else 10 if high - low <= 50 else 20
    # Not at the rim, where the ring is.
    return low, high, {tick: f"{tick}" for tick in range(high - step, low, -step)}


def _wrapped(spokes: Sequence[str], letters: int) -> list[str]:
    """Return names in lines of at most ``letters``; above a chart of few spokes there is room for more."""
    widths = [letters + 6 * (place == 0 and len(spokes) <= MANY_SPOKES) for place in range(len(spokes))]
    return [
        textwrap.fill(name, width, break_long_words=False, break_on_hyphens=False)
        for name, width in zip(spokes, widths, strict=True)
    ]
