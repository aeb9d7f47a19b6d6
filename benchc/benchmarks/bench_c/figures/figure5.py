"""Figure 5: one item, clean and corrupted: its images, and one target's probabilities of the options."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from matplotlib.figure import Figure

from benchc.benchmarks.bench_c.figures.cases import (
    cases_of_item,
    item_of_most_regimes,
    named_cases,
    with_probabilities,
)
from benchc.benchmarks.bench_c.figures.regimes import COLOURS, MEANINGS
from benchc.benchmarks.bench_c.inputs import Scores
from benchc.errors import InputError, recreate
from benchc.pixels import Pixels
from benchc.pluralize import pluralize
from benchc.rendering.image_grid import plot_images
from benchc.rendering.item_images import item_images
from benchc.rendering.labels import font_families, isolated, renderable
from benchc.rendering.numbers import signed
from benchc.rendering.option_bars import CLEAN_FILL, HANDLERS, legend_handles, option_bars
from benchc.rendering.shorten import shorten
from benchc.rendering.style import INK, NORMAL, SMALL, TEXT_WIDTH, new_figure, styled
from benchc.rendering.wrap import MathLine, line_height, option_text, wrap
from benchc.schemas.corrupted_images import images_of_items
from benchc.schemas.parquet import iterate_groups
from benchc.schemas.pool import POOL
from benchc.schemas.predictions_of_model import read_all_predictions

# Inches. Five panels fill the width of the text; fewer are no wider.
MARGIN = 0.04
LEFT = 0.4  # for the labels of the vertical axis
GAP = 0.12
MOST_PREDICTIONS = 4  # corrupted ones
IMAGE_HEIGHT, TITLE, BARS, TEXT = 1.0, 0.32, 0.8, 0.66
LINE = 0.115
MOST_LINES = 4  # of the question, and of the options

CLEAN_NUMBERS = "S {entropy:.3f}, C {calibration:.3f}"


def figure5(
    scores: Scores,
    predictions: list[Path],
    pool: Path,
    images: list[Path],
    label: str,
    item: str | None = None,
    corruptions: list[str] | None = None,
) -> Figure:
    """Plot one item, clean and corrupted, with its images and a target's probabilities.

    ``predictions``: all files of the target; ``images``: {corruption}.parquet of every corruption;
    ``item``: its id, by default :func:`item_of_most_regimes`; ``corruptions``: the predictions to show, such
    as snow:5, by default :func:`cases_of_item`.
    """
    if corruptions and len(set(corruptions)) != len(corruptions):
        raise InputError(f"figure 5: a corruption is named twice: {', '.join(corruptions)}; name each once")
    item = item or item_of_most_regimes(scores)
    chosen = (
        named_cases(scores, item, [_parsed(text) for text in corruptions])
        if corruptions
        else cases_of_item(scores, item)
    )
    row = _item(item, pool)
    cases = with_probabilities(
        chosen,
        read_all_predictions(predictions),
        pl.DataFrame([row]).select("id", "answer", "options"),
    )
    return plot(
        cases,
        label=label,
        question=row["question"],
        clean=item_images(row, pool),
        corrupted=_corrupted(cases, row["image_keys"], {path.stem: path for path in images}),
    )


def _parsed(text: str) -> tuple[str, int]:
    name, colon, severity = text.partition(":")
    if not (name and colon and severity.isdecimal()):
        raise InputError(
            f"figure 5: the corruption {text!r} is not of the form NAME:SEVERITY, such as snow:5"
        )
    return name, int(severity)


def _item(item: str, pool: Path) -> dict[str, Any]:
    for rows in iterate_groups(pool, POOL, "id", {item}):
        return rows.row(0, named=True)
    raise InputError(f"{pool}: it has no item {item!r}; name another one, or {recreate('pool')}")


def _corrupted(
    cases: pl.DataFrame, keys: Sequence[str], paths: Mapping[str, Path]
) -> dict[tuple[str, int], list[Pixels]]:
    images: dict[tuple[str, int], list[Pixels]] = {}
    for item, corruption, severity in cases.select("id", "corruption", "severity").rows():
        if corruption not in paths:
            raise InputError(
                f"figure 5: among the images there is no file {corruption}.parquet; give that of every "
                "corruption that is shown"
            )
        for _, variants in images_of_items(paths[corruption], {item: keys}, {severity}):
            images[corruption, severity] = variants[severity]
    return images


def plot(
    cases: pl.DataFrame,
    *,
    label: str,
    question: str,
    clean: Sequence[Pixels],
    corrupted: Mapping[tuple[str, int], Sequence[Pixels]],
) -> Figure:
    """Plot one target's predictions of one item: the clean one on the left, then every row of ``cases``.

    ``cases``: one to four rows of one item, with the columns of a SCORES table, probabilities and
    probabilities_clean (list[float], one an option, in [0, 1]), answer (0-based) and options (texts), as
    :func:`figures.cases.with_probabilities` gives them. ``clean``: the item's images; ``corrupted``: those of
    each (corruption, severity) of ``cases``; uint8[H, W, 3] each. Below the bars: entropy S and calibration
    error C of the clean prediction (eq. 6, 8); shifts (eq. 7, 9) and RAS (eq. 10) of the others. Raises
    InputError where there is no row, rows are of several items or more than four, or images are missing.
    Paper: figure 5.
    """
    if cases["id"].n_unique() != 1 or cases.height > MOST_PREDICTIONS:
        raise InputError(
            f"figure 5: {pluralize(cases.height, 'prediction')} of "
            f"{pluralize(cases['id'].n_unique(), 'item')} given; give one to {MOST_PREDICTIONS} predictions "
            "of one item"
        )
    rows = cases.rows(named=True)
    for row in rows:
        if (row["corruption"], row["severity"]) not in corrupted:
            raise InputError(
                f"figure 5: item {row['id']!r} has no images under {row['corruption']} at severity "
                f"{row['severity']}; delete the files of corrupted images and run snakemake again"
            )
    cells: list[dict[str, Any] | None] = [None, *rows]
    width = (TEXT_WIDTH - LEFT - MARGIN - MOST_PREDICTIONS * GAP) / (1 + MOST_PREDICTIONS)
    total = LEFT + len(cells) * (width + GAP) - GAP + MARGIN
    head = _head(rows[0], label, question, total - 2 * MARGIN)
    height = MARGIN + LINE * sum(line_height(line) for line, _ in head) + TITLE + IMAGE_HEIGHT + BARS + TEXT
    with styled():
        figure = new_figure(total, height)
        figure.set_layout_engine("none")  # positions are explicit
        top = height - MARGIN
        for line, weight in head:
            figure.text(
                MARGIN / total,
                top / height,
                line,
                va="top",
                fontsize=NORMAL - 0.5,
                fontweight=weight,
                family=font_families(),
                color=INK,
                parse_math=isinstance(line, MathLine),
            )
            top -= LINE * line_height(line)
        for panel, cell in enumerate(cells):
            left = LEFT + panel * (width + GAP)
            image_axes = figure.add_axes(
                (left / total, (TEXT + BARS) / height, width / total, IMAGE_HEIGHT / height)
            )
            images = clean if cell is None else corrupted[cell["corruption"], cell["severity"]]
            plot_images(image_axes, images, width=width, height=IMAGE_HEIGHT - 0.08)
            # A gap between images and bars.
            image_axes.set_ylim(-0.08, IMAGE_HEIGHT - 0.08)
            bars = figure.add_axes((left / total, TEXT / height, width / total, BARS / height))
            if cell is None:
                _clean_panel(image_axes, bars, rows[0])
            else:
                _panel(image_axes, bars, cell, "abcde"[panel])
            if panel:
                bars.set_yticklabels([])
            else:
                bars.set_ylabel("probability")
        figure.legend(
            handles=legend_handles(COLOURS.values()), handler_map=HANDLERS, loc="lower center", ncols=3
        )
    return figure


def _head(row: dict[str, Any], label: str, question: str, inches: float) -> list[tuple[str, str]]:
    """Return the lines above the panels and their weights."""
    name, id_, text = (renderable([part])[0] for part in (label, row["id"], question))
    lines = [(shorten(f"{isolated(name)}, item {id_}", 100), "bold")]
    for paragraph in (text, option_text(row["options"], row["answer"])):
        lines += [
            (line, "normal") for line in wrap(paragraph, inches=inches, points=NORMAL - 0.5, lines=MOST_LINES)
        ]
    return lines


def _clean_panel(image_axes: Any, bars: Any, row: dict[str, Any]) -> None:
    image_axes.set_title("(a) clean", pad=3)
    option_bars(bars, row["probabilities_clean"], None, answer=row["answer"], colour=CLEAN_FILL["facecolor"])
    numbers = CLEAN_NUMBERS.format(
        entropy=max(0.0, row["entropy"] - row["delta_entropy"]),
        calibration=max(0.0, row["calibration"] - row["delta_calibration"]),
    )
    bars.set_xlabel(
        f"{numbers}\n{'right' if row['correct_clean'] else 'wrong'}", fontsize=SMALL + 0.5, color=INK
    )


def _panel(image_axes: Any, bars: Any, row: dict[str, Any], letter: str) -> None:
    regime = row["regime"]
    image_axes.set_title(f"({letter}) {row['corruption'].replace('_', ' ')}, {row['severity']}", pad=11)
    image_axes.annotate(
        regime,
        (0.5, 1.0),
        xytext=(0, 3),
        xycoords="axes fraction",
        textcoords="offset points",
        ha="center",
        color=COLOURS[regime],
        fontweight="bold",
    )
    option_bars(
        bars,
        row["probabilities_clean"],
        row["probabilities"],
        answer=row["answer"],
        colour=COLOURS[regime],
        clean_height=False,  # as in panel (a)
    )
    lines = [
        f"ΔS {signed(row['delta_entropy'])}, ΔC {signed(row['delta_calibration'])}",
        f"RAS {signed(row['ras'])}",
        MEANINGS[row["transition"]],
    ]
    bars.set_xlabel("\n".join(lines), fontsize=SMALL + 0.5, color=INK)
