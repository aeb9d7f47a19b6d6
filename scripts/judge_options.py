"""Extract the option that each generated answer of a model chooses, by rules, without a judge model."""

import sys
from pathlib import Path

import polars as pl

from benchc.judges.option_choices import option_choices
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.schemas.answers import JudgedFooter
from benchc.schemas.judgements import JUDGEMENTS
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import check_predictions
from benchc.schemas.predictions_of_model import check_answers


def judge_options(*, pool: Path, answers: list[Path], output: Path) -> None:
    """Extract the option that each generated answer of a model chooses, by rules, without a judge model.

    Args:
        pool: pool/items.parquet
        answers: answers/{subset}/{model}/{part}.parquet of one model
        output: judgements.parquet to write
    """
    shared = check_predictions(answers, pool)
    check_answers(answers)
    options = dict(read_table(pool, POOL, ["id", "options"]).iter_rows())
    files = track(answers, label="answers", unit="files")
    table = pl.concat([option_choices(path, options) for path in files])
    label = str(read_footer(answers[0]).get("label", answers[0].parent.name))
    print(f"{label}: {_counts(table)}", file=sys.stderr)
    footer = JudgedFooter(label=label, answers=table.height, **shared)
    write_table(table, output, JUDGEMENTS, footer)


def _counts(table: pl.DataFrame) -> str:
    """Return the number of answers, and of those without an option by their status."""
    without = table.filter(pl.col("option").is_null())
    named = without["status"].value_counts().sort("count", "status", descending=[True, False])
    reasons = ", ".join(f"{count:,} {status}" for status, count in named.iter_rows())
    text = f"{pluralize(table.height, 'answer')}, {without.height:,} without an option"
    return f"{text} ({reasons})" if reasons else text
