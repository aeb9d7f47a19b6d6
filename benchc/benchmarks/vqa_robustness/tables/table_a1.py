"""Table A.1: errors, a row for each model and level, a column for each corruption."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from benchc.benchmarks.vqa_robustness.inputs import ErrorTable
from benchc.benchmarks.vqa_robustness.metrics.severity import LEVELS, Floats
from benchc.benchmarks.vqa_robustness.published.tables import published_table_a1
from benchc.benchmarks.vqa_robustness.schemas.errors import KEYS, Errors
from benchc.benchmarks.vqa_robustness.tables.names import words
from benchc.pluralize import pluralize
from benchc.rendering.latex import latex_symbols, latex_table, latex_text
from benchc.rendering.markdown import captioned
from benchc.rendering.numbers import number_text
from benchc.rendering.output import Table
from benchc.rendering.published import compare_with_published
from benchc.statistics.rounding import DIGITS

CAPTION = (
    "Errors by model, level and corruption; level 0 is clean. Of each model and level from 1 to 5, the "
    "lowest error is in bold and the highest in {highest}."
)


def table_a1(errors: ErrorTable) -> Table:
    """Return the errors with the lowest and highest of each row marked, and the paper's beside them."""
    frame = pl.DataFrame(
        [
            (model, corruption, level, float(errors.values[m, c, level]))
            for m, model in enumerate(errors.models)
            for level in range(LEVELS)
            for c, corruption in enumerate(errors.corruptions)
        ],
        schema={"model": pl.String, "corruption": pl.String, "level": pl.Int64, "error": pl.Float64},
        orient="row",
    )
    header = ["Model", "Level", *map(words, errors.corruptions)]
    latex = latex_table(
        [latex_text(name) for name in header],
        [
            [latex_text(model), level, *cells]
            for model, level, *cells in _rows(errors, r"$\mathbf{%s}$", r"$\mathit{%s}$", "$%s$")
        ],
        caption=latex_symbols(CAPTION.format(highest="italics")),
        label="vre-a1",
        text_columns=2,
        small=True,
    )
    return Table(
        frame,
        captioned(header, _rows(errors, "**%s**", "*%s*", "%s"), CAPTION.format(highest="italics"), 2),
        latex,
        compare_with_published(frame, published_table_a1(), on=KEYS, values={"error": "error"}),
        f"errors of {pluralize(len(errors.models), 'model')} under "
        f"{pluralize(len(errors.corruptions), 'corruption')}",
    )


def _rows(errors: Errors, lowest: str, highest: str, other: str) -> Sequence[Sequence[str]]:
    rows = []
    for model, values in zip(errors.models, errors.values, strict=True):
        for level, row in enumerate(values.T):
            forms = _forms(row, lowest, highest, other) if level else [other] * len(row)
            cells = [form % number_text(value, signed=False) for form, value in zip(forms, row, strict=True)]
            rows.append([model, str(level), *cells])
    return rows


def _forms(row: Floats, lowest: str, highest: str, other: str) -> list[str]:
    """Return the form of each value of a row; none is marked where all are equal."""
    shown = np.round(row, DIGITS)
    low, high = shown.min(), shown.max()
    if low == high:
        return [other] * len(row)
    return [lowest if value == low else highest if value == high else other for value in shown]
