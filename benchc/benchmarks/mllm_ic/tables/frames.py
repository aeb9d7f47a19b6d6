"""Accuracies of models as printed tables, and what their captions say."""

from collections.abc import Mapping

import numpy as np
import polars as pl

from benchc.benchmarks.mllm_ic.capabilities import PUBLISHED_CAPABILITIES, capabilities
from benchc.benchmarks.mllm_ic.run_outcomes import RunOutcomes, few_pictures
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, Standings
from benchc.rendering.estimates import best_two, frame_of, is_marked
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.statistics.resampling import Floats

AVG = "Avg"
PUBLISHED_MIDS = len({each.mid for each in capabilities()})
RULE_LABELS = {
    "overall": "Overall",
    "capabilities": "Low-level",
    "micro": "Micro",
    "circular": "Circular",
}
MARKS = " The best value of a column is in bold, the second in italics."
FURTHER = (
    " Averages that do not compare with it: Low-level, the mean over all low-level capabilities; Micro, over "
    "questions{circular}."
)
CIRCULAR = "; Circular, overall where a question counts as right if all its circular copies are"
MEAN = " Avg is the mean of all models."


def per_cent(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame for printing, whose numbers in [0, 1], which are all its floats, are in per cent."""
    return frame.with_columns(pl.col(pl.Float64) * 100)


def has_copies(run: RunOutcomes) -> bool:
    """Return whether a question of the run has circular copies."""
    return run.items["circular_group"].n_unique() < run.items.height


def averages_note(run: RunOutcomes) -> str:
    """Return sentences on the averages, after a space, that captions of overall accuracies have."""
    mids, names = len({each.mid for each in run.capabilities}), len(run.capabilities)
    counts = [
        f"{number}" if number == whole else f"{number} of the paper's {whole}"
        for number, whole in ((mids, PUBLISHED_MIDS), (names, PUBLISHED_CAPABILITIES))
    ]
    return (
        f" Overall is the mean over mid-level capabilities ({counts[0]}), each the mean over its low-level "
        f"ones ({counts[1]})."
    )


def further_averages(run: RunOutcomes) -> str:
    """Return a sentence on the other averages, after a space."""
    return FURTHER.format(circular=CIRCULAR if has_copies(run) else "")


def scope(run: RunOutcomes) -> str:
    """Return what accuracies under corruption are means over."""
    corruptions = pluralize(len(run.corruptions), "corruption")
    return f"{corruptions} at {pluralize(len(run.severities), 'severity level')}"


def resampled(run: RunOutcomes, draws: int) -> str:
    """Return a sentence on the intervals, after a space."""
    return (
        f" In brackets: 95 % percentile intervals from {of_pictures(run, draws)}, the same for all models."
        f"{few_pictures(run)}"
    )


def of_pictures(run: RunOutcomes, draws: int) -> str:
    """Return what intervals are from."""
    pictures = pluralize(run.items["picture"].n_unique(), "picture")
    return f"{pluralize(draws, 'resample')} of the {pictures}, capability by capability"


def short(header: str) -> str:
    """Return the first word of a header, for LaTeX, where whole ones would be wider than a page."""
    return header.split()[0]


def printed_accuracies(
    values: Mapping[str, Floats],
    headers: Mapping[str, str],
    labels: Mapping[str, str],
    chance: Standings,
    *,
    caption: str,
    notes: str,
    label: str,
    published: pl.DataFrame | None = None,
    constant: tuple[str, ...] = ("overall",),
) -> Table:
    """Return a table of accuracies, a row for each model, after chance; then their mean.

    Args:
        values: of each column float64[1 + draws, models], in [0, 1].
        headers: of the columns, of which overall has its interval printed.
        labels: of the models by id.
        chance: which models are above it.
        caption: what the table shows.
        notes: sentences, after a space, that follow those on rows and marks.
        label: that of LaTeX.
        published: see :func:`benchc.benchmarks.mllm_ic.published.tables.beside_published`.
        constant: columns of which the rows of chance have a value.
    """
    frame = with_mean(values, labels)
    references = chance.references("model", constant[0])
    references = references.with_columns(pl.col(constant[0]).alias(name) for name in constant[1:])
    competes = frame["model"].is_in(chance.ranked)
    styles = {f"{name}_style": best_two(frame[name], competes) for name in values}
    shown = frame.with_columns(
        chance.marked(frame["model"]),
        *(pl.Series(name, style, dtype=pl.String) for name, style in styles.items()),
    )
    marks, mean = MARKS if is_marked(shown) else "", MEAN if len(labels) > 1 else ""
    best = frame["model"][frame["overall"][: len(labels)].arg_max() or 0]
    return printed(
        frame,
        [
            Column("model", "Model"),
            *(
                Column(name, header, short(header), digits=1, styled=True, interval=name == "overall")
                for name, header in headers.items()
                if name in values
            ),
        ],
        caption=f"{caption}{marks}{chance.rows_note}{mean}{notes}{ORDER}{chance.note}",
        label=label,
        shown=per_cent(pl.concat([references, shown], how="diagonal")),
        references=references.height,
        small=True,
        published=published,
        summary=f"{pluralize(len(labels), 'model')}; highest overall: {best}",
    )


def with_mean(values: Mapping[str, Floats], labels: Mapping[str, str]) -> pl.DataFrame:
    """Return the estimates of each model, and of several models their mean as the last row."""
    drawn, rows = np.stack([*values.values()], axis=-1), [*labels.values()]
    if len(rows) > 1:
        drawn = np.concatenate([drawn, drawn.mean(axis=1, keepdims=True)], axis=1)
        rows.append(AVG)
    return frame_of(rows, [*values], drawn)
