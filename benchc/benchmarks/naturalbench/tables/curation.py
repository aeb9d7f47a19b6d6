"""The steps of curation: how many samples, pairs, questions and groups each has."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from benchc.benchmarks.naturalbench.curation.groups import groups_of
from benchc.benchmarks.naturalbench.schemas.kept import KEPT
from benchc.benchmarks.naturalbench.schemas.pairs import PAIRS
from benchc.benchmarks.naturalbench.schemas.questions import QUESTIONS
from benchc.benchmarks.naturalbench.tables.names import TYPE_LABELS
from benchc.rendering.output import Table
from benchc.rendering.printing import Column, printed
from benchc.schemas.parquet import read_footer, read_table

CAPTION = (
    "Steps of curation. Share is that of the step named beside it. Mismatches are counted before the most of "
    "a sample are chosen. A group is a pair and a type of questions, both of which were kept."
)


class Step(NamedTuple):
    """A step, its number, and the step and number of which it is a share."""

    step: str
    number: int
    of: str | None = None
    whole: int | None = None


def curation(
    mismatches: Path, pairs: Path, kept_pairs: list[Path], questions: list[Path], kept: list[Path]
) -> Table:
    """Return the steps; ``kept_pairs``: no file where people do not review pairs; rounds are in order."""
    facts = read_footer(mismatches)
    chosen = read_table(pairs, PAIRS)
    reviewed = [read_table(path, PAIRS) for path in kept_pairs]
    rounds = [
        (read_table(asked, QUESTIONS), read_table(found, KEPT))
        for asked, found in zip(questions, kept, strict=True)
    ]
    steps = [
        Step("samples", int(str(facts["samples"]))),
        Step("mismatches", int(str(facts["mismatches"]))),
        *curation_steps(chosen, reviewed[0] if reviewed else None, rounds),
    ]
    frame = pl.DataFrame(
        steps, schema={"step": pl.String, "number": pl.Int64, "of": pl.String, "whole": pl.Int64}
    )
    frame = frame.with_columns(
        pl.when(pl.col("whole") > 0).then(pl.col("number") / pl.col("whole")).alias("share")
    )
    columns = [
        Column("step", "Step"),
        Column("of", "Share of"),
        Column("number", "Number"),
        Column("share", "Share"),
    ]
    shown = frame.with_columns(pl.col("of").fill_null(""))
    return printed(frame, columns, caption=CAPTION, label="curation", shown=shown)


def curation_steps(
    pairs: pl.DataFrame,
    kept_pairs: pl.DataFrame | None,
    rounds: list[tuple[pl.DataFrame, pl.DataFrame]],
) -> Iterator[Step]:
    """Yield the steps from pairs on; ``rounds``: questions (type QUESTIONS) and what people kept (KEPT)."""
    for method in pairs["method"].unique().sort():
        yield Step(f"pairs, {method}", pairs.filter(method=method).height, "pairs", pairs.height)
    used = pairs
    if kept_pairs is not None:
        yield Step("pairs, kept", kept_pairs.height, "pairs", pairs.height)
        used = kept_pairs
    for number, (questions, kept) in enumerate(rounds):
        asked = f"questions, round {number}"
        yield Step(asked, questions.height)
        yield Step(f"usable, round {number}", questions.filter("ok").height, asked, questions.height)
        yield Step(f"kept, round {number}", kept.filter("kept").height, asked, kept.height)
    groups = groups_of(used, rounds)
    for kind, label in TYPE_LABELS.items():
        if any(kind in questions["type"] for questions, _ in rounds):
            count = sum(group.type == kind for group in groups)
            yield Step(f"groups, {label}", count, "pairs used", used.height)
