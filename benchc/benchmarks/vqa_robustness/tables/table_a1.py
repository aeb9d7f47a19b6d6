"""Table A.1: errors, a row for each model and level, a column for each corruption."""

import polars as pl

from benchc.benchmarks.vqa_robustness.inputs import ErrorTable
from benchc.benchmarks.vqa_robustness.metrics.severity import LEVELS, Floats
from benchc.benchmarks.vqa_robustness.published.tables import published_table_a1
from benchc.benchmarks.vqa_robustness.schemas.errors import KEYS
from benchc.benchmarks.vqa_robustness.tables.names import words
from benchc.pluralize import pluralize
from benchc.rendering.chance import ORDER, ChanceTable
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.rendering.published import compare_with_published
from benchc.statistics.rounding import tied

CAPTION = (
    "Errors by model, level and corruption; level 0 is clean.{marks} The first row is the best answer that "
    "is always the same." + ORDER
)
MARKS = (
    " Of each model and level from 1 to 5, the lowest error is in bold and the highest in italics, unless "
    "all are equal."
)


def table_a1(errors: ErrorTable, chance: ChanceTable) -> Table:
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
    names = [f"{number}" for number in range(len(errors.corruptions))]
    constant = chance.references("model", "accuracy").row(-1, named=True)
    first = {"model": constant["model"], "level": "all"} | dict.fromkeys(names, 1 - constant["accuracy"])
    models = chance.marked(pl.Series(errors.models))
    return printed(
        frame,
        [
            Column("model", "Model"),
            Column("level", "Level"),
            *(
                Column(name, words(corruption), styled=True)
                for name, corruption in zip(names, errors.corruptions, strict=True)
            ),
        ],
        caption=CAPTION.format(marks=MARKS if len(errors.corruptions) > 1 else "") + chance.note,
        label="vre-a1",
        shown=pl.DataFrame(
            [
                first,
                *(
                    {"model": model, "level": f"{level}", **dict(zip(names, row.tolist(), strict=True))}
                    | dict(zip((f"{name}_style" for name in names), _styles(row, level), strict=True))
                    for model, values in zip(models, errors.values, strict=True)
                    for level, row in enumerate(values.T)
                ),
            ],
            schema_overrides={f"{name}_style": pl.String for name in names},
            infer_schema_length=None,
        ),
        small=True,
        published=compare_with_published(frame, published_table_a1(), on=KEYS, values={"error": "error"}),
        summary=f"errors of {pluralize(len(errors.models), 'model')} under "
        f"{pluralize(len(errors.corruptions), 'corruption')}",
    )


def _styles(row: Floats, level: int) -> list[str | None]:
    """Return the style of each error of a row: none on clean images, or where all are equal."""
    shown = tied(row)
    low, high = shown.min(), shown.max()
    if not level or low == high:
        return [None] * len(row)
    return ["bold" if value == low else "italic" if value == high else None for value in shown]
