"""Table A.3: kinds of misprediction under corruption, with examples."""

import polars as pl

from benchc.benchmarks.vqa_robustness.grades import Grade, Graded
from benchc.benchmarks.vqa_robustness.inputs import PoolQuestions, References
from benchc.benchmarks.vqa_robustness.metrics.mispredictions import KINDS
from benchc.benchmarks.vqa_robustness.mispredictions import kind_shares, mispredictions, with_references
from benchc.benchmarks.vqa_robustness.tables.names import words
from benchc.command_line import PositiveInt
from benchc.pluralize import pluralize
from benchc.randomness import seed_of
from benchc.rendering.numbers import MISSING, interval_text, number_text
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.rendering.shorten import shorten

CAPTION = (
    "Kinds of misprediction: answers that are right on the clean image and wrong under a corruption. "
    "Share: of the {mispredictions} of {models}, with a 95 % percentile interval from {resamples} of the "
    "images. Examples are the first, in the order of a hash, with different questions."
)
EXAMPLE = ("question", "truth", "reply", "model", "corruption")
MOST_LETTERS = 45  # of a printed text


def table_a3(
    graded: Graded,
    pool: PoolQuestions,
    references: References,
    labels: dict[str, str],
    corruptions: list[str],
    grade: Grade,
    draws: PositiveInt,
    seed: int,
    examples: PositiveInt = 3,
) -> Table:
    """Return up to ``examples`` mispredictions of each kind; a kind without one has a row without example."""
    questions = with_references(pool, references)
    found = mispredictions(graded, questions, labels, corruptions, grade)
    shares = kind_shares(found, pool, [[*labels]], draws, seed)
    rows = []
    for place, kind in enumerate(KINDS):
        of_kind = found.filter(kind=kind)
        facts = {"kind": kind, "n": of_kind.height, "share": shares.value[place]}
        facts |= {"share_low": shares.low[place], "share_high": shares.high[place]}
        chosen = chosen_examples(of_kind, examples).iter_rows(named=True)
        rows += [
            facts | row | {"model": labels[row["model"]], "level": row["severity"]} for row in chosen
        ] or [facts]
    schema = {"kind": pl.String, "n": pl.Int64}
    schema |= dict.fromkeys(("share", "share_low", "share_high"), pl.Float64)
    schema |= dict.fromkeys(("id", *EXAMPLE), pl.String) | {"level": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema).with_columns(pl.selectors.float().fill_nan(None))
    return printed(
        frame,
        [
            Column("kind", "Kind"),
            Column("share", "Share"),
            Column("question", "Question"),
            Column("truth", "Reference"),
            Column("reply", "Answer"),
            Column("model", "Model"),
            Column("corruption", "Corruption, level"),
        ],
        caption=CAPTION.format(
            mispredictions=pluralize(found.height, "such answer"),
            models=pluralize(len(labels), "model"),
            resamples=pluralize(draws, "resample"),
        ),
        label="vre-a3",
        shown=_shown(frame),
        small=True,
        summary=pluralize(found.height, "misprediction"),
    )


def chosen_examples(found: pl.DataFrame, number: int) -> pl.DataFrame:
    """Return up to ``number`` mispredictions, of different questions, in the order of a hash.

    Items are in the order of a hash of their ids; of those with one question text, the first counts. Of an
    item's mispredictions, the first by a hash of model, corruption and level is taken.
    """
    hashes = {id_: seed_of("table_a3", id_) for id_ in found["id"].unique()}
    items = found.unique("id").select("id", "question").sort(pl.col("id").replace_strict(hashes, default=0))
    rows = []
    for id_ in items.unique("question", keep="first", maintain_order=True)["id"].head(number):
        of_item = found.filter(id=id_).rows(named=True)
        rows.append(min(of_item, key=lambda row: seed_of(row["model"], row["corruption"], row["severity"])))
    return pl.DataFrame(rows, schema=found.schema)


def _shown(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the texts to print; those of a kind are in its first row."""
    rows = []
    for row, first in zip(frame.iter_rows(named=True), frame["kind"].is_first_distinct(), strict=True):
        share, interval = row["share"], interval_text(row["share_low"], row["share_high"], digits=2)
        texts = {name: MISSING if row[name] is None else shorten(row[name], MOST_LETTERS) for name in EXAMPLE}
        if row["corruption"] is not None:
            texts["corruption"] = f"{words(row['corruption'])}, {row['level']}"
        texts["kind"] = row["kind"].capitalize() if first else ""
        texts["share"] = f"{number_text(share, signed=False, digits=2)} {interval}" if first else ""
        rows.append(texts)
    return pl.DataFrame(rows)
