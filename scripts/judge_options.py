"""Extract the option that each generated answer of a model chooses, by rules, without a judge model."""

import argparse
import sys
from pathlib import Path

import polars as pl

from benchc.errors import InputError
from benchc.judges.option_reply import option_of
from benchc.pluralize import pluralize
from benchc.progress import track
from benchc.schemas.answers import ANSWERS
from benchc.schemas.judgements import JUDGEMENTS
from benchc.schemas.parquet import read_footer, read_table, write_table
from benchc.schemas.pool import POOL
from benchc.schemas.predictions import check_predictions
from scripts.command import Parser, run


def main() -> None:
    arguments = parse_arguments()
    shared = check_predictions(arguments.answers, arguments.items)
    options = dict(read_table(arguments.items, POOL, ["id", "options"]).iter_rows())
    parts = [judged(path, options) for path in track(arguments.answers, label="answers", unit="files")]
    table = pl.concat(parts)
    label = str(read_footer(arguments.answers[0]).get("label", arguments.answers[0].parent.name))
    print(f"{label}: {counts(table)}", file=sys.stderr)
    footer = {**shared, "label": label, "answers": table.height}
    write_table(table, arguments.output, JUDGEMENTS, footer)


def judged(path: Path, options: dict[str, list[str]]) -> pl.DataFrame:
    """Return the answers of a file as rows of JUDGEMENTS; ``options``: those of each item."""
    rows = []
    for row in read_table(path, ANSWERS).iter_rows(named=True):
        if not options[row["id"]]:
            raise InputError(
                f"{path}: item {row['id']} is an open-ended question, whose answer chooses no option; remove "
                "it from the subset"
            )
        chosen = option_of(row["reply"], options[row["id"]])
        key = {name: row[name] for name in ("id", "corruption", "severity", "finish")}
        rows.append({**key, "option": chosen.option, "status": chosen.status})
    return pl.DataFrame(rows, schema=pl.Schema(JUDGEMENTS.columns))


def counts(table: pl.DataFrame) -> str:
    """Return the number of answers, and of those without an option by their status."""
    without = table.filter(pl.col("option").is_null())
    named = without["status"].value_counts().sort("count", "status", descending=[True, False])
    reasons = ", ".join(f"{count:,} {status}" for status, count in named.iter_rows())
    text = f"{pluralize(table.height, 'answer')}, {without.height:,} without an option"
    return f"{text} ({reasons})" if reasons else text


def parse_arguments() -> argparse.Namespace:
    parser = Parser(__spec__.name, __doc__)
    add = parser.add_argument
    add("--items", type=Path, required=True, help="pool/items.parquet")
    add("--answers", type=Path, nargs="+", required=True, help="answers/{subset}/{model}/{part}.parquet")
    add("--output", type=Path, required=True, help="judgements.parquet to write")
    return parser.parse_args()


if __name__ == "__main__":
    run(main)
